"""TD3 on the host: one agent for one environment, or for several that step together."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from adeu.agents.memory import Memory, unpack
from adeu.agents.td3 import Acting, Learner, Rules, Td3, bound
from adeu.core import check
from adeu.core.contract import Array, Decision, Key, Transition

BEGIN, ACT, OBSERVE, UPDATE = range(4)
"""What random numbers are for: each has its own at each step."""


class Compiled(NamedTuple):
    init: Any
    begin: Any
    decide: Any
    exploit: Any
    observe: Any
    update: Any


@functools.lru_cache(maxsize=64)
def compiled(td3: Td3, rule: Rules) -> Compiled:
    """What runs at each step, compiled; equal agents share it. Keys come of the run's and a step's number."""
    explorer = td3.explorer

    def at(key: Key, use: int, number: Array) -> Key:
        return jax.random.fold_in(jax.random.fold_in(jax.random.wrap_key_data(key), use), number)

    def init(key: Key, obs: Array) -> Learner:
        return rule.init(jax.random.wrap_key_data(key), obs)

    def begin(key: Key, number: Array, carry: Any) -> Any:
        return explorer.begin(at(key, BEGIN, number), carry)

    def decide(key: Key, acting: Acting, carry: Any, obs: Array, step: Array, offered: Any) -> Any:
        return rule.decide(at(key, ACT, step), acting, carry, obs, step, offered)

    def exploit(key: Key, acting: Acting, carry: Any, obs: Array, offered: Any) -> Any:
        return rule.exploit(jax.random.wrap_key_data(key), acting, carry, obs, jnp.zeros((), jnp.int32), offered)

    def observe(key: Key, learner: Learner, transition: Transition, scaled: Array, step: Array) -> Any:
        td_error = rule.td_error(at(key, OBSERVE, step), learner, transition._replace(action=scaled))
        return explorer.observe(learner.f, transition, step=step, td_error=td_error)

    def update(key: Key, learner: Learner, rows: Array, next_obs: Array, step: Array) -> Learner:
        return rule.update(at(key, UPDATE, step), learner, unpack(rows, next_obs), step)

    given_away = jax.jit(update, donate_argnums=1)  # in place
    return Compiled(jax.jit(init), jax.jit(begin), jax.jit(decide), jax.jit(exploit), jax.jit(observe), given_away)


class Td3Agent:
    """TD3 in one environment. Between two episodes `arrays` is all there is of it.

    Args:
        td3: the agent.
        observation_space: of the environment, a Box of one dimension.
        action_space: of the environment, a bounded Box of one dimension.
        seed: of all random numbers, each of which comes of the seed and the step: none need be saved.
        offered: arrays with an entry for each step, which f gets by their names.

    Examples:
        >>> import adeu, gymnasium
        >>> from adeu.agents import Td3, Td3Agent
        >>> explorer = adeu.Explorer(adeu.Constant(0.1), adeu.Identity(), adeu.Gaussian())
        >>> env = gymnasium.make("Pendulum-v1")
        >>> agent = Td3Agent(Td3(explorer, hidden=(8,)), env.observation_space, env.action_space, seed=0)
        >>> agent.begin(env.reset(seed=0)[0])
        >>> agent.act(step=0).action.shape
        (1,)
    """

    def __init__(
        self,
        td3: Td3,
        observation_space: Any,
        action_space: Any,
        *,
        seed: int,
        offered: Mapping[str, NDArray[Any]] | None = None,
    ) -> None:
        self.td3, self.rule = bound(td3, observation_space, action_space)
        self.seed = check.as_whole("Td3Agent", "seed", seed, at_least=0)
        self._run = compiled(self.td3, self.rule)
        self._dtype = np.dtype(jnp.result_type(float))
        low, high = action_space.low.astype(self._dtype), action_space.high.astype(self._dtype)
        self._middle, self._half = (high + low) / 2, (high - low) / 2
        self._action_dtype = action_space.dtype
        self._offered = dict(offered or {})
        self._key = jax.random.key_data(jax.random.key(self.seed))
        learner = self._run.init(self._key, np.zeros(observation_space.shape, self._dtype))
        # Every leaf a buffer of its own: two that were one could not both be given away.
        self.learner: Learner = jax.tree.map(lambda leaf: leaf.copy(), learner)
        self.memory = Memory(self.td3.capacity, observation_space.shape[0], action_space.shape[0], dtype=self._dtype)
        self._observes = "observe" in self.td3.explorer.f.learns_from
        self._carry = self._run.begin(self._key, 0, None)
        self._episode = 0
        self._obs = np.zeros(observation_space.shape, self._dtype)

    def begin(self, obs: Any) -> None:
        if self._episode:
            self._carry = self._run.begin(self._key, self._episode, self._carry)
        self._episode += 1
        self._obs = self._finite("the first observation of an episode", obs)

    def act(self, step: int) -> Decision:
        decision, self._carry = self._run.decide(
            self._key, self._acting, self._carry, self._obs, np.int32(step), self._offers(step)
        )
        decision = Decision(*map(np.asarray, decision))
        if not np.isfinite(decision.action).all():
            raise ValueError(f"Td3Agent: training diverged: at step {step} the policy's action is {decision.action}")
        return decision._replace(action=decision.action.astype(self._action_dtype))

    def observe(self, transition: Transition, step: int) -> None:
        next_obs = self._finite(f"the observation after step {step}", transition.next_obs)
        reward = self._finite(f"the reward of step {step}", transition.reward)
        scaled = (np.asarray(transition.action, self._dtype) - self._middle) / self._half
        ended = bool(transition.terminated), bool(transition.truncated)
        self.memory.add(self._obs[None], scaled[None], reward, next_obs[None], [ended[0]], [ended[1]])
        if self._observes:
            seen = Transition(self._obs, transition.action, reward, next_obs, *ended, transition.cost)
            f = self._run.observe(self._key, self.learner, seen, scaled, np.int32(step))
            self.learner = self.learner._replace(f=f)
        self._obs = next_obs
        trained = step - self.td3.warmup + 1
        if trained > 0 and trained % self.td3.policy_delay == 0:
            self._update(step)

    def exploit(self, obs: Any) -> Any:
        obs = np.asarray(obs, self._dtype)
        action = self._run.exploit(self._key, self._acting, self._carry, obs, self._offers(0))
        return np.asarray(action).astype(self._action_dtype)

    def arrays(self) -> dict[str, NDArray[Any]]:
        leaves = jax.tree.leaves((self.learner, self._carry))
        changing = {f"leaf-{number}": np.array(leaf) for number, leaf in enumerate(leaves)}
        memory = {f"memory-{name}": value for name, value in self.memory.arrays().items()}
        return changing | memory | {"episode": np.array(self._episode)}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        leaves, structure = jax.tree.flatten((self.learner, self._carry))
        found = [arrays[f"leaf-{number}"] for number in range(len(leaves))]
        for number, (mine, theirs) in enumerate(zip(leaves, found, strict=True)):
            if (mine.shape, mine.dtype) != (theirs.shape, theirs.dtype):
                expected = f"{mine.dtype} of shape {mine.shape}"
                check.refuse("Td3Agent", f"leaf-{number}", expected, f"{theirs.dtype} of shape {theirs.shape}")
        self.learner, self._carry = jax.tree.unflatten(structure, [jnp.array(leaf) for leaf in found])
        self.memory.restore({name: arrays[f"memory-{name}"] for name in ("rows", "beside", "kept", "added")})
        self._episode = int(arrays["episode"])

    @property
    def _acting(self) -> Acting:
        return Acting(self.learner.actor, self.learner.critics, self.learner.f)

    def _update(self, step: int) -> None:
        shape = self.td3.policy_delay, self.td3.batch
        draws = np.random.Generator(np.random.Philox(key=np.array([self.seed, step], np.uint64)))
        rows, next_obs = self.memory.read(draws.integers(len(self.memory), size=shape[0] * shape[1]))
        rows, next_obs = (each.reshape(*shape, -1) for each in (rows, next_obs))
        self.learner = self._run.update(self._key, self.learner, rows, next_obs, np.int32(step))

    def _offers(self, step: int) -> dict[str, Any]:
        return {name: values[step] for name, values in self._offered.items()}

    def _finite(self, what: str, value: Any) -> NDArray[Any]:
        array = np.asarray(value, self._dtype)
        if not np.isfinite(array).all():
            raise ValueError(f"Td3Agent: {what} is not finite: {value}")
        return array
