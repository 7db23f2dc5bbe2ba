"""Suggestions of f, g and D by action space and symptom, for `adeu suggest` and docs/choose.md."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from adeu import recipes
from adeu.core.explorer import Explorer
from adeu.distributions import Bernoulli, Categorical, Gaussian, OrnsteinUhlenbeck
from adeu.mechanisms.combine import Rollouts
from adeu.mechanisms.constant import Constant
from adeu.mechanisms.counts import Counts
from adeu.mechanisms.rnd import Rnd
from adeu.mechanisms.stakes import Stakes
from adeu.normalizers import Identity, Saturating, ShiftedSigmoid, Sigmoid


class Suggestion(NamedTuple):
    """A composition for a symptom."""

    actions: Literal["Box", "Discrete"]
    symptom: str
    explorer: Explorer
    needs: str
    """What the agent must pass; may be empty."""
    expect: str
    """The expected spread."""
    look_at: str
    evidence: str
    """The experiment and its case that support it."""


SUGGESTIONS = (
    Suggestion(
        "Box",
        "the return is flat: the first reward is never found",
        recipes.BOX,
        "",
        "1, constant",
        "deviation: well above 0 until the first reward",
        "explore-tuning: constant-options-1",
    ),
    Suggestion(
        "Box",
        "the first reward is never found, and the task has momentum (cars, pendulums)",
        Explorer(Constant(1.0), Identity(), OrnsteinUhlenbeck()),
        "",
        "1, constant",
        "the first episode with a reward",
        "explore-tuning: constant-ou-1",
    ),
    Suggestion(
        "Box",
        "the agent is SAC; it gets no further on a long path, because noise ends episodes; rewards are 0 or more",
        Explorer(Stakes(scale=0.1), Saturating(1.0), Gaussian()),
        "q_values",
        "near 0 on the known path, high at its end",
        "spread within an episode (Behavior.plot)",
        "continuous-lakes: sac-stakes",
    ),
    Suggestion(
        "Box",
        "it learns, but noise disturbs it later on",
        Explorer(Rnd(), Saturating(0.3), Gaussian()),
        "",
        "0.3 at first, then lower in known states",
        "spread p10 below p90; saturated below 0.9",
        "explore: rnd, on Pendulum-v1, no better than a constant",
    ),
    Suggestion(
        "Box",
        "you want the paper's agent",
        Explorer(Rollouts(Rnd.paper(), rho=0.3, c=0.2), Sigmoid(0.2), Gaussian()),
        "",
        "between 0.1 and 0.2",
        "tuned_at in metrics.csv",
        "mujoco: rnd",
    ),
    Suggestion(
        "Discrete",
        "the return is flat: the first reward is never found, and repeating an action leads somewhere",
        recipes.DISCRETE,
        "",
        "the probability to begin an option",
        "explored: the share of steps within options",
        "explore-tuning: constant-options-0.3; deep-sea: ez-carried",
    ),
    Suggestion(
        "Discrete",
        "the states are few and numbered",
        Explorer(Counts(), ShiftedSigmoid(2.0), Categorical()),
        "",
        "near 0 in known states, near 1 in new ones",
        "the map of the report; if Q-values are between 0 and 1, use Categorical(temperature=0.01)",
        "frozen-lake: adeu",
    ),
    Suggestion(
        "Discrete",
        "it learns, but epsilon disturbs it later on",
        Explorer(Rnd(), Saturating(0.1), Bernoulli()),
        "",
        "0.1 at first, then lower in known states",
        "spread p10 below p90",
        "cart-pole: rnd, no better than a constant, with a sixth of its spread",
    ),
)


def suggest(env: Any) -> list[Suggestion]:
    """Return the suggestions for the spaces of an environment, the default first.

    Examples:
        >>> import gymnasium
        >>> [each.explorer.D for each in suggest(gymnasium.make("CartPole-v1"))][-1]
        Bernoulli()
    """
    from gymnasium.spaces import Discrete

    kind = recipes.kind_of(env)
    states = getattr(env, "single_observation_space", env.observation_space)
    numbered = isinstance(states, Discrete)
    return [
        each for each in SUGGESTIONS if each.actions == kind and (numbered or not isinstance(each.explorer.f, Counts))
    ]
