"""Background knowledge, right and wrong: episodes until an agent that starts from a demonstrated path succeeds."""

from __future__ import annotations

import dataclasses
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

import adeu
from adeu.core.contract import Mechanism
from adeu.envs import Lake, Mdp, lake_mdp
from adeu.experiments.lib import plots
from adeu.experiments.lib.experiment import MEAN, SOLVED, Experiment, Metric, time_to_solve
from adeu.runs.statistics import known_mean
from adeu.runs.trainers.tabular_trainer import TabularTrainer
from adeu.tabular import QLearning

Knowledge = Literal["none", "right", "hole", "away"]


@dataclasses.dataclass(frozen=True)
class BackgroundSetting:
    """Tabular Q-learning on a frozen lake with a side branch, starting with the values of a demonstrated path.

    Half-way along the lake's path starts a branch of `branch` cells, which pays nothing until its end; there the
    episode ends with `prize`. The demonstration values its path as if it ended at the goal, wherever it ends:
    Q(s_i, a_i) = gamma^(steps to its end) * goal, and `visits` visits of each s_i.

    Args:
        agent: the agent.
        knowledge: the demonstrated path: "none", "right", into a "hole" half-way, or "away" along the branch.
        lake: the environment.
        branch: the number of cells of the branch.
        prize: the reward at the end of the branch.
        visits: the initial visit count of each state of the demonstrated path.
        episodes: the number of training episodes.
        evaluate_every: training episodes between two greedy ones.
    """

    agent: QLearning
    knowledge: Knowledge = "none"
    lake: Lake = Lake(size=100)  # noqa: RUF009
    branch: int = 10
    prize: float = 1.0
    visits: int = 100
    episodes: int = 20_000
    evaluate_every: int = 10

    def trainer(self, seed: int) -> TabularTrainer:
        mdp, ways = with_branch(lake_mdp(self.lake), self.branch, self.prize)
        _, goal = self.lake.rewards
        q, visits = np.zeros(mdp.reward.shape), np.zeros(len(mdp.reward), np.int64)
        if self.knowledge != "none":
            states, actions = ways[self.knowledge]
            q[states, actions] = goal * self.agent.gamma ** np.arange(len(states))[::-1]
            visits[states] = self.visits
        job = self.agent.job(
            adeu.tabular.from_mdp(mdp),
            episodes=self.episodes,
            max_steps=self.lake.max_steps,
            seed=seed,
            evaluate_every=self.evaluate_every,
            q=q,
            visits=visits,
        )
        return TabularTrainer(job, goal)


class Way(NamedTuple):
    """A demonstrated path: its states and actions."""

    states: NDArray[np.int64]
    actions: NDArray[np.int64]


def with_branch(mdp: Mdp, branch: int, prize: float) -> tuple[Mdp, dict[str, Way]]:
    """Return a lake with a side branch in place of a hole beside the path's middle, and the demonstrated paths."""
    steps = np.arange(len(mdp.reward))
    forward = mdp.reward.argmax(axis=1)
    middle = len(steps) // 2 - 2  # before the corner of the L, where both sides are holes
    hole, turn = np.flatnonzero(mdp.terminal[middle])

    cells = len(steps) + np.arange(branch)
    next_state = np.concatenate([mdp.next_state, np.repeat(cells[:, None], 4, axis=1)])
    reward = np.concatenate([mdp.reward, np.full((branch, 4), mdp.reward.min())])
    terminal = np.concatenate([mdp.terminal, np.ones((branch, 4), bool)])
    next_state[middle, turn], reward[middle, turn], terminal[middle, turn] = cells[0], 0.0, False
    back = (turn + 2) % 4
    next_state[cells, back], terminal[cells, back] = [middle, *cells[:-1]], False
    next_state[cells[:-1], turn], reward[cells, turn], terminal[cells[:-1], turn] = cells[1:], 0.0, False
    reward[cells[-1], turn] = prize
    arrays = next_state.astype(np.int32), reward, terminal, np.zeros(reward.shape), 0, np.arange(len(reward))

    before = forward[:middle]
    return Mdp(*arrays), {
        "right": Way(steps, forward),
        "hole": Way(steps[: middle + 1], np.append(before, hole)),
        "away": Way(np.append(steps[: middle + 1], cells), np.append(before, np.full(branch + 1, turn))),
    }


def explorer(rho: float | Mechanism) -> adeu.Explorer:
    f = adeu.Rollouts(adeu.Counts(), rho, C)
    return adeu.Explorer(f, adeu.ShiftedSigmoid(2.0), adeu.Bernoulli())


C = 0.15
"""A rollout explores with probability sigmoid(2 - 1/0.15) = 0.009 per step: about once on the way to the middle."""
RHO: dict[str, float | Mechanism] = {
    "rho=0": 0.0,
    "constant": 0.3,
    "schedule": adeu.Schedule(1.0, 0.0, steps=1_000_000),
    "bandit": adeu.ReturnBandit((0.0, 0.1, 0.3, 1.0)),
}
KNOWLEDGE: tuple[Knowledge, ...] = ("right", "hole", "away")

EXPERIMENT = Experiment(
    name="background",
    title="background knowledge, right and wrong, on a lake with a side branch",
    takes="a minute",
    lesson=(
        "The agents start with the values of a demonstrated path to the goal: the right one, one into a hole "
        "half-way, and one along the branch. They start with 100 visits of its states and differ in the share of "
        "rollout episodes: none, 30%, decreasing from all to none, or chosen by a bandit over returns."
    ),
    cases={
        "none": BackgroundSetting(QLearning(explorer(0.0))),
        **{
            f"{knowledge} {name}": BackgroundSetting(QLearning(explorer(rho)), knowledge)
            for knowledge in KNOWLEDGE
            for name, rho in RHO.items()
        },
    },
    metrics=(
        time_to_solve("recovered", "episodes to recover"),
        SOLVED,
        MEAN,
        Metric("explored", "steps explored", lambda curves: known_mean(curves["explored"], 1), ".2%", better=""),
    ),
    draw=plots.first_solved,
    seeds=range(100, 110),
)
