"""A first look: where does an agent explore, and when does it stop?

    python examples/tiny_lake.py

A frozen lake with one safe path from S to G. Whatever the Q-learner knows, it replays; at the end of what it
knows, it explores. The screen shows the frontier move; the same picture is saved in runs/tiny-lake.png.
"""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import jax
import matplotlib
import numpy as np
from gymnasium.spaces import Discrete
from rich.columns import Columns
from rich.console import Console
from rich.panel import Panel
from rich.progress import track
from rich.text import Text

import adeu

SIZE, EPISODES, SNAPSHOTS = 12, 200, (5, 20, 200)
MOVES = "^>v<"
PATH = [
    0,
    *(1 + SIZE * row for row in range(SIZE - 1)),
    *range(SIZE * (SIZE - 2) + 2, SIZE * (SIZE - 1)),
    SIZE**2 - 1,
]
PICTURE = Path("runs/tiny-lake.png")

Step = tuple[int, int, float]
"""What the policy says, the action taken, and the spread."""


def lake(state: int, action: int) -> tuple[int, float, bool]:
    """The next state, the reward and whether the episode ended."""
    row, column = state // SIZE + (-1, 0, 1, 0)[action], state % SIZE + (0, 1, 0, -1)[action]
    target = SIZE * row + column
    if not (0 <= row < SIZE and 0 <= column < SIZE):
        return state, -10.0, False
    if target not in PATH:
        return target, -10.0, True
    if PATH.index(target) < PATH.index(state):
        return target, -10.0, False
    return target, 100.0 if target == PATH[-1] else target / 78, target == PATH[-1]


def main() -> None:
    console = Console()
    explorer = adeu.Explorer(f=adeu.Counts(SIZE**2, beta=0.9), g=adeu.ShiftedSigmoid(shift=2.0), D=adeu.Categorical())
    spaces = SimpleNamespace(observation_space=Discrete(SIZE**2), action_space=Discrete(len(MOVES)))
    behavior = adeu.Behavior(explorer, spaces, seed=0)
    q = np.zeros((SIZE**2, len(MOVES)))
    episodes: list[list[Step]] = []
    maps, solved = [], None

    console.print(f"[bold]{explorer}[/]")
    for episode in track(range(1, EPISODES + 1), description="learning", console=console):
        state, ended, steps = 0, False, list[Step]()
        while not ended and len(steps) < 3 * SIZE:
            decision = behavior.act(state, center=q[state])
            action = int(decision.action)
            next_state, reward, ended = lake(state, action)
            steps.append((int(q[state].argmax()), action, float(decision.spread)))
            q[state, action] = reward + 0.99 * (not ended) * q[next_state].max()
            behavior.observe(adeu.Transition(state, action, reward, next_state, ended, False))
            state = next_state
        if state == PATH[-1] and solved is None:
            solved = episode
        episodes.append(steps)
        if episode in SNAPSHOTS:
            maps.append(spreads(behavior))

    show(console, episodes, maps, solved)
    draw(episodes[SNAPSHOTS[1] - 1], maps)
    console.print(f"The picture: [bold]{PICTURE}[/]")


def spreads(behavior: adeu.Behavior) -> np.ndarray:
    """g(f(s)) in every state."""
    f, g = behavior.explorer.f, behavior.explorer.g
    return np.array([g(f.measure(jax.random.key(0), behavior.state, (), state)[0]) for state in range(SIZE**2)])


def show(console: Console, episodes: list[list[Step]], maps: list[np.ndarray], solved: int | None) -> None:
    panels = []
    for episode, heat_map in zip(SNAPSHOTS, maps, strict=True):
        text = Text()
        for state in range(SIZE**2):
            heat = int(255 * heat_map[state])
            letter = {0: "S", PATH[-1]: "G"}.get(state, "·" if state in PATH else " ")
            shade = f"rgb({heat},{heat // 3},{255 - heat})" if state in PATH else "rgb(20,20,30)"
            text.append(f"{letter} ", style=f"bold white on {shade}")
            text.append("\n" if state % SIZE == SIZE - 1 and state < SIZE**2 - 1 else "")
        panels.append(Panel(text, title=f"episode {episode}", padding=0))
    console.print(Columns(panels, padding=0))
    console.print("Blue: the agent is sure and replays its policy. Red: it is not, and explores. Dark: holes.\n")
    steps = episodes[SNAPSHOTS[1] - 1]
    console.print(f"[bold]Episode {SNAPSHOTS[1]}, step by step[/] (policy, action taken, spread)")
    for step, (policy, action, spread) in enumerate(steps):
        mark = " " if policy == action else "*"
        console.print(f"{step:4d}  {MOVES[policy]} {MOVES[action]}{mark}  {'█' * round(40 * spread)} {spread:.2f}")
    console.print(f"\nReached the goal for the first time in episode [bold]{solved}[/].")


def draw(steps: list[Step], maps: list[np.ndarray]) -> None:
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplot_mosaic([["0", "1", "2"], ["strip"] * 3], figsize=(10, 6), height_ratios=[3, 2])
    off_path = ~np.isin(np.arange(SIZE**2), PATH)
    for place, (episode, spread) in enumerate(zip(SNAPSHOTS, maps, strict=True)):
        axis = axes[str(place)]
        shown = np.ma.array(spread, mask=off_path).reshape(SIZE, SIZE)
        axis.set_facecolor("#15151c")
        image = axis.imshow(shown, cmap="coolwarm", vmin=0, vmax=1)
        axis.set(title=f"after {episode} episodes", xticks=[], yticks=[])
        for state, letter in ((0, "S"), (PATH[-1], "G")):
            axis.text(state % SIZE, state // SIZE, letter, ha="center", va="center", weight="bold")
    figure.colorbar(image, ax=[axes["0"], axes["1"], axes["2"]], label="spread  g(f(s))", shrink=0.9)
    policy, action, spread = (np.array(column) for column in zip(*steps, strict=True))
    strip = axes["strip"]
    strip.bar(np.arange(len(spread)), spread, color=plt.get_cmap("coolwarm")(spread))
    for step in np.flatnonzero(policy != action):
        strip.annotate("explored", (step, spread[step]), ha="center", va="bottom", size=8)
    strip.set(
        title=f"one episode (number {SNAPSHOTS[1]}): it replays what it knows, then explores",
        xlabel="step",
        ylabel="spread  g(f(s))",
        ylim=(0, 1.1),
    )
    PICTURE.parent.mkdir(exist_ok=True)
    figure.savefig(PICTURE, dpi=120, bbox_inches="tight")


if __name__ == "__main__":
    main()
