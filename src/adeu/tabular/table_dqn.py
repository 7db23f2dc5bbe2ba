"""DQN over tables: replay, a target table, ensembles; at native speed."""

from __future__ import annotations

import dataclasses
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from adeu.core import check
from adeu.core.explorer import Explorer
from adeu.mechanisms.constant import check_chance
from adeu.tabular.replay_form import Clock, ReplayedForm, ReplayTable
from adeu.tabular.table_agent import TableAgent


@dataclasses.dataclass(frozen=True)
class TableDqn(TableAgent):
    """DQN over tables.

        Q(s, a) <- Q(s, a) + alpha * (r + gamma * max_a' Q_target(s', a') - Q(s, a))  for each of a minibatch

    `Training(job).arguments.learner.clock` holds the highest reward so far and the step that first reached it.

    Args:
        explorer: f, g, D and optionally a guard, all with a tabular form.
        gamma: the discount, in [0, 1].
        alpha: the step size of each transition of a minibatch, in (0, 1].
        capacity: the maximal number of transitions in the replay buffer.
        batch: the number of transitions per update, applied one after the other.
        update_every: environment steps per update.
        target_every: environment steps per copy into the target table.
        start: the standard deviation of the tables' initial values.
        tables: the number of tables, each with a target table.
        center: the preferences with several tables: "mean", "sampled" (bootstrapped DQN: those of one table, sampled
            again after each episode) or "ucb" (mean + ucb * standard deviation).
        ucb: the factor of the standard deviation for "ucb".
        mask_probability: the probability that a table learns from a transition, in (0, 1].

    Examples:
        >>> import adeu
        >>> from adeu import tabular
        >>> from adeu.envs import Sea, deep_sea_mdp
        >>> model = tabular.from_mdp(deep_sea_mdp(Sea(size=10)))
        >>> explorer = adeu.Explorer(adeu.Constant(1 / 11), adeu.Identity(), adeu.Options(2.0, carried=True))
        >>> result = tabular.TableDqn(explorer).train(model, episodes=500, max_steps=10, seed=0)
        >>> round(float(result.returns[-1]), 2)
        0.99

    Reference: Mnih et al., 2015; Osband et al., 2016; Chen et al., 2017.
    Paper: the results in the DeepSea domain.
    """

    explorer: Explorer
    gamma: float = 0.99
    alpha: float = 0.5
    capacity: int = 100_000
    batch: int = 32
    update_every: int = 1
    target_every: int = 100
    start: float = 0.01
    tables: int = 1
    center: Literal["mean", "sampled", "ucb"] = "mean"
    ucb: float = 0.0
    mask_probability: float = 1.0

    def __post_init__(self) -> None:
        check.instance(self, "explorer", Explorer)
        check_chance(self.explorer)
        check.number(self, "gamma", at_least=0, at_most=1)
        check.number(self, "alpha", above=0, at_most=1)
        for argument in ("batch", "update_every", "target_every", "tables"):
            check.whole(self, argument)
        check.whole(self, "capacity", at_least=self.batch)
        check.number(self, "start", at_least=0)
        check.one_of(self, "center", ("mean", "sampled", "ucb"))
        check.number(self, "ucb", at_least=0)
        check.number(self, "mask_probability", above=0, at_most=1)

    def lower_learner(self, q: NDArray[np.float64], seed: int) -> ReplayedForm:
        num_states, num_actions = q.shape
        if num_actions > 256:
            check.refuse(self, "model", "at most 256 actions", num_actions)
        rng = np.random.default_rng(seed)
        first = q[:, None] + self.start * rng.standard_normal((num_states, self.tables, num_actions))
        states, next_states = np.zeros((2, self.capacity), np.uint32)
        store = ReplayTable(
            states,
            np.zeros(self.capacity, np.uint8),
            np.zeros(self.capacity),
            next_states,
            np.zeros(self.capacity, bool),
            np.zeros((self.capacity, self.tables), bool),
        )
        acting = rng.integers(self.tables, size=1)
        return ReplayedForm(
            first,
            first.copy(),
            store,
            Clock(np.zeros(1, np.int64), acting, np.full(1, -np.inf), np.zeros(1, np.int64)),
            self.alpha,
            self.batch,
            self.update_every,
            self.target_every,
            self.mask_probability,
            self.center == "sampled",
            self.ucb if self.center == "ucb" else 0.0,
        )
