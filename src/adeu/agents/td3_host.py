"""TD3 on a Gymnasium environment: the rules of `td3`, compiled, with the replay in numpy."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from adeu.agents.compiling import options
from adeu.agents.host import Arrays
from adeu.agents.memory import Memory, unpack
from adeu.agents.td3 import Acting, Learner, Rules, Td3, bound
from adeu.behavior.arrays import to_space
from adeu.behavior.storage import arrays_of, tree_of
from adeu.core import check
from adeu.core.contract import Array, Decision, Key, Transition

BEGIN, ACT, OBSERVE, UPDATE = range(4)
"""What random numbers are for: each has its own at each step."""
MEMORY = "memory_"


class Compiled(NamedTuple):
    init: Any
    begin: Any
    decide: Any
    exploit: Any
    observe: Any
    update: Any
    copy: Any


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

    def copy(acting: Acting) -> Acting:
        return jax.tree.map(jnp.copy, acting)

    return Compiled(
        jax.jit(init),
        jax.jit(begin),
        jax.jit(decide),
        jax.jit(exploit),
        jax.jit(observe),
        jax.jit(update, donate_argnums=1, compiler_options=options()),  # in place
        jax.jit(copy),
    )


class Td3Agent:
    """A `Td3` as an agent for `HostLoop`.

    Args:
        td3: the agent's settings.
        env: has the spaces: Boxes of one dimension, that of actions bounded.
        seed: of all it draws.
        offered: arrays with an entry for each step, which f gets by their names.
        overlap: whether the environment steps while the networks train, with decisions by those of the update before
            (an episode begins with the newest). For several threads; not TD3 to the letter.

    Examples:
        >>> import adeu, gymnasium
        >>> from adeu.agents import HostLoop, Td3, Td3Agent
        >>> explorer = adeu.Explorer(adeu.Constant(0.1), adeu.Identity(), adeu.Gaussian())
        >>> env, other = gymnasium.make("Pendulum-v1"), gymnasium.make("Pendulum-v1")
        >>> agent = Td3Agent(Td3(explorer, hidden=(8,)), env, seed=0)
        >>> loop = HostLoop(agent, env, other, steps=200, seed=0, evaluate_every=200, evaluate_episodes=1)
        >>> rows, _ = loop.advance()
        >>> rows[0]["step"], rows[0]["explored"]
        (200, 1.0)
    """

    def __init__(
        self,
        td3: Td3,
        env: Any,
        seed: int,
        offered: Mapping[str, NDArray[Any]] | None = None,
        overlap: bool = False,
    ) -> None:
        self.td3, rule = bound(td3, env.observation_space, env.action_space)
        self._seed = check.as_whole(self, "seed", seed, at_least=0, at_most=check.LARGEST_SEED)
        self._run = compiled(self.td3, rule)
        self._dtype = np.dtype(jnp.result_type(float))
        self._actions = env.action_space
        low, high = (each.astype(self._dtype) for each in (env.action_space.low, env.action_space.high))
        self._middle, self._half = (high + low) / 2, (high - low) / 2
        self._offered = dict(offered or {})
        self._overlap = overlap
        self._older: Acting | None = None
        self._observes = "observe" in self.td3.explorer.learns_from
        self._key = jax.random.key_data(jax.random.key(self._seed))
        self._obs = np.zeros(env.observation_space.shape, self._dtype)
        self._learner: Learner = own(self._run.init(self._key, self._obs))
        self._carry = self._run.begin(self._key, np.int32(0), None)
        self._episode = 0
        sizes = env.observation_space.shape[0], env.action_space.shape[0]
        self._memory = Memory(self.td3.capacity, *sizes, dtype=self._dtype)

    def begin(self, obs: Any) -> None:
        if self._episode:
            self._carry = self._run.begin(self._key, np.int32(self._episode), self._carry)
        self._episode += 1
        self._obs = np.asarray(obs, self._dtype)
        self._older = None

    def act(self, step: int) -> Decision:
        offers = {name: values[step] for name, values in self._offered.items()}
        decision, self._carry = self._run.decide(
            self._key, self._older or self._acting, self._carry, self._obs, np.int32(step), offers
        )
        decision = Decision(*map(np.asarray, decision))  # device_get would take longer than the decision
        action, self._spread = decision.action, float(decision.spread)
        if not np.isfinite(action).all():
            raise ValueError(f"Td3Agent: training diverged: at step {step + 1} the action is {action}")
        return decision._replace(action=to_space(self._actions, action))

    def observe(self, transition: Transition, step: int) -> None:
        next_obs = np.asarray(transition.next_obs, self._dtype)
        reward = np.asarray(transition.reward, self._dtype)
        scaled = (np.asarray(transition.action, self._dtype) - self._middle) / self._half
        ended = np.bool_(transition.terminated), np.bool_(transition.truncated)
        if self._enters(step):
            self._memory.add(self._obs[None], scaled[None], reward, next_obs[None], ended[:1], ended[1:])
        if self._observes:
            seen = Transition(self._obs, transition.action, reward, next_obs, *ended, transition.cost)
            f = self._run.observe(self._key, self._learner, seen, scaled, np.int32(step - 1))
            self._learner = self._learner._replace(f=f)
        self._obs = next_obs
        trained = step - self.td3.warmup
        if trained > 0 and trained % self.td3.policy_delay == 0:
            self._update(step)

    def exploit(self, obs: Any) -> Any:
        offers = dict.fromkeys(self._offered, 0.0)
        obs = np.asarray(obs, self._dtype)
        action = np.asarray(self._run.exploit(self._key, self._acting, self._carry, obs, offers))
        if not np.isfinite(action).all():
            raise ValueError(f"Td3Agent: training diverged: the greedy action is {action}")
        return to_space(self._actions, action)

    def arrays(self) -> Arrays:
        networks = jax.tree.leaves(self._learner._replace(f=(), bonus=()))
        if not all(np.isfinite(array).all() for array in networks):
            raise ValueError("Td3Agent: training diverged: its networks are not finite, and not worth keeping")
        learned = arrays_of((self._learner, self._carry))
        memory = {MEMORY + name: value for name, value in self._memory.arrays().items()}
        return learned | memory | {"episode": np.array(self._episode)}

    def restore(self, arrays: Arrays) -> None:
        learned = {name: array for name, array in arrays.items() if name.startswith("leaf_")}
        self._learner, self._carry = own(tree_of(learned, (self._learner, self._carry)))
        memory = {n.removeprefix(MEMORY): array for n, array in arrays.items() if n.startswith(MEMORY)}
        self._memory.restore(memory)
        self._episode = int(arrays["episode"])

    @property
    def _acting(self) -> Acting:
        return Acting(self._learner.actor, self._learner.critics, self._learner.f)

    def _enters(self, step: int) -> bool:
        """Whether what came of the last action is to be learned from."""
        if not self.td3.gated or step <= self.td3.warmup:
            return True
        largest: Any = self.td3.explorer.g.ceiling
        return bool(self._draws(step, stream=1).random() * largest < self._spread)

    def _draws(self, step: int, stream: int = 0) -> np.random.Generator:
        return np.random.Generator(np.random.Philox(counter=stream << 128, key=self._seed + (step << 64)))

    def _update(self, step: int) -> None:
        shape = self.td3.policy_delay, self.td3.batch
        draws = self._draws(step)
        rows, next_obs = self._memory.read(draws.integers(len(self._memory), size=shape[0] * shape[1]))
        rows, next_obs = (each.reshape(*shape, -1) for each in (rows, next_obs))
        if self._overlap:
            self._older = self._run.copy(self._acting)
        self._learner = self._run.update(self._key, self._learner, rows, next_obs, np.int32(step))


def own(tree: Any) -> Any:
    """Every leaf a buffer of its own: two that were one could not both be given away."""
    return jax.tree.map(jnp.copy, tree)
