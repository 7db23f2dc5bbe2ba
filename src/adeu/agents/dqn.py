"""The DQN family: DQN, bootstrapped DQN, and UCB over an ensemble.

networks <- Adam step on the TD error of a minibatch; f learns from it too     (every `update_every` steps)
target networks <- networks                                                    (every `target_every` steps)
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, ClassVar, Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from adeu.agents import keys, lazy_adam
from adeu.agents.agent import Agent, Cadence, Coins, Hook
from adeu.agents.spaces import Spaces, discrete_spaces
from adeu.core import check
from adeu.core import networks as nets
from adeu.core.contract import Array, Decision, Key, Transition
from adeu.core.explorer import ExplorerCarry, ExplorerState
from adeu.mechanisms.constant import check_chance


class DqnLearned(NamedTuple):
    networks: nets.QNetworks
    target: nets.QNetworks
    prior: nets.QNetworks | None
    optimizer: lazy_adam.LazyAdam
    explorer: ExplorerState


class DqnActing(NamedTuple):
    networks: nets.QNetworks
    prior: nets.QNetworks | None
    optimizer: lazy_adam.LazyAdam
    """Needed to apply deferred updates to the rows that are read."""
    explorer: ExplorerState


class DqnCarry(NamedTuple):
    explorer: ExplorerCarry
    member: Array
    """The network that acts in this episode, if `center` is "sampled"."""


class DqnRow(NamedTuple):
    obs: Array
    action: Array
    reward: Array
    next_obs: Array
    terminated: Array
    mask: Array
    """(K,): which networks learn from this row."""


@dataclasses.dataclass(frozen=True)
class Dqn(Agent[DqnLearned, DqnActing, DqnRow, DqnCarry]):
    """DQN, bootstrapped DQN, or UCB over an ensemble, with Discrete actions.

        y = r + gamma * Q_target(s', argmax_a Q(s', a))  (double),  r + gamma * max_a Q_target(s', a)  (else)

    Truncated steps are bootstrapped, terminal steps are not.

    Args:
        explorer: f, g and D. The center is Q(s, .); with several networks, `center` selects it.
        capacity: the maximum number of transitions in the replay.
        batch: the number of transitions per update.
        hidden: the sizes of the hidden layers.
        learning_rate: the learning rate of Adam.
        gamma: the discount, in [0, 1].
        update_every: environment steps per update.
        target_every: environment steps per copy into the target network, a multiple of `update_every`.
        double: whether the network chooses the action that the target network evaluates (double DQN).
        loss: "huber" or "mse".
        ensemble: K, the number of networks, each with a target network.
        heads: whether the K networks share all layers but the last.
        center: with several networks, the Q-values to act on: their "mean", those of one network "sampled" for each
            episode (bootstrapped DQN), or "ucb" (mean + ucb * standard deviation).
        ucb: the weight of the standard deviation in "ucb".
        mask_probability: the probability that a network learns from a transition, in (0, 1].
        prior: the weight of a fixed random network that is added to each (randomised prior functions); 0 disables it.
        rows: if observations are state indices, the first layer is initialised uniformly in [-rows, rows]. With the
            usual bound, 1/sqrt(number of states), states hardly differ, and a wide network often prefers the same
            action in all of them at first.
        from_zero: whether all Q-values are initially 0, so that only the explorer searches for the first reward.
            Random weights prefer different actions in different states, which explores too.
        adam: "rows" updates only the rows of the first layer that a batch reads, and defers the updates of the others
            until they are read; "dense" updates all rows at every step, with the same result, but slower.

    Examples:
        >>> import adeu
        >>> from adeu.agents import Dqn, train
        >>> from adeu.envs import JaxDeepSea, Sea
        >>> explorer = adeu.Explorer(adeu.Constant(0.1), adeu.Identity(), adeu.Options(2.0, carried=True))
        >>> pieces = train(Dqn(explorer), JaxDeepSea(Sea(size=5)), steps=2000, seeds=[0, 1], evaluate_every=500)
        >>> pieces.step[:, 0].tolist(), pieces.evaluation.shape
        ([500, 1000, 1500, 2000], (4, 2))

    Reference: Mnih et al., 2015; van Hasselt et al., 2016; Osband et al., 2016 and 2018; Chen et al., 2017.
    Paper: the results in the DeepSea domain.
    """

    hidden: tuple[int, ...] = (50, 50)
    learning_rate: float = 1e-3
    gamma: float = 0.99
    update_every: int = 1
    target_every: int = 100
    double: bool = False
    loss: Literal["huber", "mse"] = "huber"
    ensemble: int = 1
    heads: bool = False
    center: Literal["mean", "sampled", "ucb"] = "mean"
    ucb: float = 0.0
    mask_probability: float = 1.0
    prior: float = 0.0
    rows: float = 1.0
    from_zero: bool = False
    adam: Literal["rows", "dense"] = "rows"

    offers: ClassVar[Mapping[Hook, frozenset[str]]] = {
        "act": frozenset({"q_values"}),
        "observe": frozenset({"td_error", "cost"}),
        "update": frozenset({"td_error", "value_change"}),
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        nets.check_sizes(self, "hidden")
        for argument in ("update_every", "target_every", "ensemble"):
            check.whole(self, argument)
        if self.target_every % self.update_every:
            check.refuse(self, "target_every", f"a multiple of update_every={self.update_every}", self.target_every)
        check.number(self, "learning_rate", above=0)
        check.number(self, "gamma", at_least=0, at_most=1)
        check.number(self, "ucb", at_least=0)
        check.number(self, "prior", at_least=0)
        check.number(self, "mask_probability", above=0, at_most=1)
        check.number(self, "rows", above=0)
        for argument in ("double", "heads", "from_zero"):
            check.instance(self, argument, bool)
        check.one_of(self, "adam", ("rows", "dense"))
        check.one_of(self, "loss", ("huber", "mse"))
        check.one_of(self, "center", ("mean", "sampled", "ucb"))
        check_chance(self.explorer)

    @property
    def cadence(self) -> Cadence:
        return Cadence(self.update_every, 1, self.target_every)

    @property
    def coins(self) -> int:
        return self.ensemble if self.mask_probability < 1 else 0

    def read_spaces(self, observation_space: object, action_space: object) -> Spaces:
        return discrete_spaces(self, observation_space, action_space)

    def init(self, key: Key, obs: Array) -> DqnLearned:
        key_net, key_prior, key_explorer = keys.split(key, 3)
        inputs, look_up, actions, *_ = self.sized
        shape = nets.QShape(self.ensemble, inputs, look_up, self.hidden, actions, self.heads, self.rows)
        networks = nets.init_q(key_net, shape)
        if self.from_zero:
            networks = nets.from_zero(networks)
        prior = nets.init_q(key_prior, shape) if self.prior else None
        optimizer = lazy_adam.init(networks, by_rows=look_up and self.adam == "rows")
        return DqnLearned(networks, networks, prior, optimizer, self.explorer.init(key_explorer, obs))

    def begin(self, key: Key, carry: DqnCarry | None = None) -> DqnCarry:
        key_explorer, key_member = keys.split(key)
        member = jnp.zeros((), jnp.int32)
        if self.center == "sampled":
            member = jax.random.randint(key_member, (), 0, self.ensemble)
        return DqnCarry(self.explorer.begin(key_explorer, None if carry is None else carry.explorer), member)

    def acting(self, learned: DqnLearned) -> DqnActing:
        return DqnActing(learned.networks, learned.prior, learned.optimizer, learned.explorer)

    def decide(
        self, key: Key, acting: DqnActing, carry: DqnCarry, obs: Array, step: Array, early: Array, **given: Any
    ) -> tuple[Decision, DqnCarry]:
        q = self._q(acting, obs[None])[:, 0]
        decision, explorer = self.explorer.act(
            key,
            acting.explorer,
            carry.explorer,
            obs,
            self.preferences(q, carry.member),
            q_values=q,
            step=step,
            **given,
        )
        return decision, carry._replace(explorer=explorer)

    def exploit(self, key: Key, acting: DqnActing, carry: DqnCarry, obs: Array, step: Array, **given: Any) -> Array:
        """Returns the greedy action of the mean over all networks."""
        q = self._q(acting, obs[None])[:, 0]
        center = jnp.mean(q, axis=0)
        greedy = self.explorer.exploit(
            key, acting.explorer, carry.explorer, obs, center, q_values=q, step=step, **given
        )
        return jnp.asarray(greedy.action)

    def preferences(self, q: Array, member: Array) -> Array:
        """Returns the Q-values to act on, from the (K, actions) values of all networks."""
        if self.center == "sampled":
            return q[member]
        return jnp.mean(q, axis=0) + (self.ucb * jnp.std(q, axis=0) if self.center == "ucb" else 0.0)

    def row(self, coins: Coins, transition: Transition, decision: Decision) -> tuple[DqnRow, Array | bool]:
        obs, action, reward, next_obs, terminated, *_ = transition
        mask: Any = np.ones(self.ensemble, bool) if coins is None else coins < self.mask_probability
        return DqnRow(obs, action, reward, next_obs, terminated, mask), True

    def absorb(self, key: Key, learned: DqnLearned, transition: Transition, step: Array) -> DqnLearned:
        row, _ = self.row(None, transition, Decision(None, None, None, None))
        one = DqnRow(*(jnp.asarray(value)[None] for value in row))
        action = one.action[None, :, None]
        error = self._targets(learned, one) - _taken(self._q(self.acting(learned), one.obs), action)
        td_error = jnp.mean(error[:, 0])  # compiled away if no part needs it
        return learned._replace(
            explorer=self.explorer.observe(learned.explorer, transition, step=step, td_error=td_error)
        )

    def learn(self, key: Key, learned: DqnLearned, batches: DqnRow, step: Array) -> DqnLearned:
        batch = DqnRow(*(value[0] for value in batches))
        y = self._targets(learned, batch)
        offset: Array | float = 0.0
        if learned.prior is not None:
            offset = self.prior * nets.q_values(learned.prior, batch.obs)

        def loss(rest: nets.Layers, features: Array) -> tuple[Array, Array]:
            td_error = y - _taken(nets.read_rest(rest, features) + offset, batch.action[None, :, None])
            size = jnp.abs(td_error)
            huber = jnp.where(size <= 1.0, 0.5 * td_error**2, size - 0.5)
            each = huber if self.loss == "huber" else 0.5 * td_error**2
            return jnp.sum(jnp.mean(each * batch.mask.T, axis=1)), td_error

        networks, optimizer, td_error = lazy_adam.descend(
            loss, learned.networks, learned.optimizer, self.learning_rate, batch.obs
        )
        after = learned._replace(networks=networks, optimizer=optimizer)
        given = {"td_error": jnp.mean(td_error, axis=0)}
        if "value_change" in self.explorer.needs("update"):
            given["value_change"] = jnp.mean(self._values(after, batch) - self._values(learned, batch), axis=0)
        return after._replace(explorer=self.explorer.update(learned.explorer, self.seen(batch), step=step, **given))

    def sync(self, learned: DqnLearned) -> DqnLearned:
        return learned._replace(target=lazy_adam.settled(learned.networks, learned.optimizer, self.learning_rate))

    def _q(self, acting: DqnActing, obs: Array) -> Array:
        """Returns Q(s, .) of all networks for a batch: (K, batch, actions)."""
        features = lazy_adam.features(acting.networks, acting.optimizer, self.learning_rate, obs)
        return self._with_prior(nets.read_rest(acting.networks.rest, features), acting.prior, obs)

    def _values(self, learned: DqnLearned, batch: DqnRow) -> Array:
        """Returns Q(s, a) of all networks for the actions of a batch: (K, batch)."""
        return _taken(self._q(self.acting(learned), batch.obs), batch.action[None, :, None])

    def _with_prior(self, q: Array, prior: nets.QNetworks | None, obs: Array) -> Array:
        return q if prior is None else q + self.prior * nets.q_values(prior, obs)

    def _targets(self, learned: DqnLearned, batch: DqnRow) -> Array:
        """Returns the targets y of all networks for a batch: (K, batch)."""
        q = self._with_prior(nets.q_values(learned.target, batch.next_obs), learned.prior, batch.next_obs)
        chooser = self._q(self.acting(learned), batch.next_obs) if self.double else q
        best = _taken(q, jnp.argmax(chooser, axis=-1)[..., None])
        return jnp.asarray(batch.reward + self.gamma * jnp.where(batch.terminated, 0.0, best))


def _taken(q: Array, action: Array) -> Array:
    """Returns the values of the actions taken: (K, batch)."""
    return jnp.take_along_axis(q, action, axis=-1)[..., 0]
