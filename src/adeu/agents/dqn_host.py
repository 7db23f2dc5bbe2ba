"""The DQN family on a Gymnasium environment: the rules of `dqn`, each compiled for itself."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from adeu.agents.dqn import Dqn, Rules, bound
from adeu.agents.host import Arrays
from adeu.behavior.arrays import to_space
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
        self._first_state = int(getattr(env.observation_space, "start", 0))
        self._actions = env.action_space
        self._key, key_init = jax.random.split(jax.random.key(seed))
        obs = self._look(np.zeros(env.observation_space.shape) + self._first_state)
        self._learner, self._actor = _own(self._rule.init(key_init, obs))

    def begin(self, obs: Any) -> None:
        self._actor = self._actor._replace(obs=self._look(obs))

    def act(self, step: int) -> Decision:
        decision, self._actor = self._rule.decide(self._key, self._learner, self._actor, np.int32(step))
        decision = jax.device_get(decision)
        return decision._replace(action=int(to_space(self._actions, decision.action)))

    def observe(self, transition: Transition, step: int) -> None:
        trained = step - self.dqn.warmup
        if trained > 0 and (trained - 1) % self.dqn.target_every == 0:
            target = self._rule.synchronise(self._learner).target
            self._learner = self._learner._replace(target=_own(target))
        seen = self._transition(transition)
        self._learner, self._actor = self._rule.absorb(
            self._key, self._learner, self._actor, seen, seen.next_obs, np.int32(step - 1)
        )
        if trained > 0 and trained % self.dqn.update_every == 0:
            self._learner = self._rule.learn(self._key, self._learner, np.int32(step))

    def exploit(self, obs: Any) -> int:
        action = self._rule.exploit(self._key, self._learner, self._actor.carry, self._look(obs), np.int32(0))
        return int(to_space(self._actions, np.asarray(action)))

    def arrays(self) -> Arrays:
        return arrays_of((self._learner, self._actor))

    def restore(self, arrays: Arrays) -> None:
        self._learner, self._actor = tree_of(arrays, (self._learner, self._actor))

    def _look(self, obs: Any) -> Any:
        obs = np.asarray(obs)
        return np.int32(obs - self._first_state) if obs.ndim == 0 else obs.astype(np.float32).ravel()

    def _transition(self, given: Transition) -> Transition:
        return Transition(
            self._look(given.obs),
            np.int32(given.action - self._actions.start),
            np.float32(given.reward),
            self._look(given.next_obs),
            np.bool_(given.terminated),
            np.bool_(given.truncated),
            given.cost,
        )


_compiled: dict[Rules, Rules] = {}


def _jitted(rule: Rules) -> Rules:
    """Its functions compiled, each with a key of its own for every step; equal agents share them."""

    def keyed(number: int, function: Any) -> Any:
        return lambda key, learner, *rest: function(
            jax.random.fold_in(jax.random.fold_in(key, number), rest[-1]), learner, *rest
        )

    if rule not in _compiled:
        _compiled[rule] = Rules(
            init=jax.jit(rule.init),
            decide=jax.jit(keyed(0, rule.decide)),
            absorb=jax.jit(keyed(1, rule.absorb), donate_argnums=1),  # the replay in place
            learn=jax.jit(keyed(2, rule.learn), donate_argnums=1),
            synchronise=jax.jit(rule.synchronise),
            exploit=jax.jit(keyed(3, rule.exploit)),
        )
    return _compiled[rule]


def _own(tree: Any) -> Any:
    """Every leaf a buffer of its own: two that were one could not both be given away."""
    return jax.tree.map(jnp.copy, tree)
