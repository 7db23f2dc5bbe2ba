"""TD3: a deterministic actor with several critics.

every `policy_delay` steps, in one call of `learn`:
    critics <- Adam step towards  r + gamma * min(Q'_i, Q'_j)(s', pi'(s') + clipped noise)   (policy_delay times)
    actor   <- Adam step up       Q_1(s, pi(s))
    targets <- a step of tau towards both
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping
from typing import Any, ClassVar, Literal, NamedTuple

import jax
import jax.numpy as jnp

from adeu.agents import keys
from adeu.agents.agent import Agent, Cadence, Coins, Hook
from adeu.agents.spaces import Spaces, box_spaces, random_action, scale_action, unscale_action
from adeu.core import check
from adeu.core import networks as nets
from adeu.core.contract import Array, Decision, Key, Mechanism, State, Transition
from adeu.core.explorer import ExplorerCarry, ExplorerState


class Td3Learned(NamedTuple):
    actor: nets.Layers | nets.Noisy
    critics: nets.Layers
    actor_target: nets.Layers | nets.Noisy
    critics_target: nets.Layers
    actor_adam: nets.Adam[nets.Layers | nets.Noisy]
    critics_adam: nets.Adam[nets.Layers]
    explorer: ExplorerState
    bonus: State


class Td3Acting(NamedTuple):
    actor: nets.Layers | nets.Noisy
    critics: nets.Layers
    explorer: ExplorerState


class Td3Row(NamedTuple):
    obs: Array
    action: Array
    """Scaled to [-1, 1]."""
    reward: Array
    next_obs: Array
    terminated: Array


@dataclasses.dataclass(frozen=True)
class Td3(Agent[Td3Learned, Td3Acting, Td3Row, ExplorerCarry]):
    """Twin delayed deep deterministic policy gradient, in a bounded Box of actions.

        y = r + gamma * min(Q'_i, Q'_j)(s', clip(pi'(s') + clip(policy_noise * N(0, I), -noise_clip, noise_clip)))

    Networks and the noise of y use actions scaled to [-1, 1]. Truncated steps are bootstrapped, terminal steps are
    not. During the warm-up, actions are uniform.

    Args:
        explorer: f, g and D. `center` selects the action they explore around.
        capacity: the maximum number of transitions in the replay.
        batch: the number of transitions per update.
        hidden: the sizes of the hidden layers, for actor and critics.
        learning_rate: the learning rate of actor and critics.
        gamma: the discount, in [0, 1].
        tau: the step of the soft target update, in (0, 1].
        policy_noise: the standard deviation of the noise on the target's action.
        noise_clip: the bound at which that noise is clipped.
        policy_delay: critic updates per actor update; `learn` is called every `policy_delay` environment steps.
        critics: the number of critics, at least 2. With more than two, the target uses the minimum over a pair drawn
            for each update.
        center: "policy" is pi(s); "ucb" is the action with the highest Q_mean + ucb * Q_std among pi(s) and
            `candidates` normal draws around it; "noisy" is pi(s) with noisy weights, drawn at each step.
        ucb: the weight of Q_std in "ucb".
        candidates: the number of draws for "ucb".
        candidate_spread: the standard deviation of these draws, in half action ranges.
        bonus: an f for intrinsic rewards: in updates, its value at the next observation is added to the reward. It
            learns from the same batches.
        gated: whether, after the warm-up, a transition enters the replay with probability g(f(s))/max g, so that
            known transitions do not fill it.
        weighted: whether the losses weight each transition by g(f(s))/max g, with the current f as it is outside
            rollout episodes.

    Examples:
        >>> import adeu
        >>> from adeu.agents import Td3
        >>> td3 = Td3(adeu.Explorer(adeu.Constant(0.1), adeu.Identity(), adeu.Gaussian()))
        >>> td3.policy_delay, td3.critics
        (2, 2)

    Reference: Fujimoto et al., "Addressing Function Approximation Error in Actor-Critic Methods", 2018; a pair of
    many critics: Chen et al., "Randomized Ensembled Double Q-Learning", 2021.
    Paper: Table 5.
    """

    capacity: int = 1_000_000
    batch: int = 256
    hidden: tuple[int, ...] = (256, 256)
    learning_rate: float = 3e-4
    gamma: float = 0.99
    tau: float = 0.005
    policy_noise: float = 0.2
    noise_clip: float = 0.5
    policy_delay: int = 2
    critics: int = 2
    center: Literal["policy", "ucb", "noisy"] = "policy"
    ucb: float = 10.0
    candidates: int = 32
    candidate_spread: float = 0.2
    bonus: Mechanism | None = None
    gated: bool = False
    weighted: bool = False

    offers: ClassVar[Mapping[Hook, frozenset[str]]] = {
        "act": frozenset({"q_values"}),
        "observe": frozenset({"td_error", "cost"}),
        "update": frozenset({"td_error"}),
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        nets.check_sizes(self, "hidden")
        for argument in ("policy_delay", "candidates"):
            check.whole(self, argument)
        check.whole(self, "critics", at_least=2)
        check.number(self, "gamma", at_least=0, at_most=1)
        check.number(self, "tau", above=0, at_most=1)
        check.number(self, "learning_rate", above=0)
        for argument in ("policy_noise", "noise_clip", "ucb", "candidate_spread"):
            check.number(self, argument, at_least=0)
        check.one_of(self, "center", ("policy", "ucb", "noisy"))
        if self.bonus is not None:
            self._check_bonus(self.bonus)
        if self.weighted and self.explorer.f.remembers:
            check.refuse(self, "weighted", "an f that carries nothing from step to step", self.explorer.f)
        for argument in ("gated", "weighted"):
            if getattr(self, argument) and not self.explorer.g.ceiling:
                takes = f"False with g={self.explorer.g}, which has no upper bound"
                check.refuse(self, argument, takes, getattr(self, argument))

    def _check_bonus(self, bonus: Mechanism) -> None:
        check.instance(self, "bonus", Mechanism)
        if bonus.remembers:
            check.refuse(self, "bonus", "an f that carries nothing from step to step", bonus)
        missing = bonus.needs("measure") | bonus.needs("update")
        if missing:
            check.refuse(self, "bonus", f"an f that needs no {', '.join(sorted(missing))}", bonus)
        if "observe" in bonus.learns_from:
            check.refuse(self, "bonus", "an f that learns only from batches, such as Rnd", bonus)

    @property
    def cadence(self) -> Cadence:
        return Cadence(self.policy_delay, self.policy_delay, target_every=0)

    @property
    def coins(self) -> int:
        return int(self.gated)

    def read_spaces(self, observation_space: object, action_space: object) -> Spaces:
        return box_spaces(self, observation_space, action_space)

    def init(self, key: Key, obs: Array) -> Td3Learned:
        key_actor, key_critics, key_explorer, key_bonus = keys.split(key, 4)
        inputs, _, actions, *_ = self.sized
        sizes = (inputs, *self.hidden, actions)
        noisy = self.center == "noisy"
        actor = nets.init_noisy(key_actor, sizes, 0.5) if noisy else nets.init_layers(key_actor, sizes)
        critics = nets.init_critics(key_critics, self.critics, (inputs + actions, *self.hidden, 1))
        bonus = () if self.bonus is None else self.bonus.init(key_bonus, obs)
        adams = nets.adam_init(actor), nets.adam_init(critics)
        return Td3Learned(actor, critics, actor, critics, *adams, self.explorer.init(key_explorer, obs), bonus)

    def begin(self, key: Key, carry: ExplorerCarry | None = None) -> ExplorerCarry:
        return self.explorer.begin(key, carry)

    def acting(self, learned: Td3Learned) -> Td3Acting:
        return Td3Acting(learned.actor, learned.critics, learned.explorer)

    def decide(
        self, key: Key, acting: Td3Acting, carry: ExplorerCarry, obs: Array, step: Array, early: Array, **given: Any
    ) -> tuple[Decision, ExplorerCarry]:
        key_weights, key_tried, key_act, key_uniform = keys.split(key, 4)
        best = center = policy(nets.mean_of(acting.actor), obs[None])[0]
        if self.center == "noisy":
            center = policy(nets.draw(key_weights, acting.actor), obs[None])[0]
        if self.center == "ucb":
            center = self._candidate(key_tried, acting.critics, obs, best)
        q = nets.values(acting.critics, obs[None], center[None])[:, 0]
        decision, carry = self.explorer.act(
            key_act, acting.explorer, carry, obs, unscale_action(self.sized, center), q_values=q, step=step, **given
        )
        action = jnp.where(early, random_action(self.sized, key_uniform), decision.action)
        explored = early | decision.explored | jnp.any(center != best)
        deviation = self.explorer.D.deviation(action, unscale_action(self.sized, best))
        return decision._replace(action=action, explored=explored, deviation=deviation), carry

    def exploit(
        self, key: Key, acting: Td3Acting, carry: ExplorerCarry, obs: Array, step: Array, **given: Any
    ) -> Array:
        center = policy(nets.mean_of(acting.actor), obs[None])[0]
        q = nets.values(acting.critics, obs[None], center[None])[:, 0]
        greedy = self.explorer.exploit(
            key, acting.explorer, carry, obs, unscale_action(self.sized, center), q_values=q, step=step, **given
        )
        return jnp.asarray(greedy.action)

    def row(self, coins: Coins, transition: Transition, decision: Decision) -> tuple[Td3Row, Array | bool]:
        action: Array = scale_action(self.sized, transition.action)
        enters = True if coins is None else coins[0] * self._ceiling < decision.spread
        row = Td3Row(transition.obs, action, transition.reward, transition.next_obs, transition.terminated)
        return row, enters

    def seen(self, batch: Td3Row) -> Transition:
        return super().seen(batch)._replace(action=unscale_action(self.sized, batch.action))

    def absorb(self, key: Key, learned: Td3Learned, transition: Transition, step: Array) -> Td3Learned:
        row, _ = self.row(None, transition, Decision(None, None, None, None))
        one = Td3Row(*(jnp.asarray(value)[None] for value in row))
        y = self._targets(key, learned, one, jnp.zeros_like(one.action))
        td_error = jnp.mean(y - nets.values(learned.critics, one.obs, one.action))  # compiled away if unused
        explorer = self.explorer.observe(learned.explorer, transition, step=step, td_error=td_error)
        return learned._replace(explorer=explorer)

    def learn(self, key: Key, learned: Td3Learned, batches: Td3Row, step: Array) -> Td3Learned:
        key_noise, key_improve = keys.split(key)
        return self.improve(key_improve, learned, batches, jax.random.normal(key_noise, batches.action.shape), step)

    def improve(self, key: Key, learned: Td3Learned, batches: Td3Row, noise: Array, step: Array) -> Td3Learned:
        """Does the update of `learn` with given normal noise for y."""
        keys_target, keys_weight = list[Array](jax.random.split(key, (2, self.policy_delay + 1)))
        for number in range(self.policy_delay):
            batch = Td3Row(*(value[number] for value in batches))
            learned = self._improve_critics(
                keys_target[number], keys_weight[number], learned, batch, noise[number], step
            )
        return self._improve_actor(keys_target[-1], keys_weight[-1], learned, batch, step)

    @property
    def _ceiling(self) -> float:
        return self.explorer.g.ceiling or 1.0

    def _candidate(self, key: Key, critics: nets.Layers, obs: Array, best: Array) -> Array:
        around = self.candidate_spread * jax.random.normal(key, (self.candidates, *best.shape))
        tried = jnp.concatenate([best[None], jnp.clip(best + around, -1.0, 1.0)])
        q = nets.values(critics, jnp.broadcast_to(obs, (len(tried), *obs.shape)), tried)
        return tried[jnp.argmax(jnp.mean(q, axis=0) + self.ucb * jnp.std(q, axis=0))]

    def _targets(self, key: Key, learned: Td3Learned, batch: Td3Row, noise: Array) -> Array:
        """Returns the targets y of a batch: (batch,)."""
        key_weights, key_pair, key_bonus, key_begin = keys.split(key, 4)
        next_action = policy(nets.draw(key_weights, learned.actor_target), batch.next_obs)
        smoothing = jnp.clip(self.policy_noise * noise, -self.noise_clip, self.noise_clip)
        next_action = jnp.clip(next_action + smoothing, -1.0, 1.0)
        critics = learned.critics_target
        if self.critics > 2:
            critics = nets.some(critics, jax.random.choice(key_pair, self.critics, (2,), replace=False))
        q = jnp.min(nets.values(critics, batch.next_obs, next_action), axis=0)
        reward = batch.reward
        if self.bonus is not None:
            measure = functools.partial(self.bonus.measure, key_bonus, learned.bonus, self.bonus.begin(key_begin))
            reward = reward + jax.vmap(measure)(batch.next_obs)[0]
        return jnp.asarray(reward + self.gamma * jnp.where(batch.terminated, 0.0, q))

    def _weight(self, key: Key, learned: Td3Learned, obs: Array, step: Array) -> Array:
        """Returns the weight of each observation of a batch in the losses."""
        if not self.weighted:
            return jnp.ones(())
        key_begin, key_measure = keys.split(key)
        f = self.explorer.f
        center = policy(nets.mean_of(learned.actor), obs)
        q = nets.values(learned.critics, obs, center)

        def measure(obs: Array, center: Array, q: Array) -> Array:
            given = {"q_values": q, "step": step, "explored": jnp.zeros((), bool)}
            given["center"] = unscale_action(self.sized, center)
            return f.measure(key_measure, learned.explorer.f, f.ask(f.begin(key_begin)), obs, **given)[0]

        uncertainty = jax.vmap(measure, (0, 0, 1))(obs, center, q)
        return jax.lax.stop_gradient(self.explorer.g(uncertainty) / self._ceiling)

    def _improve_critics(
        self, key_target: Key, key_weight: Key, learned: Td3Learned, batch: Td3Row, noise: Array, step: Array
    ) -> Td3Learned:
        y = jax.lax.stop_gradient(self._targets(key_target, learned, batch, noise))
        weight = self._weight(key_weight, learned, batch.obs, step)

        def loss(critics: nets.Layers) -> tuple[Array, Array]:
            td_error = y - nets.values(critics, batch.obs, batch.action)
            return jnp.sum(jnp.mean(weight * td_error**2, axis=1)), jnp.mean(td_error, axis=0)

        gradient, td_error = nets.gradient(loss, learned.critics)
        critics, adam = nets.adam_step(learned.critics, gradient, learned.critics_adam, self.learning_rate)
        seen = self.seen(batch)
        explorer = self.explorer.update(learned.explorer, seen, step=step, td_error=td_error)
        bonus = learned.bonus
        if self.bonus is not None:
            bonus = self.bonus.update(bonus, seen._replace(obs=batch.next_obs), step=step)
        return learned._replace(critics=critics, critics_adam=adam, explorer=explorer, bonus=bonus)

    def _improve_actor(
        self, key_draw: Key, key_weight: Key, learned: Td3Learned, batch: Td3Row, step: Array
    ) -> Td3Learned:
        first = nets.some(learned.critics, slice(0, 1))
        weight = self._weight(key_weight, learned, batch.obs, step)

        def loss(actor: nets.Layers | nets.Noisy) -> Array:
            q = nets.values(first, batch.obs, policy(nets.draw(key_draw, actor), batch.obs))
            return -jnp.mean(weight * q)

        actor, adam = nets.descend(loss, learned.actor, learned.actor_adam, self.learning_rate)
        return learned._replace(
            actor=actor,
            actor_adam=adam,
            actor_target=nets.follow(learned.actor_target, actor, self.tau),
            critics_target=nets.follow(learned.critics_target, learned.critics, self.tau),
        )


def policy(layers: nets.Layers, obs: Array) -> Array:
    """Returns pi(s), with actions in [-1, 1]."""
    return jnp.tanh(nets.apply(layers, obs))
