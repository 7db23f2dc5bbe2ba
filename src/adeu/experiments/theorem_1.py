"""Theorem 1 on random games: once the best action at s_i is found, is s_i explored less and s_{i+1} more?

Each seed draws a game of the theorem's class and trains on it. After every episode the agent's values give the
probability of exploring each state of the path. In sparse games this is measured for hyper-states instead of states.
"""

from __future__ import annotations

import dataclasses
import functools
import pathlib
from collections.abc import Callable, Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

import adeu
from adeu import theory
from adeu.envs import Mdp
from adeu.experiments.lib import plots
from adeu.experiments.lib.experiment import EPISODES_TO_SOLVE, SOLVED, Experiment, Metric, read
from adeu.runs.load import read_metrics
from adeu.runs.statistics import Curves, ratio
from adeu.runs.trainers.trainer import Arrays, Piece
from adeu.tabular import Job, Learners, QLearning, Training

Floats = NDArray[np.float64]
EPISODES = 300
CLAIM = "traces/claim.csv"
PLACES = {"explored_at": "at the frontier", "explored_behind": "behind it, on average"}


@dataclasses.dataclass(frozen=True)
class GameSetting:
    """Tabular Q-learning on a random increasing-reward game, drawn from the seed.

    Args:
        agent: the agent.
        states: the number of states of the game, all of them on its path.
        actions: the number of actions of the game.
        hole: the probability that a wrong action ends the episode.
        cost: the reward of a wrong action lies between -cost and -cost/2, unless it is a lure.
        lure: the probability that a wrong action pays a little more than 0.
        episodes: the number of training episodes.
        size: the number of states of a hyper-state; above 1 the game is sparse, and lures do not apply.
        knows: prior knowledge of f: "best-actions" makes f the distance from the best actions, "hyper-states"
            evaluates f on hyper-states, "" gives none.
    """

    agent: QLearning
    states: int = 30
    actions: int = 4
    hole: float = 1.0
    cost: float = 10.0
    lure: float = 0.0
    episodes: int = EPISODES
    size: int = 1
    knows: Literal["", "best-actions", "hyper-states"] = ""

    def trainer(self, seed: int) -> GameTrainer:
        game = self._game(seed)
        agent = dataclasses.replace(self.agent, explorer=self._informed(game))
        job = agent.job(
            adeu.tabular.from_mdp(game),
            episodes=self.episodes,
            max_steps=3 * self.states,
            seed=seed,
            evaluate_every=1,
        )
        path = Path(game) if self.size == 1 else theory.hyper_path(game)
        return GameTrainer(job, game, path, None if agent.learners else Chances(agent.explorer))

    def _game(self, seed: int) -> Mdp:
        hole, cost = self.hole, self.cost
        if self.size == 1:
            return theory.random_game(self.states, self.actions, seed, hole=hole, cost=cost, lure=self.lure)
        corridors = self.states // self.size
        return theory.random_sparse_game(corridors, self.size, self.actions, seed, hole=hole, cost=cost)

    def _informed(self, game: Mdp) -> adeu.Explorer:
        explorer = self.agent.explorer
        if self.knows == "best-actions":
            return dataclasses.replace(explorer, f=adeu.BestActionGap(game.reward.argmax(axis=1).tolist()))
        if self.knows == "hyper-states":
            groups = theory.find_hyper_states(game).tolist()
            return dataclasses.replace(explorer, f=adeu.HyperStates(explorer.f, groups))
        return explorer


@dataclasses.dataclass(frozen=True)
class Chances:
    """Action probabilities from values and visits.

    Args:
        explorer: `Counts`, `ShiftedSigmoid` and `Categorical`, or any f of this experiment with `Bernoulli`.
    """

    explorer: adeu.Explorer

    def __call__(self, q: Floats, visits: NDArray[np.int64]) -> Floats:
        f, g, D = self.explorer.f, self.explorer.g, self.explorer.D
        if isinstance(D, adeu.Categorical):
            assert isinstance(f, adeu.Counts)
            assert isinstance(g, adeu.ShiftedSigmoid)
            return theory.policy(q, visits, beta=f.beta, shift=g.shift, temperature=D.temperature)
        favourite: NDArray[np.bool_] = q == q.max(axis=-1, keepdims=True)
        greedy = favourite / np.count_nonzero(favourite, axis=-1, keepdims=True)
        epsilon = self._epsilon(greedy, visits)[..., None]
        return np.asarray((1 - epsilon) * greedy + epsilon / q.shape[-1])

    def _epsilon(self, greedy: Floats, visits: NDArray[np.int64]) -> Floats:
        f, g = self.explorer.f, self.explorer.g
        if isinstance(f, adeu.Constant):
            return np.full(visits.shape, f.c)
        if isinstance(f, adeu.BestActionGap):
            return np.asarray(1 - greedy[..., np.arange(f.num_states), f.actions])
        if isinstance(f, adeu.HyperStates):
            together = np.equal.outer(f.groups, f.groups).astype(np.int64)
            f, visits = f.f, visits @ together
        assert isinstance(f, adeu.Counts)
        assert isinstance(g, adeu.ShiftedSigmoid)
        return np.asarray(0.5 - 0.5 * np.tanh((f.beta * np.sqrt(visits + 1) - g.shift) / 2))


@dataclasses.dataclass(frozen=True)
class Path:
    """The counterpart of `theory.HyperPath` for games that are not sparse: it measures single states."""

    game: Mdp

    @property
    def length(self) -> int:
        return len(self.game.reward)

    def exploration(self, p: Floats) -> Floats:
        return theory.exploration(p, self.game)[0]

    def frontier(self, q: Floats) -> NDArray[np.int64]:
        return np.asarray(theory.frontier(q, self.game))

    def claim(self, q: Floats, p: Floats) -> theory.Claim:
        return theory.claim(q, p, self.game)


@dataclasses.dataclass
class GameTrainer:
    """Trains one episode at a time and stores the values after each, to test the claim at the end.

    Args:
        job: the training job.
        game: the game to train on.
        path: the states, or hyper-states, whose exploration is measured.
        chances: the agent's action probabilities; if None, exploration is not measured.
    """

    job: Job
    game: Mdp
    path: Path | theory.HyperPath
    chances: Chances | None
    unit = "episodes"

    @functools.cached_property
    def _training(self) -> Training:
        return Training(self.job)

    @functools.cached_property
    def _history(self) -> dict[str, NDArray[Any]]:
        size = (self.total + 1, *self.game.reward.shape)
        return {"history.q": np.zeros(size), "history.visits": np.zeros(size[:-1], np.int64)}

    @property
    def total(self) -> int:
        return self.job.settings.episodes

    @property
    def most_steps(self) -> int:
        return self.total * self.job.settings.max_steps

    @property
    def done(self) -> int:
        return self._training.episode

    @property
    def steps(self) -> int:
        return self._training.steps

    def advance(self) -> Piece:
        self._training.advance(1)
        result, history = self._training.result(), self._history
        q, visits = history["history.q"], history["history.visits"]
        q[self.done], visits[self.done] = result.q, result.visits
        reached = int(self.path.frontier(result.q))
        row = {
            "step": self.steps,
            "episode": self.done,
            "return": float(result.returns[-1]),
            "solved": int(reached == self.path.length),
            "frontier": reached,
        }
        if self.chances is None:
            return Piece([row])
        explores = self.path.exploration(self.chances(result.q, result.visits))
        row["explored_behind"] = float(np.mean(explores[:reached])) if reached else 0.0
        row["explored_at"] = float(explores[min(reached, len(explores) - 1)])
        if self.done < self.total:
            return Piece([row])
        return Piece([row], {"claim": self._claim(self.chances(q, visits))})

    def _claim(self, likely: NDArray[np.float64]) -> Mapping[str, NDArray[Any]]:
        claim = self.path.claim(self._history["history.q"], likely)
        focused = np.append(claim.focused, True)  # the last state has no successor
        return {"found": claim.found, "reduced": claim.reduced, "focused": focused}

    def arrays(self) -> Arrays:
        return self._training.arrays() | self._history

    def restore(self, arrays: Arrays) -> None:
        for name, array in self._history.items():
            array[...] = arrays[name]
        self._training.restore({name: array for name, array in arrays.items() if name not in self._history})


def read_claim(folder: pathlib.Path) -> dict[str, NDArray[Any]]:
    """Return a run's metrics, the number of states whose best action was found, and in how many the claim held."""
    if not (folder / CLAIM).exists():
        return read(folder)
    claim = read_metrics(folder / CLAIM, folder)
    found = claim["found"] >= 0
    counts = {"found": found, "reduced": claim["reduced"][found], "focused": claim["focused"][found]}
    return read(folder) | {name: np.atleast_1d(np.count_nonzero(flags)) for name, flags in counts.items()}


def draw(curves: Mapping[str, Curves], folder: pathlib.Path) -> list[pathlib.Path]:
    """Draw the frontier over episodes, and how much the agent explores behind and at the frontier."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 4), layout="constrained")
    left, right = plots.side_by_side(figure)
    plain = {case: curve for case, curve in curves.items() if " " not in case}
    styles = plots.style(plain)
    for case, curve in plain.items():
        plots.plot_mean(left, curve["episode"][0, :], curve["frontier"], *styles[case], case)
    case, curve = next(iter(curves.items()))
    for (place, label), color in zip(PLACES.items(), plots.COLORS, strict=False):
        if place in curve:
            plots.plot_mean(right, curve["episode"][0, :], curve[place], color, "-", label)
    left.set_title("how far the best actions are known, from the start", loc="left", fontsize=10)
    right.set_title(f"{case}: the probability to explore a state of the path", loc="left", fontsize=10)
    for axes in (left, right):
        axes.set(xlabel="episodes", xlim=(0, None), ylim=(0, None))
        if axes.get_legend_handles_labels()[0]:
            axes.legend()
    return plots.save(figure, folder / "frontier")


def _claimed(name: str) -> Callable[[Curves], NDArray[np.float64]]:
    """Return a function that counts, for each game, the states where the claim held and where it was tested."""

    def of(curves: Curves) -> NDArray[np.float64]:
        if name not in curves:
            return np.zeros((len(curves["seed"]), 2))
        return np.concatenate([curves[name], curves["found"]], axis=1)

    return of


def epsilon_greedy(epsilon: float, learners: Learners | None = None) -> GameSetting:
    explorer = adeu.Explorer(adeu.Constant(epsilon), adeu.Identity(), adeu.Bernoulli())
    return GameSetting(QLearning(explorer, learners=learners))


ADEU = adeu.Explorer(adeu.Counts(), adeu.ShiftedSigmoid(2.0), adeu.Categorical())
COIN = dataclasses.replace(ADEU, D=adeu.Bernoulli())

METHODS = {
    "adeu": GameSetting(QLearning(ADEU)),
    "best-action": dataclasses.replace(epsilon_greedy(0.0), knows="best-actions"),
    "eps-greedy-0.01": epsilon_greedy(0.01),
    "eps-greedy-0.1": epsilon_greedy(0.1),
    "greedy": epsilon_greedy(0.0),
    "ucb": epsilon_greedy(0.0, Learners(ucb=10.0)),
}

SPARSE: dict[str, Any] = {"size": 3, "episodes": 1_000}
SPARSE_METHODS = {
    "adeu-coin": GameSetting(QLearning(COIN)),
    "hyper-states": GameSetting(QLearning(COIN), knows="hyper-states"),
    "eps-greedy-0.01": epsilon_greedy(0.01),
    "eps-greedy-0.1": epsilon_greedy(0.1),
    "greedy": epsilon_greedy(0.0),
}

EXPERIMENT = Experiment(
    name="theorem-1",
    title="Theorem 1 on random increasing-reward games: does the frontier move on?",
    takes="some minutes",
    lesson=(
        "Each seed is a game of 30 states. The theorem says: once a state's best action is found, that state is "
        "explored less in the end, and meanwhile the next one more. The shares are those of states where this held. "
        "If a wrong action does not always end the episode (loops), going back to collect rewards again beats the "
        "path; if a wrong action pays a little (lures), an agent that stops exploring too early keeps it. With f = "
        "the distance from the known best action (best-action), a state is not explored once that action is "
        "preferred. In sparse games, 10 hyper-states of 3 states each, f counts visits of states (adeu-coin) or of "
        "hyper-states (hyper-states)."
    ),
    cases={
        **METHODS,
        **{f"{name} loops": dataclasses.replace(case, hole=0.5) for name, case in METHODS.items()},
        **{f"{name} lures": dataclasses.replace(case, lure=0.5) for name, case in METHODS.items()},
        **{f"{name} sparse": dataclasses.replace(case, **SPARSE) for name, case in SPARSE_METHODS.items()},
    },
    metrics=(
        EPISODES_TO_SOLVE,
        SOLVED,
        Metric("frontier", "states known at the end", lambda curves: curves["frontier"][:, -1], ".1f"),
        Metric("reduced", "explored less once found", _claimed("reduced"), ".1%", ratio, paired=False),
        Metric("focused", "the next state more", _claimed("focused"), ".1%", ratio, paired=False),
    ),
    draw=draw,
    seeds=range(100),
    read=read_claim,
)
