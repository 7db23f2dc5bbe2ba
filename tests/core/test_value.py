"""Parts must compare by all their fields, because equal parts share a compilation; others are rejected."""

import dataclasses
import functools
import math

import gymnasium
import jax.numpy as jnp
import numpy as np
import pytest

import adeu
from adeu.agents import Dqn, GymLoop, JaxLoop, VectorLoop
from adeu.agents.compiling import compile_agent
from adeu.behavior.batched import batched
from adeu.core.value import check_value
from adeu.envs import JaxCartPole

hidden = functools.partial(dataclasses.field, compare=False)
left_out = dataclasses.dataclass(frozen=True, eq=False)
frozen = dataclasses.dataclass(frozen=True)


def explorer(f=adeu.Constant(0.5), g=adeu.Identity(), D=adeu.Bernoulli(), guard=None):  # noqa: B008
    return adeu.Explorer(f, g, D, guard)


class Measure(adeu.Mechanism):
    def measure(self, key, state, carry, obs, **given):
        return jnp.asarray(self.scale, float), carry


@left_out
class Uncompared(Measure):
    scale: float = 1.0


@frozen
class Partly(Measure):
    scale: float = hidden(default=1.0)


class ByHand(Measure):
    def __init__(self, scale=1.0):
        self.scale = scale


class Slotted(Measure):
    __slots__ = ("scale",)

    def __init__(self, scale=1.0):
        object.__setattr__(self, "scale", scale)


@frozen
class Lenient(Measure):
    scale: float = 1.0

    def __eq__(self, other):
        return isinstance(other, Lenient)

    def __hash__(self):
        return 0


@frozen
class Tolerant(Lenient):
    def __eq__(self, other):
        return abs(self.scale - other.scale) < 0.1

    __hash__ = Lenient.__hash__


@frozen
class Fresh(Measure):
    scale: float = 1.0

    def __hash__(self):
        return id(self)


@frozen
class Setting:
    scale: float = hidden(default=1.0)


@frozen
class Settled(adeu.Mechanism):
    setting: Setting = Setting()


@left_out
class G(adeu.Normalizer):
    scale: float = 1.0


@frozen
class D(adeu.Bernoulli):
    scale: float = hidden(default=1.0)


@left_out
class Mentor(adeu.Guard):
    scale: float = 1.0

    def __call__(self, state, carry, obs, uncertainty, **given):
        return True, 0, carry


MIXED = r": the field scale is not compared, and equal parts share one compilation: this part would use the scale"
LOOSE = r": the attribute scale is not a field, so parts that differ in it compare equal, and equal parts share one c"
EACH = r": it differs from a part with equal fields, so it would be recompiled each time"


@pytest.mark.parametrize(
    ("name", "parts", "message"),
    [
        ("Uncompared", {"f": Uncompared()}, MIXED),
        ("Partly", {"f": Partly()}, MIXED),
        ("ByHand", {"f": ByHand()}, LOOSE),
        ("Slotted", {"f": Slotted()}, LOOSE),
        ("Lenient", {"f": Lenient()}, MIXED),
        ("Tolerant", {"f": Tolerant()}, MIXED),
        ("Fresh", {"f": Fresh()}, EACH),
        ("Setting", {"f": Settled()}, MIXED),
        ("Partly", {"f": adeu.Sum((adeu.Constant(1.0), adeu.Rollouts(Partly(), 0.1, 0.5)))}, MIXED),
        ("Setting", {"f": adeu.Inverse(Settled())}, MIXED),
        ("G", {"g": G()}, MIXED),
        ("D", {"D": D()}, MIXED),
        ("Mentor", {"guard": Mentor()}, MIXED),
    ],
)
def test_an_explorer_rejects_such_a_part(name, parts, message):
    with pytest.raises(ValueError, match=f"^{name}{message}"):
        explorer(**parts)


@frozen
class Callable:
    scale: float = hidden(default=1.0)

    def __call__(self, obs):
        return jnp.asarray(self.scale)


@pytest.mark.parametrize("make", [adeu.from_function, adeu.from_host])
def test_an_explorer_rejects_such_a_callable(make):
    with pytest.raises(ValueError, match=f"^Callable{MIXED}"):
        explorer(make(Callable()))


@left_out
class LeftOut(Dqn):
    scale: float = 1.0


@frozen
class Hidden(Dqn):
    scale: float = hidden(default=1.0)


@frozen
class HiddenPole(JaxCartPole):
    scale: float = hidden(default=1.0)


@pytest.mark.parametrize("kind", [LeftOut, Hidden])
def test_every_loop_rejects_such_an_agent(kind):
    agent, pole = kind(explorer(), hidden=(4,)), gymnasium.make("CartPole-v1")
    for loop in (
        lambda: GymLoop(agent, pole, pole, 10, seed=0, evaluate_every=10),
        lambda: VectorLoop(agent, gymnasium.make_vec("CartPole-v1", num_envs=2), pole, 10, evaluate_every=10),
        lambda: JaxLoop(agent, JaxCartPole()),
    ):
        with pytest.raises(ValueError, match=f"^{kind.__name__}{MIXED}"):
            loop()


def test_the_compiled_loop_rejects_such_an_environment():
    with pytest.raises(ValueError, match=f"^HiddenPole{MIXED}"):
        JaxLoop(Dqn(explorer(), hidden=(4,)), HiddenPole())


@frozen
class Plain(Measure):
    scale: float = 1.0

    @functools.cached_property
    def double(self):
        return 2 * self.scale


class Inheriting(Plain):
    """A subclass that is not decorated and adds no fields."""


@frozen
class Careful(Measure):
    """Equality and hash written out, as a dataclass defines them."""

    scale: float = 1.0

    def __eq__(self, other):
        return type(other) is type(self) and other.scale == self.scale

    def __hash__(self):
        return hash(self.scale)


@left_out
class Empty(Measure):
    scale = 1.0


def test_values_are_accepted_and_share_a_compilation_if_equal():
    for kind in (Plain, Inheriting, Careful):
        part = kind(2.0)
        getattr(part, "double", None)
        assert batched(explorer(part)) is batched(explorer(kind(2.0)))
        behaviors = [adeu.Behavior(explorer(kind(scale)), gymnasium.make("CartPole-v1")) for scale in (2.0, 3.0)]
        measured = [float(behavior.act(np.zeros(4), [0.0, 0.0]).uncertainty) for behavior in behaviors]
        assert measured == [2.0, 3.0]
    assert batched(explorer(Plain(2.0))) is not batched(explorer(Inheriting(2.0)))
    check_value(Empty())
    check_value(Plain(math.nan))
    functions = [adeu.from_function(lambda obs: jnp.abs(obs[0])) for _ in range(2)]
    assert batched(explorer(functions[0])) is not batched(explorer(functions[1]))


def test_equal_agents_share_a_compilation():
    pole = gymnasium.make("CartPole-v1")
    one, other = (Dqn(explorer(), hidden=(4,)).bind(pole.observation_space, pole.action_space) for _ in range(2))
    assert compile_agent(one) is compile_agent(other)
