"""DQN over tables: replay, a target table, ensembles; at native speed."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from adeu.core import check
from adeu.core.explorer import Explorer
from adeu.mechanisms.constant import check_chance
from adeu.tabular.job import Job
from adeu.tabular.learn import make_job
from adeu.tabular.model import Model
from adeu.tabular.replayed import Clock, Replayed, Store


class Replay(NamedTuple):
    """How a DQN over tables learns.

    Args:
        alpha: how far each transition of a minibatch moves its entry towards its target, in (0, 1].
        capacity: how many transitions are kept.
        batch: how many an update takes, one after the other.
        update_every: environment steps per update.
        target_every: environment steps per copy into the target table.
        start: the standard deviation of the tables' first values.
        tables: how many, each with a target table of its own.
        acting: with several tables, the preferences: "mean", "sampled" (bootstrapped DQN: of one table, drawn anew
            after each episode that terminates) or "ucb" (mean + ucb * standard deviation).
        ucb: lambda.
        mask_probability: how likely each table learns from a transition, in (0, 1].

    Reference: Mnih et al., 2015; Osband et al., 2016; Chen et al., 2017.
    """

    alpha: float = 0.5
    capacity: int = 100_000
    batch: int = 32
    update_every: int = 1
    target_every: int = 100
    start: float = 0.01
    tables: int = 1
    acting: str = "mean"
    ucb: float = 0.0
    mask_probability: float = 1.0


def make_dqn_job(
    model: Model,
    explorer: Explorer,
    replay: Replay,
    *,
    episodes: int,
    max_steps: int,
    seed: int,
    gamma: float = 0.99,
    evaluate_every: int = 100,
    q: ArrayLike = 0.0,
) -> Job:
    """A job for `run` or `Training`, as `make_job` makes one for Q-learning.

        Q(s, a) <- Q(s, a) + alpha * (r + gamma * max_a' Q_target(s', a') - Q(s, a))  for each of a minibatch

    After it, `training.work.learner.clock` holds the highest reward so far and the step that first paid it.

    Args:
        model: what `from_mdp`, `from_gymnasium`, `from_arrays` or `from_table` made.
        explorer: f, g, D and perhaps a guard, all of them with a tabular form.
        replay: how it learns.
        episodes: how many to train, >= 1.
        max_steps: after so many steps an episode is truncated.
        seed: of all random numbers.
        gamma: the discount, in [0, 1].
        evaluate_every: after so many episodes there is a greedy one, by the mean of all tables.
        q: what the tables start around, a number or one per (s, a).

    Examples:
        >>> import adeu
        >>> from adeu import tabular
        >>> from adeu.envs import Sea, deep_sea_mdp
        >>> model = tabular.from_mdp(deep_sea_mdp(Sea(size=10)))
        >>> explorer = adeu.Explorer(adeu.Constant(1 / 11), adeu.Identity(), adeu.Options(2.0, carried=True))
        >>> job = tabular.make_dqn_job(model, explorer, tabular.Replay(), episodes=500, max_steps=10, seed=0)
        >>> round(float(tabular.run(job).returns[-1]), 2)
        0.99

    Paper: the results in the DeepSea domain.
    """
    check_chance(explorer)
    me = "Replay"
    alpha = check.as_number(me, "alpha", replay.alpha, above=0, at_most=1)
    batch = check.as_whole(me, "batch", replay.batch)
    capacity = check.as_whole(me, "capacity", replay.capacity, at_least=batch)
    update_every = check.as_whole(me, "update_every", replay.update_every)
    target_every = check.as_whole(me, "target_every", replay.target_every)
    start = check.as_number(me, "start", replay.start, at_least=0)
    tables = check.as_whole(me, "tables", replay.tables)
    ucb = check.as_number(me, "ucb", replay.ucb, at_least=0)
    mask_probability = check.as_number(me, "mask_probability", replay.mask_probability, above=0, at_most=1)
    if replay.acting not in ("mean", "sampled", "ucb"):
        check.refuse(me, "acting", "'mean' or 'sampled' or 'ucb'", replay.acting)
    if model.num_actions > 256:
        check.refuse("make_dqn_job", "model", "at most 256 actions", model.num_actions)

    job = make_job(
        model,
        explorer,
        episodes=episodes,
        max_steps=max_steps,
        seed=seed,
        gamma=gamma,
        evaluate_every=evaluate_every,
        q=q,
    )
    rng = np.random.default_rng(seed)
    first = job.learner.q + start * rng.standard_normal((model.num_states, tables, model.num_actions))
    states, next_states = np.zeros((2, capacity), np.uint32)
    store = Store(
        states,
        np.zeros(capacity, np.uint8),
        np.zeros(capacity),
        next_states,
        np.zeros(capacity, bool),
        np.zeros((capacity, tables), bool),
    )
    clock = Clock(np.zeros(1, np.int64), rng.integers(tables, size=1), np.full(1, -np.inf), np.zeros(1, np.int64))
    learner = Replayed(
        first,
        first.copy(),
        store,
        clock,
        alpha,
        batch,
        update_every,
        target_every,
        mask_probability,
        replay.acting == "sampled",
        ucb if replay.acting == "ucb" else 0.0,
    )
    return job._replace(learner=learner)
