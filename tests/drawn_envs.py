"""Draw valid and bad return values of environments with hypothesis, and check how loops and `Behavior` treat them."""

import warnings
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as drawn

import adeu
from adeu.agents import Dqn, GymLoop
from tests.bad_envs import FIELDS, BadEnv

EXPLORER = adeu.Explorer(adeu.Constant(0.5), adeu.Identity(), adeu.Bernoulli())
AGENT = Dqn(EXPLORER, hidden=(4,), batch=2, capacity=32, target_every=20)
STEPS = 20
"""Equal to the warm-up: the agent acts and learns nothing."""

NUMBERS = st.floats(width=64) | st.sampled_from([0.5, -1.0, 1e300, -1e39, 3.4e38, np.inf, np.nan, 10**400])
DTYPES = [np.float32, np.float64, np.float16, np.int64, np.uint8, np.bool_, np.complex64, object, "<U3", "M8[s]"]
SHAPES = [(3,), (), (1,), (4,), (1, 3), (3, 1), (0,), (2, 2)]
ARRAYS = drawn.arrays(st.sampled_from(DTYPES), st.sampled_from(SHAPES))
ODD = st.sampled_from(
    [None, "no", "1.5", b"1", {}, {"a": 1}, [], [[1.0], 2.0, 3.0], (1.0, 2.0), range(3), {1.0}, object(), print]
)
FLAGS = st.booleans() | st.sampled_from([0, 1, 2, 0.5, np.bool_(True), np.array(True), np.array([True])])
VALUES = NUMBERS | ARRAYS | ODD | FLAGS | st.lists(st.floats(-1, 1), min_size=2, max_size=4)


class Answer(NamedTuple):
    """One returned value of a call; the others are valid."""

    where: str
    call: str
    field: str
    value: object
    number: int


@st.composite
def answers(draw: st.DrawFn) -> Answer:
    where = draw(st.sampled_from(["training", "evaluation", "behavior"]))
    call = "step" if where == "behavior" else draw(st.sampled_from(["reset", "step", "step"]))
    fields = [field for field in FIELDS[call] if field != "info" or where != "behavior"]
    return Answer(where, call, draw(st.sampled_from(fields)), draw(VALUES), draw(st.integers(1, 2)))


def is_right(field: str, value: object) -> bool:
    """Return whether an environment with a Box of shape (3,) may return it, independent of the tested code."""
    if field == "info":
        return isinstance(value, Mapping)
    try:
        array = np.asarray(value)
        if array.dtype.kind not in "biuf" or array.shape != ((3,) if field == "observation" else ()):
            return False
        if field in ("terminated", "truncated"):
            return array in (0, 1)
        with np.errstate(over="ignore"):
            return bool(np.isfinite(array.astype(np.float32)).all())
    except (ValueError, TypeError):
        return False


def held(answer: Answer) -> bool:
    """Return whether a valid value is accepted, or a bad one rejected with the environment, call and field."""
    names = ["next_obs" if answer.where == "behavior" and answer.field == "observation" else answer.field]
    if answer.where != "behavior":
        place = "at step" if answer.where == "training" else "in the evaluation"
        names.append(f"BadEnv({answer.call}): {answer.call}() {place}")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            _use(answer)
    except ValueError as error:
        return not is_right(answer.field, answer.value) and all(name in str(error) for name in names)
    except Exception:
        return False
    return is_right(answer.field, answer.value)


def _use(answer: Answer) -> None:
    bad = BadEnv(answer.call, answer.field, answer.value, answer.number)
    if answer.where == "behavior":
        row = adeu.Transition(np.zeros(3), 1, 0.5, np.zeros(3), False, False)
        name = "next_obs" if answer.field == "observation" else answer.field
        adeu.Behavior(EXPLORER, bad).observe(row._replace(**{name: answer.value}))
        return
    envs = (bad, BadEnv()) if answer.where == "training" else (BadEnv(), bad)
    loop = GymLoop(AGENT, *envs, STEPS, seed=0, warmup=STEPS, evaluate_every=STEPS, evaluate_episodes=1)
    while loop.step < loop.steps:
        loop.advance()
