"""The training loop: Q-learning in a finite MDP, compiled once per combination of argument types.

for each episode:
    for each step:
        a ~ D(pi(s), g(f(s)))
        s', r from the model
        Q(s, a) <- Q(s, a) + alpha * (r + gamma * max Q(s', .) - Q(s, a)),  and f learns
    every evaluate_every episodes: one greedy episode, with a separate random stream
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numba.extending import register_jitable
from numpy.typing import NDArray

from adeu.tabular.decision_forms import advise, follow, greedy, normalize, restart, sample
from adeu.tabular.f_forms import Scene, Seen, begin, measure, observe, prepare
from adeu.tabular.learner_forms import learn, prefer, renew, value
from adeu.tabular.model import first_state, outcome
from adeu.tabular.stack import floats
from adeu.tabular.stream import Stream
from adeu.tabular.trace import Step, note


class LoopSettings(NamedTuple):
    episodes: int
    max_steps: int
    gamma: float
    intrinsic: float
    evaluate_every: int


class Record(NamedTuple):
    """The loop's output, except the tables of the learner and the parts."""

    visits: NDArray[np.int64]
    """(S,): the visit counts."""
    steps: NDArray[np.int64]
    """(episodes,): the length of each episode."""
    violations: NDArray[np.int64]
    """(episodes,): steps with a cost."""
    explored: NDArray[np.int64]
    """(episodes,): steps that explored."""
    switches: NDArray[np.int64]
    """(episodes,): switches between exploring and exploiting."""
    uncertainty: NDArray[np.float64]
    """(episodes,): summed over the steps."""
    spread: NDArray[np.float64]
    """(episodes,): summed over the steps."""
    returns: NDArray[np.float64]
    """(evaluations,): the return of one greedy episode each."""


@register_jitable(forceinline=True)
def impose(guard: Any, s: int, center: NDArray[np.float64]) -> bool:
    """Exclude all actions except the mentor's if the mentor is active; return whether it is."""
    advice = advise(guard, s)
    if advice < 0:
        return False
    for a in range(center.size):
        if a != advice:
            center[a] = -math.inf
    return True


@register_jitable(forceinline=True)
def evaluate(model: Any, learner: Any, guard: Any, max_steps: int, center: NDArray[np.float64], rng: Stream) -> float:
    s, total = first_state(model, rng), 0.0
    for _ in range(max_steps):
        value(learner, model.mask, s, center)
        impose(guard, s, center)
        k = outcome(model, s, greedy(center, model.mask.numbers, rng), rng)
        total += model.reward[k]
        if model.terminal[k]:
            break
        s = model.next_state[k]
    return total


def train(
    model: Any,
    learner: Any,
    f: Any,
    g: Any,
    D: Any,
    guard: Any,
    settings: LoopSettings,
    record: Record,
    rng: Stream,
    evaluation_rng: Stream,
    first: int,
    last: int,
    trace: Any,
) -> None:
    """Train episodes first .. last - 1; splitting them over several calls gives the same result."""
    center, scratch = floats(model.mask.numbers), floats(model.mask.numbers)
    visits, step = record.visits, 0
    for episode in range(first):
        step += record.steps[episode]
    for episode in range(first, last):
        s = first_state(model, rng)
        begin(f, rng)
        restart(D, True)
        violations, explorations, switches, before, begun = 0, 0, 0, False, step
        uncertainties, spreads = 0.0, 0.0
        for _ in range(settings.max_steps):
            prefer(learner, model.mask, s, center)
            at = Scene(s, step, center, learner.q, visits, rng)
            uncertainty = measure(f, at)
            spread = normalize(g, uncertainty)
            if impose(guard, s, center):
                spread = 0.0
                restart(D, False)
            a, explored = sample(D, s, model.mask.numbers, center, spread, scratch, rng)

            k = outcome(model, s, a, rng)
            note(trace, Step(s, a, explored, uncertainty, spread, model.reward[k], model.cost[k]), center)
            reward, terminated, next_state = model.reward[k], model.terminal[k], model.next_state[k]
            if settings.intrinsic > 0 and not terminated:
                reward += settings.intrinsic / math.sqrt(visits[next_state] + 1)
            seen = Seen(a, reward, next_state, terminated, model.cost[k])
            prepare(f, at, a)
            td_error = learn(learner, model.mask, s, seen, settings.gamma, rng)
            observe(f, at, seen, td_error)
            follow(D, s, seen, rng)
            violations += seen.cost > 0
            explorations += explored
            switches += explored != before
            uncertainties += uncertainty
            spreads += spread
            before = explored
            visits[s] += 1
            step += 1
            s = next_state
            if terminated:
                break
        renew(learner, rng)
        record.steps[episode] = step - begun
        record.violations[episode] = violations
        record.explored[episode] = explorations
        record.switches[episode] = switches
        record.uncertainty[episode] = uncertainties
        record.spread[episode] = spreads
        if (episode + 1) % settings.evaluate_every == 0:
            place = (episode + 1) // settings.evaluate_every - 1
            record.returns[place] = evaluate(model, learner, guard, settings.max_steps, center, evaluation_rng)
