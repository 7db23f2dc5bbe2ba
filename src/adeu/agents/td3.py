"""TD3: an actor and several critics, as pure functions; `td3_host` plays them in Gymnasium's environments.

a ~ D(pi(s), g(f(s))), the first `warmup` actions uniform
after every `policy_delay` steps, in one compiled call:
    critics <- Adam's step towards  r + gamma * min(Q'_i, Q'_j)(s', pi'(s') + clipped noise)   (policy_delay times)
    actor   <- Adam's step up       Q_1(s, pi(s))
    targets <- their own step towards both
"""

from __future__ import annotations

import dataclasses
import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from adeu.agents import actor_critic as nets
from adeu.core import check
from adeu.core.contract import Array, Carry, Decision, Key, Mechanism, State, Transition
from adeu.core.explorer import Explorer
from adeu.mechanisms.cost import check_no_costs


@dataclasses.dataclass(frozen=True)
class Td3:
    """Twin delayed deep deterministic policy gradient, in a Box of bounded actions.

        y = r + gamma * min(Q'_i, Q'_j)(s', clip(pi'(s') + clip(policy_noise * N(0, I), -noise_clip, noise_clip)))

    Networks see actions scaled to [-1, 1], in which the noise of y counts too. A step that a time limit cut off is
    bootstrapped like any other, a terminal one is not.

    Args:
        explorer: f, g and D. The center is pi(s), or what `acting` makes of it.
        hidden: the sizes of the hidden layers, of actor and critics alike.
        learning_rate: of both Adams.
        gamma: the discount, in [0, 1].
        tau: how far targets follow in one step, in (0, 1].
        policy_noise: of the target's action.
        noise_clip: where that noise is clipped.
        policy_delay: critic updates per actor update; environment steps per call of both.
        capacity: how many transitions the replay holds.
        batch: how many an update takes.
        warmup: steps of uniform actions before the first update.
        critics: how many, K >= 2. Of more than two, the target is the minimum over a pair drawn for each update.
        acting: the center: "policy", pi(s); "ucb", of `candidates` normal draws around pi(s) and pi(s) itself the one
            with the highest Q_mean + ucb * Q_std; "noisy", pi(s) with noisy weights, drawn at each step.
        ucb: lambda.
        candidates: how many.
        candidate_spread: their standard deviation, in half ranges.
        bonus: an intrinsic reward, added to the reward of a transition: what this f says of its next observation,
            when it is learned from. It learns there, too.
        gated: after the warmup, a transition enters the replay with probability g(f(s))/max g, so that what is known
            already does not fill it; not in a compiled loop.
        weighted: in the losses of critics and actor a transition counts g(f(s))/max g, by f as it is when it is
            learned from, outside rollout episodes.
        evaluate_every: steps per evaluation in a compiled loop, a multiple of `policy_delay`.
        evaluate_episodes: greedy episodes in one.
        evaluate_steps: after so many steps such an episode is cut.

    Examples:
        >>> import adeu
        >>> from adeu.agents import Td3
        >>> td3 = Td3(adeu.Explorer(adeu.Constant(0.1), adeu.Identity(), adeu.Gaussian()))
        >>> td3.policy_delay, td3.critics
        (2, 2)

    Reference: Fujimoto et al., "Addressing Function Approximation Error in Actor-Critic Methods", 2018; a pair of
    many critics: Chen et al., "Randomized Ensembled Double Q-Learning", 2021.
    Paper: Table 4.
    """

    explorer: Explorer
    hidden: tuple[int, ...] = (256, 256)
    learning_rate: float = 3e-4
    gamma: float = 0.99
    tau: float = 0.005
    policy_noise: float = 0.2
    noise_clip: float = 0.5
    policy_delay: int = 2
    capacity: int = 1_000_000
    batch: int = 256
    warmup: int = 25_000
    critics: int = 2
    acting: str = "policy"
    ucb: float = 10.0
    candidates: int = 32
    candidate_spread: float = 0.2
    bonus: Mechanism | None = None
    gated: bool = False
    weighted: bool = False
    evaluate_every: int = 5_000
    evaluate_episodes: int = 10
    evaluate_steps: int = 1_000

    def __post_init__(self) -> None:
        check.instance(self, "explorer", Explorer)
        check.frozen(self, "hidden")
        if not (
            isinstance(self.hidden, tuple) and self.hidden and all(type(n) is int and n > 0 for n in self.hidden)
        ):
            check.refuse(self, "hidden", "the sizes of the hidden layers, such as (256, 256)", self.hidden)
        for argument in ("batch", "policy_delay", "candidates", "evaluate_episodes", "evaluate_steps"):
            check.whole(self, argument)
        check.whole(self, "evaluate_every")
        if self.evaluate_every % self.policy_delay:
            takes = f"a multiple of policy_delay={self.policy_delay}"
            check.refuse(self, "evaluate_every", takes, self.evaluate_every)
        check.whole(self, "warmup", at_least=self.policy_delay)
        check.whole(self, "capacity", at_least=self.batch)
        check.whole(self, "critics", at_least=2)
        check.number(self, "gamma", at_least=0, at_most=1)
        check.number(self, "tau", above=0, at_most=1)
        check.number(self, "learning_rate", above=0)
        for argument in ("policy_noise", "noise_clip", "ucb", "candidate_spread"):
            check.number(self, argument, at_least=0)
        check.one_of(self, "acting", ("policy", "ucb", "noisy"))
        if self.bonus is not None:
            check.instance(self, "bonus", Mechanism)
            self._remembers_nothing("bonus", self.bonus)
            check_no_costs(self, "bonus", self.bonus)
            if "observe" in self.bonus.learns_from:
                check.refuse(self, "bonus", "an f that learns from batches alone, such as Rnd", self.bonus)
        if self.weighted:
            self._remembers_nothing("weighted", self.explorer.f)
        for argument in ("gated", "weighted"):
            if getattr(self, argument) and not self.explorer.g.ceiling:
                takes = f"False with g={self.explorer.g}, which has no largest value"
                check.refuse(self, argument, takes, getattr(self, argument))

    def _remembers_nothing(self, argument: str, f: Mechanism) -> None:
        """A batch has no episodes to remember something of."""
        if f.remembers:
            check.refuse(self, argument, "an f that carries nothing from step to step", f)

    @property
    def update_every(self) -> int:
        return self.policy_delay

    @property
    def target_every(self) -> int:
        return self.policy_delay

    def fit(self, observation_space: Any, action_space: Any) -> tuple[Td3, Any]:
        from adeu.agents.td3_loop import scan_rules

        if self.gated:
            check.refuse(self, "gated", "False in a compiled loop", self.gated)
        fitted, rule = bound(self, observation_space, action_space)
        return fitted, scan_rules(fitted, rule)


class Learner(NamedTuple):
    """All that is learned."""

    actor: Any
    critics: nets.Layers
    actor_target: Any
    critics_target: nets.Layers
    actor_adam: nets.Adam
    critics_adam: nets.Adam
    f: State
    bonus: State


class Acting(NamedTuple):
    """What a decision needs of a learner."""

    actor: Any
    critics: nets.Layers
    f: State


class Rules(NamedTuple):
    """The agent's pure functions, for an environment's sizes and range of actions."""

    scaled: Any
    init: Any
    decide: Any
    exploit: Any
    td_error: Any
    learn: Any
    update: Any


@functools.lru_cache(maxsize=64)
def rules(td3: Td3, inputs: int, low: tuple[float, ...], high: tuple[float, ...]) -> Rules:
    explorer, actions, K = td3.explorer, len(low), td3.critics
    middle, half = (np.array(high) + np.array(low)) / 2, (np.array(high) - np.array(low)) / 2

    def init(key: Key, obs: Array) -> Learner:
        key_actor, key_critics, key_f, key_bonus = jax.random.split(key, 4)
        sizes = (inputs, *td3.hidden, actions)
        actor = nets.init_noisy(key_actor, sizes, 0.5) if td3.acting == "noisy" else nets.init_actor(key_actor, sizes)
        critics = nets.init_critics(key_critics, K, (inputs + actions, *td3.hidden, 1))
        bonus = () if td3.bonus is None else td3.bonus.init(key_bonus, obs)
        f = explorer.init(key_f, obs)
        return Learner(actor, critics, actor, critics, nets.adam_init(actor), nets.adam_init(critics), f, bonus)

    def to_env(action: Array) -> Array:
        return jnp.asarray(middle, float) + jnp.asarray(half, float) * action

    def scaled(action: Array) -> Array:
        return (action - jnp.asarray(middle, float)) / jnp.asarray(half, float)

    def candidate(key: Key, critics: nets.Layers, obs: Array, best: Array) -> Array:
        around = td3.candidate_spread * jax.random.normal(key, (td3.candidates, actions))
        tried = jnp.concatenate([best[None], jnp.clip(best + around, -1.0, 1.0)])
        q = nets.values(critics, jnp.broadcast_to(obs, (len(tried), inputs)), tried)
        return tried[jnp.argmax(jnp.mean(q, axis=0) + td3.ucb * jnp.std(q, axis=0))]

    def decide(
        key: Key, acting: Acting, carry: Carry, obs: Array, step: Array, offered: dict[str, Array]
    ) -> tuple[Decision, Carry]:
        """The action, in the environment's own range. `offered` goes to f as it is."""
        key_weights, key_tried, key_act, key_uniform = jax.random.split(key, 4)
        best = center = nets.policy(nets.mean_of(acting.actor), obs[None])[0]
        if td3.acting == "noisy":
            center = nets.policy(nets.draw(key_weights, acting.actor), obs[None])[0]
        if td3.acting == "ucb":
            center = candidate(key_tried, acting.critics, obs, best)
        q = nets.values(acting.critics, obs[None], center[None])[:, 0]
        given = {"q_values": q, "step": step} | offered
        decision, carry = explorer.act(key_act, acting.f, carry, obs, to_env(center), **given)
        uniform = to_env(jax.random.uniform(key_uniform, (actions,), minval=-1.0))
        early = step < td3.warmup
        explored = early | decision.explored | jnp.any(center != best)
        return decision._replace(action=jnp.where(early, uniform, decision.action), explored=explored), carry

    def exploit(key: Key, acting: Acting, carry: Carry, obs: Array, step: Array, offered: dict[str, Array]) -> Array:
        center = nets.policy(nets.mean_of(acting.actor), obs[None])[0]
        q = nets.values(acting.critics, obs[None], center[None])[:, 0]
        given = {"q_values": q, "step": step} | offered
        return explorer.exploit(key, acting.f, carry, obs, to_env(center), **given).action

    def targets(key: Key, learner: Learner, batch: Transition, noise: Array) -> Array:
        """What the critics are to say of a batch, y: (batch,)."""
        key_weights, key_pair, key_bonus, key_begin = jax.random.split(key, 4)
        next_action = nets.policy(nets.draw(key_weights, learner.actor_target), batch.next_obs)
        smoothing = jnp.clip(td3.policy_noise * noise, -td3.noise_clip, td3.noise_clip)
        next_action = jnp.clip(next_action + smoothing, -1.0, 1.0)
        critics = learner.critics_target
        if K > 2:
            critics = nets.some(critics, jax.random.choice(key_pair, K, (2,), replace=False))
        q = jnp.min(nets.values(critics, batch.next_obs, next_action), axis=0)
        reward = batch.reward
        if td3.bonus is not None:
            carry = td3.bonus.ask(td3.bonus.begin(key_begin))
            measure = functools.partial(td3.bonus.measure, key_bonus, learner.bonus, carry)
            reward = reward + jax.vmap(measure)(batch.next_obs)[0]
        return reward + td3.gamma * jnp.where(batch.terminated, 0.0, q)

    def importance(key: Key, learner: Learner, obs: Array, step: Array) -> Array:
        """How much each observation of a batch counts in a loss."""
        if not td3.weighted:
            return jnp.ones(())
        key_begin, key_measure = jax.random.split(key)
        f = explorer.f
        center = nets.policy(nets.mean_of(learner.actor), obs)
        q = nets.values(learner.critics, obs, center)

        def measure(obs: Array, center: Array, q: Array) -> Array:
            given = {"q_values": q, "step": step, "explored": jnp.zeros((), bool), "center": to_env(center)}
            return f.measure(key_measure, learner.f.f, f.ask(f.begin(key_begin)), obs, **given)[0]

        largest: Any = explorer.g.ceiling
        return jax.lax.stop_gradient(explorer.g(jax.vmap(measure, (0, 0, 1))(obs, center, q)) / largest)

    def improve_critics(
        key_target: Key, key_weight: Key, learner: Learner, batch: Transition, noise: Array, step: Array
    ) -> Learner:
        y = jax.lax.stop_gradient(targets(key_target, learner, batch, noise))
        weight = importance(key_weight, learner, batch.obs, step)

        def loss(critics: nets.Layers) -> tuple[Array, Array]:
            td_error = y - nets.values(critics, batch.obs, batch.action)
            return jnp.sum(jnp.mean(weight * td_error**2, axis=1)), jnp.mean(td_error, axis=0)

        gradient, td_error = jax.grad(loss, has_aux=True)(learner.critics)
        critics, adam = nets.descend(learner.critics, gradient, learner.critics_adam, td3.learning_rate)
        seen = batch._replace(action=to_env(batch.action))
        f = explorer.update(learner.f, seen, step=step, td_error=td_error)
        bonus = learner.bonus
        if td3.bonus is not None:  # it learns where it pays
            bonus = td3.bonus.update(bonus, seen._replace(obs=batch.next_obs), step=step)
        return learner._replace(critics=critics, critics_adam=adam, f=f, bonus=bonus)

    def improve_actor(key_draw: Key, key_weight: Key, learner: Learner, batch: Transition, step: Array) -> Learner:
        first = nets.some(learner.critics, slice(0, 1))
        weight = importance(key_weight, learner, batch.obs, step)

        def loss(actor: Any) -> Array:
            q = nets.values(first, batch.obs, nets.policy(nets.draw(key_draw, actor), batch.obs))
            return -jnp.mean(weight * q)

        gradient = jax.grad(loss)(learner.actor)
        actor, adam = nets.descend(learner.actor, gradient, learner.actor_adam, td3.learning_rate)
        return learner._replace(
            actor=actor,
            actor_adam=adam,
            actor_target=nets.follow(learner.actor_target, actor, td3.tau),
            critics_target=nets.follow(learner.critics_target, learner.critics, td3.tau),
        )

    def learn(key: Key, learner: Learner, batches: Transition, noise: Array, step: Array) -> Learner:
        """`policy_delay` batches, stacked, with actions within [-1, 1]; `noise` is the normal noise of their y."""
        keys, keys_weight = jax.random.split(key, (2, td3.policy_delay + 1))
        for number in range(td3.policy_delay):
            batch = jax.tree.map(lambda value, number=number: value[number], batches)
            learner = improve_critics(keys[number], keys_weight[number], learner, batch, noise[number], step)
        return improve_actor(keys[-1], keys_weight[-1], learner, batch, step)

    def update(key: Key, learner: Learner, batches: Transition, step: Array) -> Learner:
        key_noise, key_learn = jax.random.split(key)
        return learn(key_learn, learner, batches, jax.random.normal(key_noise, batches.action.shape), step)

    def td_error(key: Key, learner: Learner, transition: Transition) -> Array:
        """Of a single transition, for an f that asks for it; its action within [-1, 1]."""
        batch = jax.tree.map(lambda value: jnp.asarray(value)[None], transition._replace(cost=None))
        y = targets(key, learner, batch, jnp.zeros_like(batch.action))
        return jnp.mean(y - nets.values(learner.critics, batch.obs, batch.action))

    return Rules(scaled, init, decide, exploit, td_error, learn, update)


def bound(td3: Td3, observation_space: Any, action_space: Any) -> tuple[Td3, Rules]:
    """The agent for these spaces, refused before anything is compiled where it does not fit."""
    from gymnasium.spaces import Box

    for name, space in (("observation space", observation_space), ("action space", action_space)):
        if not isinstance(space, Box) or len(space.shape) != 1:
            check.refuse(td3, name, "a Box of one dimension", space)
    if not (np.isfinite(action_space.low).all() and np.isfinite(action_space.high).all()):
        check.refuse(td3, "action space", "a bounded Box", action_space)
    fitted = dataclasses.replace(td3, explorer=td3.explorer.bind(observation_space, action_space))
    check_no_costs(td3, "explorer", fitted.explorer)
    low, high = (tuple(map(float, bound)) for bound in (action_space.low, action_space.high))
    return fitted, rules(fitted, observation_space.shape[0], low, high)
