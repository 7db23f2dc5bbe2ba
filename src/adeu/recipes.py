"""Ready-made explorers: a default for each environment, and methods from the literature."""

from __future__ import annotations

from typing import Any, Literal

from adeu.core import check
from adeu.core.contract import Distribution, Mechanism
from adeu.core.explorer import Explorer
from adeu.distributions import Bernoulli, LearnedLengths, Options, Sticky
from adeu.guards import Returning
from adeu.mechanisms.cells import Cells
from adeu.mechanisms.combine import Sum
from adeu.mechanisms.constant import Constant
from adeu.mechanisms.first_return import FirstReturn
from adeu.mechanisms.hash_counts import HashCounts
from adeu.mechanisms.td_error import TdError
from adeu.mechanisms.triggers import Every, Homeostasis, Triggered
from adeu.mechanisms.value_promise import ValuePromise
from adeu.normalizers import Identity

BOX = Explorer(Constant(1.0), Identity(), Options(2.0))
DISCRETE = Explorer(Constant(0.3), Identity(), Options(2.0, carried=True))

UNIFORM, HASHED = Bernoulli(), HashCounts()


def blind_chance(p: float, D: Distribution = UNIFORM, **period: Any) -> Explorer:
    """Return an explorer with exploration periods that begin with probability p in each step (Pislar et al., 2022).

    Args:
        p: the probability, in [0, 1].
        D: the distribution of actions; for continuous actions, for example `Gaussian()`.
        period: `duration`, `random`, `per`, `start` and `c` of `Triggered`.

    Examples:
        >>> import adeu
        >>> adeu.recipes.blind_chance(0.01, duration=10).f.trigger
        Constant(c=0.01)
    """
    return Explorer(
        Triggered(Constant(check.as_number("blind_chance", "p", p, at_least=0, at_most=1)), **period), Identity(), D
    )


def blind_every(n: int, D: Distribution = UNIFORM, **period: Any) -> Explorer:
    """Return an explorer with an exploration period in every n-th step (Pislar et al., 2022).

    Args:
        n: the number of steps (with per="episode", of episodes) from the start of a period to that of the next.
        D: the distribution of actions; for continuous actions, for example `Gaussian()`.
        period: `duration`, `random`, `per`, `start` and `c` of `Triggered`.

    Examples:
        >>> import adeu
        >>> adeu.recipes.blind_every(1_000, duration=100).f.trigger
        Every(n=1000)
    """
    return Explorer(Triggered(Every(n), **period), Identity(), D)


def default(env: Any) -> Explorer:
    """Return the default explorer for Box or Discrete actions, which `adeu run explore-tuning` selected.

    Each explorer's final performance on a task was divided by the best of all explorers on that task. The default is
    the explorer with the largest minimum over the tasks, among those that ran on every task.

    Args:
        env: anything with an `action_space`: a Gymnasium environment, a vector of them, a Stable-Baselines3 model.

    Examples:
        >>> import adeu, gymnasium
        >>> adeu.recipes.default(gymnasium.make("Pendulum-v1")).D
        Options(mu=2.0, carried=False, options=None, weights=None)
    """
    return BOX if kind_of(env) == "Box" else DISCRETE


def go_explore(
    num_states: int | None = None,
    *,
    bins: int | tuple[int, ...] | None = None,
    longest: int = 1000,
    by: Literal["replay", "agent"] = "replay",
    mean: float = 20.0,
) -> Explorer:
    """Return an explorer that goes to a cell of an archive, then repeats random actions (Ecoffet et al., 2021).

    Args:
        num_states: the number of cells. By default `Behavior` takes it from the space.
        bins: the number of cells along each dimension, for observations in a bounded Box; see `Cells`.
        longest: the largest number of actions that the archive stores for a path.
        by: how it goes to a cell: "replay" repeats the stored actions, for deterministic environments; "agent"
            follows the `goal_preferences` that the agent passes.
        mean: the mean number of steps for which an action is repeated.

    Examples:
        >>> import adeu
        >>> adeu.recipes.go_explore().D
        Sticky(mean=20.0)
        >>> adeu.recipes.go_explore(bins=10).f.bins
        10
    """
    f: Mechanism = FirstReturn(num_states, longest, by)
    if bins is not None:
        if num_states is not None:
            check.refuse("go_explore", "num_states", "None where bins make the cells", num_states)
        f = Cells(f, bins)
    return Explorer(f, Identity(), Sticky(mean), Returning(by))


def tempo_rl(epsilon: float = 0.1, longest: int = 7, gamma: float = 0.99) -> Explorer:
    """Return an explorer that repeats each action for a learned time (TempoRL; Biedenkapp et al., 2021).

    Args:
        epsilon: the probability of a uniform action, and of a uniform number of repetitions.
        longest: the largest number of repetitions.
        gamma: the agent's discount.

    Examples:
        >>> import adeu
        >>> adeu.recipes.tempo_rl(longest=20).D.longest
        20
    """
    return Explorer(Constant(epsilon), Identity(), LearnedLengths(longest, gamma))


def ute(epsilon: float = 0.1, lam: float = -0.5, longest: int = 7, gamma: float = 0.99, heads: int = 10) -> Explorer:
    """Return an explorer that repeats actions for a learned time, depending on uncertainty (UTE; Lee et al., 2024).

    Args:
        epsilon: the probability of a uniform action.
        lam: lambda, the weight of the uncertainty; if it is below 0, uncertainty shortens the repetition.
        longest: the largest number of repetitions.
        gamma: the agent's discount.
        heads: the number of estimates of a length's value.

    Examples:
        >>> import adeu
        >>> adeu.recipes.ute(lam=2.0).D.heads
        10
    """
    D = LearnedLengths(longest, gamma, heads, lam, mask_probability=0.5, start=1.0)
    return Explorer(Constant(epsilon), Identity(), D)


def value_promise(rate: float, k: int = 5, gamma: float = 0.99, D: Distribution = UNIFORM, **period: Any) -> Explorer:
    """Return an explorer with periods that begin where value predictions were wrong (Pislar et al., 2022).

    Args:
        rate: the mean probability per step that a period begins, in (0, 1].
        k: the number of steps over which a value is compared with the rewards.
        gamma: the agent's discount.
        D: the distribution of actions; for continuous actions, for example `Gaussian()`.
        period: `duration`, `random`, `start` and `c` of `Triggered`.

    Examples:
        >>> import adeu
        >>> sorted(adeu.recipes.value_promise(0.01, duration=10).needs("act"))
        ['q_values', 'reward']
    """
    return Explorer(Triggered(Homeostasis(ValuePromise(k, gamma), rate), **period), Identity(), D)


def vdbe(num_actions: int, num_states: int | None = None, sigma: float = 1.0) -> Explorer:
    """Return an explorer whose probability to explore falls as values change less (VDBE; Tokic, 2010).

    Args:
        num_actions: the number of actions; the newest change has a weight of 1 / num_actions.
        num_states: the number of states, for a probability per state. The default is one probability for all states.
        sigma: the scale of the changes, > 0.

    Examples:
        >>> import adeu
        >>> adeu.recipes.vdbe(num_actions=4, num_states=16).f
        TdError(num_states=16, sigma=1.0, rate=0.25, signal='value_change')
    """
    rate = 1 / check.as_whole("vdbe", "num_actions", num_actions)
    return Explorer(TdError(num_states, sigma, rate, "value_change"), Identity(), UNIFORM)


def vdsc(
    rate: float,
    k: int = 5,
    gamma: float = 0.99,
    counts: Mechanism = HASHED,
    D: Distribution = UNIFORM,
    **period: Any,
) -> Explorer:
    """Return an explorer with periods that begin where values were wrong or states are new (Captari et al., 2024).

    Each of the two signals has half of the rate.

    Args:
        rate: the mean probability per step that a period begins, in (0, 1].
        k: the number of steps over which a value is compared with the rewards.
        gamma: the agent's discount.
        counts: the novelty of a state: `HashCounts()`, or `Counts()` for discrete states.
        D: the distribution of actions; for continuous actions, for example `Gaussian()`.
        period: `duration`, `random`, `start` and `c` of `Triggered`.

    Examples:
        >>> import adeu
        >>> adeu.recipes.vdsc(0.02).f.trigger.terms[1]
        Homeostasis(signal=HashCounts(bits=16, beta=1.0), rate=0.01)
    """
    signals = (Homeostasis(ValuePromise(k, gamma), rate / 2), Homeostasis(counts, rate / 2))
    return Explorer(Triggered(Sum(signals), **period), Identity(), D)


def kind_of(env: Any) -> Literal["Box", "Discrete"]:
    """Return the kind of an environment's action space; reject other kinds."""
    from gymnasium import spaces

    space = getattr(env, "single_action_space", None) or getattr(env, "action_space", None)
    if isinstance(space, spaces.Box):
        return "Box"
    if isinstance(space, spaces.Discrete):
        return "Discrete"
    check.refuse("adeu.recipes", "env", "an environment with Box or Discrete actions", space)
