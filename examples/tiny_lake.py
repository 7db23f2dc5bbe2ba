"""Show in which states a Q-learner explores, and when it stops.

    python examples/tiny_lake.py

The environment is a frozen lake with one safe path from S to G. The Q-learner follows its policy in known states and
explores at the frontier, which moves along the path. Prints the spread in every state; writes runs/tiny-lake.png.
"""

from __future__ import annotations

import warnings
from pathlib import Path

import matplotlib
import numpy as np
from rich.columns import Columns
from rich.console import Console
from rich.panel import Panel
from rich.progress import track
from rich.text import Text

import adeu
from adeu.envs.lake import path_cells

SIZE, EPISODES, SNAPSHOTS = 12, 200, (5, 20, 200)
MOVES = "^>v<"
PICTURE = Path("runs/tiny-lake.png")

Step = tuple[int, str, str, float]
"""A cell, the policy's action ("?" for a tie), the action taken, and the spread."""


def main() -> None:
    warnings.filterwarnings("ignore", ".*hardly any spread")  # expected once the whole path is known
    console = Console()
    env = adeu.envs.FrozenLake(size=SIZE, goal=100.0)
    path = path_cells(env.lake)
    explorer = adeu.Explorer(f=adeu.Counts(SIZE**2), g=adeu.ShiftedSigmoid(shift=2.0), D=adeu.Categorical())
    behavior = adeu.Behavior(explorer, env, seed=0)
    q = np.zeros((SIZE**2, len(MOVES)))
    unsolved: list[list[Step]] = []
    maps, solved = [], None

    console.print(f"[bold]{explorer}[/]")
    for episode in track(range(1, EPISODES + 1), description="learning", console=console):
        steps = play(env, behavior, q)
        if solved is None and steps[-1][0] == path[-2] and q[path[-2]].max() == 100.0:
            solved = episode
        if solved is None:
            unsolved.append(steps)
        if episode in SNAPSHOTS:
            maps.append(spreads(behavior, q, path))

    # Show the longest episode before the goal was found in which every step went forward.
    clear = max((steps for steps in unsolved if len({step[0] for step in steps}) == len(steps)), key=len)
    show(console, clear, maps, path)
    console.print(f"\nReached the goal for the first time in episode [bold]{solved}[/].")
    draw(clear, maps, path)
    console.print(f"Wrote [bold]{PICTURE}[/].")


def play(env: adeu.envs.FrozenLake, behavior: adeu.Behavior, q: np.ndarray) -> list[Step]:
    """Train for one episode of Q-learning with step size 1."""
    (cell, _), ended, steps = env.reset(), False, list[Step]()
    while not ended:
        decision = behavior.act(cell, center=q[cell])
        action = int(decision.action)
        best = np.flatnonzero(q[cell] == q[cell].max())
        steps.append((cell, MOVES[best[0]] if len(best) == 1 else "?", MOVES[action], float(decision.spread)))
        next_cell, reward, terminated, truncated, info = env.step(action)
        q[cell, action] = reward + 0.99 * (not terminated) * q[next_cell].max()
        behavior.observe(adeu.Transition(cell, action, reward, next_cell, terminated, truncated), info)
        cell, ended = next_cell, terminated or truncated
    return steps


def spreads(behavior: adeu.Behavior, q: np.ndarray, path: np.ndarray) -> np.ndarray:
    """Return g(f(s)) along the path and NaN elsewhere, including the goal, in which no action is taken."""
    heat = np.full(SIZE**2, np.nan)
    with behavior.evaluation():
        for cell in path[:-1]:
            uncertainty = behavior.act(int(cell), center=q[cell]).uncertainty
            heat[cell] = behavior.explorer.g(uncertainty)
    return heat


def show(console: Console, steps: list[Step], maps: list[np.ndarray], path: np.ndarray) -> None:
    panels = []
    for episode, heat in zip(SNAPSHOTS, maps, strict=True):
        text = Text()
        for cell in range(SIZE**2):
            letter = {0: "S", path[-1]: "G"}.get(cell, "·" if cell in path else " ")
            red = 0 if np.isnan(heat[cell]) else int(255 * heat[cell])
            shade = "rgb(20,20,30)" if np.isnan(heat[cell]) else f"rgb({red},{red // 3},{255 - red})"
            text.append(f"{letter} ", style=f"bold white on {shade}")
            text.append("\n" if cell % SIZE == SIZE - 1 and cell < SIZE**2 - 1 else "")
        panels.append(Panel(text, title=f"episode {episode}", padding=0))
    console.print(Columns(panels, padding=0))
    console.print("Blue: low spread, the agent follows its policy. Red: high spread, it explores. Dark: holes.\n")
    console.print("[bold]One episode, step by step[/] (policy, action taken, spread)")
    for number, (_, policy, action, spread) in enumerate(steps):
        console.print(f"{number:4d}  {policy} {action}  {'█' * round(40 * spread)} {spread:.2f}")


def draw(steps: list[Step], maps: list[np.ndarray], path: np.ndarray) -> None:
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplot_mosaic([["0", "1", "2"], ["strip"] * 3], figsize=(10, 6), height_ratios=[3, 2])
    colours = plt.get_cmap("coolwarm")
    for place, (episode, heat) in enumerate(zip(SNAPSHOTS, maps, strict=True)):
        axis = axes[str(place)]
        axis.set_facecolor("#15151c")
        image = axis.imshow(np.ma.masked_invalid(heat).reshape(SIZE, SIZE), cmap=colours, vmin=0, vmax=1)
        axis.set(title=f"after {episode} episodes", xticks=[], yticks=[])
        for cell, letter in ((0, "S"), (path[-1], "G")):
            axis.text(cell % SIZE, cell // SIZE, letter, ha="center", va="center", weight="bold", color="white")
    figure.colorbar(image, ax=[axes[name] for name in "012"], label="spread  g(f(s))", shrink=0.9)
    strip, spread = axes["strip"], np.array([step[3] for step in steps])
    strip.bar(np.arange(len(spread)), spread, color=colours(spread))
    for number, (_, policy, action, value) in enumerate(steps):
        strip.annotate(f"{policy}{action}", (number, value + 0.02), ha="center", family="monospace", size=8)
    strip.set(
        title="one episode: the agent follows its policy, then explores",
        xlabel="step (above each bar: the policy's action, ? for a tie, and the action taken)",
        ylabel="spread  g(f(s))",
        ylim=(0, 1),
    )
    PICTURE.parent.mkdir(exist_ok=True)
    figure.savefig(PICTURE, dpi=120, bbox_inches="tight")


if __name__ == "__main__":
    main()
