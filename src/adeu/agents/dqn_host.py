"""The DQN family on a Gymnasium environment: the rules of `dqn`, each compiled for itself."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from adeu.agents.dqn import Actor, Dqn, Learning, Rules, bound
from adeu.agents.host import Arrays
from adeu.agents.replay_numpy import NumpyReplay
from adeu.behavior.storage import arrays_of, tree_of
from adeu.core.contract import Decision, Transition


class DqnAgent:
    """A `Dqn` as an agent for `HostLoop`; how often it evaluates is the loop's.

    Args:
        dqn: the agent's settings.
        env: has the spaces: Discrete actions; Box or Discrete observations.
        seed: of all it draws.

    Examples:
        >>> import adeu, gymnasium
        >>> from adeu.agents import Dqn, DqnAgent, HostLoop
        >>> explorer = adeu.Explorer(adeu.Constant(0.1), adeu.Identity(), adeu.Bernoulli())
        >>> env, other = gymnasium.make("CartPole-v1"), gymnasium.make("CartPole-v1")
        >>> agent = DqnAgent(Dqn(explorer, hidden=(8,)), env, seed=0)
        >>> loop = HostLoop(agent, env, other, steps=100, seed=0, evaluate_every=100, evaluate_episodes=1)
        >>> rows, _ = loop.advance()
        >>> loop.episode, loop.step > 5
        (1, True)
    """

    def __init__(self, dqn: Dqn, env: Any, seed: int) -> None:
        self.dqn, rule = bound(dqn, env.observation_space, env.action_space)
        self._rule = _jitted(rule)
        self._seed = seed
        self._first_state = int(getattr(env.observation_space, "start", 0))
        self._first_action = int(env.action_space.start)
        self._key = jax.random.key_data(jax.random.key(seed))
        obs = self._look(np.zeros(env.observation_space.shape) + self._first_state)
        self._learner = _own(self._rule.init(self._key, obs))
        carry, member = self._rule.begin(self._key, None, np.int32(0))
        self._actor = Actor(obs, carry, member, np.float32(0))
        self._episode = 0
        false = np.zeros((), bool)
        row = Row(obs, np.int32(0), np.float32(0), obs, false, np.zeros(self.dqn.ensemble, bool))
        self._replay = NumpyReplay(self.dqn.capacity, row)

    def begin(self, obs: Any) -> None:
        if self._episode:
            carry, member = self._rule.begin(self._key, self._actor.carry, np.int32(self._episode))
            self._actor = Actor(obs, carry, member, np.float32(0))
        self._episode += 1
        self._actor = self._actor._replace(obs=self._look(obs))

    def act(self, step: int) -> Decision:
        decision, self._actor = self._rule.decide(self._key, self._learner, self._actor, np.int32(step))
        action, *rest = jax.device_get(decision)
        return Decision(int(action) + self._first_action, *rest)

    def observe(self, transition: Transition, step: int) -> None:
        trained = step - self.dqn.warmup
        if trained > 0 and (trained - 1) % self.dqn.target_every == 0:
            target = self._rule.synchronise(self._learner).target
            self._learner = self._learner._replace(target=_own(target))
        seen = self._transition(transition)
        mask = self._draws(step, 1).random(self.dqn.ensemble) < self.dqn.mask_probability
        row = Row(seen.obs, seen.action, seen.reward, seen.next_obs, seen.terminated, mask)
        self._replay.add(row, bool(seen.terminated or seen.truncated))
        self._learner = self._rule.observe(self._key, self._learner, seen, np.int32(step - 1))
        self._actor = self._actor._replace(obs=seen.next_obs)
        if trained > 0 and trained % self.dqn.update_every == 0:
            rows = self._replay.read(self._draws(step).integers(len(self._replay), size=self.dqn.batch))
            no = np.zeros(self.dqn.batch, bool)
            batch = Transition(rows.obs, rows.action, rows.reward, rows.next_obs, rows.terminated, no)
            self._learner = self._rule.update(self._key, self._learner, batch, rows.mask, np.int32(step))

    def exploit(self, obs: Any) -> int:
        action = self._rule.exploit(self._key, self._learner, self._actor.carry, self._look(obs))
        return int(action) + self._first_action

    def arrays(self) -> Arrays:
        memory = {f"memory_{name}": value for name, value in self._replay.arrays().items()}
        return arrays_of((self._learner, self._actor)) | memory | {"episode": np.array(self._episode)}

    def restore(self, arrays: Arrays) -> None:
        learned = {name: array for name, array in arrays.items() if name.startswith("leaf_")}
        self._learner, self._actor = _own(tree_of(learned, (self._learner, self._actor)))
        self._replay.restore({n.removeprefix("memory_"): a for n, a in arrays.items() if n.startswith("memory_")})
        self._episode = int(arrays["episode"])

    def _draws(self, step: int, stream: int = 0) -> np.random.Generator:
        return np.random.Generator(np.random.Philox(counter=stream << 128, key=self._seed + (step << 64)))

    def _look(self, obs: Any) -> Any:
        obs = np.asarray(obs)
        return np.int32(obs - self._first_state) if obs.ndim == 0 else obs.astype(np.float32).ravel()

    def _transition(self, given: Transition) -> Transition:
        return Transition(
            self._look(given.obs),
            np.int32(given.action - self._first_action),
            np.float32(given.reward),
            self._look(given.next_obs),
            np.bool_(given.terminated),
            np.bool_(given.truncated),
            given.cost,
        )


class Row(NamedTuple):
    obs: Any
    action: Any
    reward: Any
    next_obs: Any
    terminated: Any
    mask: Any


_compiled: dict[Rules, Rules] = {}
BEGIN, ACT, OBSERVE, UPDATE = range(4)


def _jitted(rule: Rules) -> Rules:
    """Its functions compiled, each with a key of its own for every step; equal agents share them."""

    def keyed(use: int, function: Any) -> Any:
        def call(key: Any, *rest: Any) -> Any:
            at = jax.random.fold_in(jax.random.fold_in(jax.random.wrap_key_data(key), use), rest[-1])
            return function(at, *rest)

        return call

    start, begin, decide_by, settle = rule.begin
    if rule not in _compiled:
        _compiled[rule] = Rules(
            init=jax.jit(lambda key, obs: start(jax.random.wrap_key_data(key), obs)),
            begin=jax.jit(keyed(BEGIN, lambda key, carry, number: begin(key, carry))),
            decide=jax.jit(keyed(ACT, decide_by)),
            absorb=None,
            learn=None,
            observe=jax.jit(keyed(OBSERVE, rule.observe)),
            update=jax.jit(keyed(UPDATE, rule.update), donate_argnums=1),
            synchronise=jax.jit(settle),
            exploit=jax.jit(
                lambda key, learner, carry, obs: rule.exploit(
                    jax.random.wrap_key_data(key), Learning(learner, None), carry, obs, jnp.zeros((), jnp.int32)
                )
            ),
        )
    return _compiled[rule]


def _own(tree: Any) -> Any:
    """Every leaf a buffer of its own: two that were one could not both be given away."""
    return jax.tree.map(jnp.copy, tree)
