"""SAC: a stochastic actor with several critics, which maximises reward and entropy.

every step, in one call of `learn`:
    temperature <- Adam step towards the target entropy
    critics     <- Adam step towards  r + gamma * (min_i Q'_i(s', a') - alpha * log pi(a'|s')),   a' ~ pi(.|s')
    actor       <- Adam step up       min_i Q_i(s, a) - alpha * log pi(a|s),                       a ~ pi(.|s)
    targets     <- a step of tau towards the critics
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, ClassVar, Literal, NamedTuple

import jax
import jax.numpy as jnp

from adeu.agents import keys
from adeu.agents.agent import Agent, Cadence, Coins, Hook
from adeu.agents.spaces import Spaces, box_spaces, random_action, scale_action, unscale_action
from adeu.core import check
from adeu.core import networks as nets
from adeu.core.contract import Array, Decision, Key, Transition
from adeu.core.explorer import ExplorerCarry, ExplorerState

SMALLEST, LARGEST = -20.0, 2.0
"""The bounds of the logarithm of pi's standard deviation."""
TINY = 1e-6


class SacLearned(NamedTuple):
    actor: nets.Layers
    """The last layer outputs the means, then the logarithms of the standard deviations."""
    critics: nets.Layers
    critics_target: nets.Layers
    actor_adam: nets.Adam[nets.Layers]
    critics_adam: nets.Adam[nets.Layers]
    log_temperature: Array
    temperature_adam: nets.Adam[Array]
    explorer: ExplorerState


class SacActing(NamedTuple):
    actor: nets.Layers
    critics: nets.Layers
    explorer: ExplorerState


class SacRow(NamedTuple):
    obs: Array
    action: Array
    """Scaled to [-1, 1]."""
    reward: Array
    next_obs: Array
    terminated: Array


@dataclasses.dataclass(frozen=True)
class Sac(Agent[SacLearned, SacActing, SacRow, ExplorerCarry]):
    """Soft actor-critic, in a bounded Box of actions.

        y = r + gamma * (min_i Q'_i(s', a') - alpha * log pi(a'|s')),  a' = tanh(mu(s') + sigma(s') * N(0, I))

    Networks see actions scaled to [-1, 1]. Truncated steps are bootstrapped, terminal steps are not.
    During the warm-up, actions are uniform.

    Args:
        explorer: f, g and D, which explore around the center.
        capacity: the maximum number of transitions in the replay.
        batch: the number of transitions per update.
        hidden: the sizes of the hidden layers, for actor and critics.
        learning_rate: the learning rate of actor, critics and temperature.
        gamma: the discount, in [0, 1].
        tau: the step of the soft target update, in (0, 1].
        critics: the number of critics, at least 2. The target uses the minimum over all of them.
        center: "mean" is tanh(mu(s)), so that only the explorer explores; "sample" is a draw from pi(.|s), so that D
            adds noise to the policy's own.
        temperature: alpha; "auto" starts at 1 and learns it.
        target_entropy: the target for a learned temperature; the default is minus the number of action dimensions.
        update_every: environment steps per update.

    Examples:
        >>> import adeu
        >>> from adeu.agents import Sac
        >>> sac = Sac(adeu.Explorer(adeu.Constant(0.0), adeu.Identity(), adeu.Gaussian()), center="sample")
        >>> sac.critics, sac.temperature
        (2, 'auto')

    Reference: Haarnoja et al., "Soft Actor-Critic Algorithms and Applications", 2018.
    """

    capacity: int = 1_000_000
    batch: int = 256
    hidden: tuple[int, ...] = (256, 256)
    learning_rate: float = 3e-4
    gamma: float = 0.99
    tau: float = 0.005
    critics: int = 2
    center: Literal["mean", "sample"] = "mean"
    temperature: float | Literal["auto"] = "auto"
    target_entropy: float | None = None
    update_every: int = 1

    offers: ClassVar[Mapping[Hook, frozenset[str]]] = {
        "act": frozenset({"q_values"}),
        "observe": frozenset({"td_error", "cost"}),
        "update": frozenset({"td_error"}),
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        nets.check_sizes(self, "hidden")
        check.whole(self, "critics", at_least=2)
        check.whole(self, "update_every")
        check.number(self, "gamma", at_least=0, at_most=1)
        check.number(self, "tau", above=0, at_most=1)
        check.number(self, "learning_rate", above=0)
        check.one_of(self, "center", ("mean", "sample"))
        if isinstance(self.temperature, str):
            check.one_of(self, "temperature", ("auto",))
        else:
            check.number(self, "temperature", at_least=0)
        if self.target_entropy is not None:
            check.number(self, "target_entropy")

    @property
    def cadence(self) -> Cadence:
        return Cadence(self.update_every, 1, target_every=0)

    def read_spaces(self, observation_space: object, action_space: object) -> Spaces:
        return box_spaces(self, observation_space, action_space)

    def init(self, key: Key, obs: Array) -> SacLearned:
        key_actor, key_critics, key_explorer = keys.split(key, 3)
        inputs, _, actions, *_ = self.sized
        actor = nets.init_layers(key_actor, (inputs, *self.hidden, 2 * actions))
        critics = nets.init_critics(key_critics, self.critics, (inputs + actions, *self.hidden, 1))
        adams = nets.adam_init(actor), nets.adam_init(critics)
        log_temperature = jnp.zeros(())
        learned = nets.adam_init(log_temperature)
        explorer = self.explorer.init(key_explorer, obs)
        return SacLearned(actor, critics, critics, *adams, log_temperature, learned, explorer)

    def begin(self, key: Key, carry: ExplorerCarry | None = None) -> ExplorerCarry:
        return self.explorer.begin(key, carry)

    def acting(self, learned: SacLearned) -> SacActing:
        return SacActing(learned.actor, learned.critics, learned.explorer)

    def decide(
        self, key: Key, acting: SacActing, carry: ExplorerCarry, obs: Array, step: Array, early: Array, **given: Any
    ) -> tuple[Decision, ExplorerCarry]:
        key_sample, key_act, key_uniform = keys.split(key, 3)
        best = center = mean_action(acting.actor, obs)
        if self.center == "sample":
            center, _ = sample(acting.actor, obs, jax.random.normal(key_sample, best.shape))
        q = nets.values(acting.critics, obs[None], center[None])[:, 0]
        decision, carry = self.explorer.act(
            key_act, acting.explorer, carry, obs, unscale_action(self.sized, center), q_values=q, step=step, **given
        )
        action = jnp.where(early, random_action(self.sized, key_uniform), decision.action)
        explored = early | decision.explored | jnp.any(center != best)
        deviation = self.explorer.D.deviation(action, unscale_action(self.sized, best))
        return decision._replace(action=action, explored=explored, deviation=deviation), carry

    def exploit(
        self, key: Key, acting: SacActing, carry: ExplorerCarry, obs: Array, step: Array, **given: Any
    ) -> Array:
        center = mean_action(acting.actor, obs)
        q = nets.values(acting.critics, obs[None], center[None])[:, 0]
        greedy = self.explorer.exploit(
            key, acting.explorer, carry, obs, unscale_action(self.sized, center), q_values=q, step=step, **given
        )
        return jnp.asarray(greedy.action)

    def row(self, coins: Coins, transition: Transition, decision: Decision) -> tuple[SacRow, Array | bool]:
        action: Array = scale_action(self.sized, transition.action)
        return SacRow(transition.obs, action, transition.reward, transition.next_obs, transition.terminated), True

    def seen(self, batch: SacRow) -> Transition:
        return super().seen(batch)._replace(action=unscale_action(self.sized, batch.action))

    def absorb(self, key: Key, learned: SacLearned, transition: Transition, step: Array) -> SacLearned:
        row, _ = self.row(None, transition, Decision(None, None, None, None))
        one = SacRow(*(jnp.asarray(value)[None] for value in row))
        y = self._targets(learned, one, jax.random.normal(key, one.action.shape), self._temperature(learned))
        td_error = jnp.mean(y - nets.values(learned.critics, one.obs, one.action))  # compiled away if unused
        explorer = self.explorer.observe(learned.explorer, transition, step=step, td_error=td_error)
        return learned._replace(explorer=explorer)

    def learn(self, key: Key, learned: SacLearned, batches: SacRow, step: Array) -> SacLearned:
        batch = SacRow(*(value[0] for value in batches))
        return self.improve(learned, batch, jax.random.normal(key, (2, *batch.action.shape)), step)

    def improve(self, learned: SacLearned, batch: SacRow, noise: Array, step: Array) -> SacLearned:
        """Does the update of `learn` with given normal noise: `noise[0]` for actions at s, `noise[1]` at s'."""
        temperature = self._temperature(learned)
        y = self._targets(learned, batch, noise[1], temperature)
        # The temperature and the actor learn from the same noise, before the actor is updated.
        _, log_prob = sample(learned.actor, batch.obs, noise[0])
        learned = self._improve_temperature(learned, log_prob)
        learned, td_error = self._improve_critics(learned, batch, y)
        learned = self._improve_actor(learned, batch.obs, noise[0], temperature)
        explorer = self.explorer.update(learned.explorer, self.seen(batch), step=step, td_error=td_error)
        return learned._replace(explorer=explorer)

    def _temperature(self, learned: SacLearned) -> Array:
        learns = self.temperature == "auto"
        return jnp.exp(learned.log_temperature) if learns else jnp.asarray(self.temperature, float)

    def _targets(self, learned: SacLearned, batch: SacRow, noise: Array, temperature: Array) -> Array:
        """Returns the targets y of a batch: (batch,)."""
        action, log_prob = sample(learned.actor, batch.next_obs, noise)
        q = jnp.min(nets.values(learned.critics_target, batch.next_obs, action), axis=0) - temperature * log_prob
        return jnp.asarray(batch.reward + self.gamma * jnp.where(batch.terminated, 0.0, q))

    def _improve_temperature(self, learned: SacLearned, log_prob: Array) -> SacLearned:
        if self.temperature != "auto":
            return learned
        target = -float(self.sized.actions) if self.target_entropy is None else self.target_entropy
        gradient = -jnp.mean(log_prob + target)
        log_temperature, adam = nets.adam_step(
            learned.log_temperature, gradient, learned.temperature_adam, self.learning_rate
        )
        return learned._replace(log_temperature=log_temperature, temperature_adam=adam)

    def _improve_critics(self, learned: SacLearned, batch: SacRow, y: Array) -> tuple[SacLearned, Array]:
        def loss(critics: nets.Layers) -> tuple[Array, Array]:
            td_error = y - nets.values(critics, batch.obs, batch.action)
            return 0.5 * jnp.sum(jnp.mean(td_error**2, axis=1)), jnp.mean(td_error, axis=0)

        gradient, td_error = nets.gradient(loss, learned.critics)
        critics, adam = nets.adam_step(learned.critics, gradient, learned.critics_adam, self.learning_rate)
        target = nets.follow(learned.critics_target, critics, self.tau)
        return learned._replace(critics=critics, critics_adam=adam, critics_target=target), td_error

    def _improve_actor(self, learned: SacLearned, obs: Array, noise: Array, temperature: Array) -> SacLearned:
        def loss(actor: nets.Layers) -> Array:
            action, log_prob = sample(actor, obs, noise)
            return jnp.mean(temperature * log_prob - jnp.min(nets.values(learned.critics, obs, action), axis=0))

        actor, adam = nets.descend(loss, learned.actor, learned.actor_adam, self.learning_rate)
        return learned._replace(actor=actor, actor_adam=adam)


def mean_action(actor: nets.Layers, obs: Array) -> Array:
    """Returns tanh(mu(s))."""
    mean, _ = jnp.split(nets.apply(actor, obs), 2, axis=-1)
    return jnp.tanh(mean)


def sample(actor: nets.Layers, obs: Array, noise: Array) -> tuple[Array, Array]:
    """Returns the action in [-1, 1] for this normal noise, and its log-probability under pi(.|s)."""
    mean, log_std = jnp.split(nets.apply(actor, obs), 2, axis=-1)
    log_std = jnp.clip(log_std, SMALLEST, LARGEST)
    action = jnp.tanh(mean + jnp.exp(log_std) * noise)
    normal = -0.5 * noise**2 - log_std - 0.5 * jnp.log(2 * jnp.pi)
    return action, jnp.sum(normal - jnp.log(1 - action**2 + TINY), axis=-1)
