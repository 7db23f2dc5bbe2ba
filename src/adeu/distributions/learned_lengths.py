"""D: actions repeated for a learned number of steps."""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple, Self

import jax
import jax.numpy as jnp

from adeu.core import check, networks
from adeu.core.contract import Array, Key, State, Transition
from adeu.distributions.discrete import _Discrete, best, choose


class LengthsCarry(NamedTuple):
    action: Array
    steps_left: Array
    explored: Array
    """Whether the action or its length was drawn at random."""


class LengthsTable(NamedTuple):
    values: Array
    """Q(s, a, n), of shape (heads, states, actions, lengths)."""
    key: Array


class LengthsNetworks(NamedTuple):
    networks: networks.QNetworks
    target: networks.QNetworks
    optimizer: networks.Adam[networks.QNetworks]
    key: Array


@dataclasses.dataclass(frozen=True)
class LearnedLengths(_Discrete):
    """Repeats each action for n steps, chosen by learned values of (s, a, n).

        n = argmax_n Q(s, a, n)                                                  one head: TempoRL
        n = argmax_n mean_h Q_h(s, a, n) + lam * std_h Q_h(s, a, n)              several heads: UTE

    The action is the policy's or, with probability `spread`, a uniform one. With one head, n is also uniform with
    probability `spread`. The action is repeated until it was taken n times, or the mask forbids it. A decision counts
    as explored if the action or its length was drawn at random. Ties are broken at random.

    Q(s, a, n) is the return of taking a n times, then acting greedily. Every single step updates it for all n:

        Q(s, a, 1) <- r + gamma max_{a', n'} Q(s', a', n'),   Q(s, a, n) <- r + gamma Q(s', a, n - 1)

    These targets have the same fixed point as those of the two articles, r_1 + gamma r_2 + ... + gamma^n max_a'
    Q(s_n, a'), and need neither the agent's values nor a replay of repetitions. The maximum is over all actions,
    including masked ones. In evaluation the policy decides in every step.

    Args:
        longest: the largest n.
        gamma: the discount, in [0, 1].
        heads: the number of estimates of Q.
        lam: lambda, the weight of their disagreement; if it is below 0, uncertainty makes n smaller.
        mask_probability: the probability that a head learns from a transition, in (0, 1].
        num_states: the number of states, for a table, learned in `observe`. By default `Behavior` takes it from a
            Discrete space, and uses a network, learned in `update`, for other spaces.
        num_actions: the number of actions. By default `Behavior` takes it from the space.
        step_size: the step size of the table, in (0, 1].
        start: the standard deviation of a table's initial values, >= 0.
        hidden: the sizes of the network's hidden layers, which the heads share.
        learning_rate: the learning rate of the network.
        tau: the soft-update coefficient of the target network, in (0, 1].

    Examples:
        >>> import adeu, jax
        >>> D = adeu.LearnedLengths(longest=2, gamma=0.5, num_states=2, num_actions=2, step_size=1.0)
        >>> step = adeu.Transition(obs=0, action=1, reward=1.0, next_obs=1, terminated=False, truncated=False)
        >>> last = adeu.Transition(obs=1, action=1, reward=1.0, next_obs=0, terminated=True, truncated=False)
        >>> state = D.observe(D.observe(D.init(jax.random.key(0), 0), last), step)
        >>> state.values[0, :, 1].tolist()
        [[1.5, 1.5], [1.0, 1.0]]

    Reference: Biedenkapp et al., "TempoRL: Learning When to Act", 2021; Lee et al., "Learning Uncertainty-Aware
    Temporally-Extended Actions", 2024.
    """

    longest: int = 7
    gamma: float = 0.99
    heads: int = 1
    lam: float = 0.0
    mask_probability: float = 1.0
    num_states: int | None = None
    num_actions: int | None = None
    step_size: float = 0.1
    start: float = 0.0
    hidden: tuple[int, ...] = (64, 64)
    learning_rate: float = 1e-3
    tau: float = 0.01

    def __post_init__(self) -> None:
        check.whole(self, "longest")
        check.number(self, "gamma", at_least=0, at_most=1)
        check.whole(self, "heads")
        check.number(self, "lam")
        check.number(self, "mask_probability", above=0, at_most=1)
        for argument in ("num_states", "num_actions"):
            if getattr(self, argument) is not None:
                check.whole(self, argument)
        check.number(self, "step_size", above=0, at_most=1)
        check.number(self, "start", at_least=0)
        networks.check_sizes(self, "hidden")
        check.number(self, "learning_rate", above=0)
        check.number(self, "tau", above=0, at_most=1)
        if self.lam and self.heads == 1:
            check.refuse(self, "lam", "0 with one head, because there is no disagreement", self.lam)

    @property
    def learns_from(self) -> frozenset[str]:
        return frozenset({"update"} if self.num_states is None else {"observe"})

    def bind(self, observation_space: Any, action_space: Any) -> Self:
        bound = super().bind(observation_space, action_space)
        sizes = {"num_states": getattr(observation_space, "n", None), "num_actions": action_space.n}
        for argument, found in sizes.items():
            own = getattr(self, argument)
            if found is not None and own not in (None, int(found)):
                check.refuse(self, argument, f"the space's {found}", own)
        states = self.num_states if sizes["num_states"] is None else int(sizes["num_states"])
        return dataclasses.replace(bound, num_states=states, num_actions=int(action_space.n))

    def init(self, key: Key, obs: Any) -> State:
        if self.num_actions is None:
            raise ValueError("LearnedLengths: num_actions is not set; give it, or bind to a space, as Behavior does")
        key_values, key_masks = jax.random.split(key)
        masks = jax.random.key_data(key_masks)
        if self.num_states is not None:
            shape = self.heads, self.num_states, self.num_actions, self.longest
            return LengthsTable(self.start * jax.random.normal(key_values, shape), masks)
        networks.check_vector(self, obs)
        outputs = self.num_actions * self.longest
        shape_q = networks.QShape(self.heads, jnp.shape(obs)[0], False, self.hidden, outputs, heads=True)
        drawn = networks.init_q(key_values, shape_q)
        return LengthsNetworks(drawn, drawn, networks.adam_init(drawn), masks)

    def begin(self, key: Key, carry: LengthsCarry | None = None) -> LengthsCarry:
        zero = jnp.zeros((), jnp.int32)
        return LengthsCarry(zero, zero, jnp.zeros((), bool))

    def sample(
        self,
        key: Key,
        state: State,
        carry: LengthsCarry,
        center: Array,
        spread: Array,
        action_mask: Array | None = None,
        **given: Any,
    ) -> tuple[Array, Array, LengthsCarry]:
        key_coin, key_action, key_other, key_length = jax.random.split(key, 4)
        chance = jnp.clip(spread, 0.0, 1.0)
        preferences = self._preferences(center, action_mask)
        allowed = preferences > -jnp.inf
        repeats = (carry.steps_left > 0) & allowed[carry.action]

        coin = jax.random.bernoulli(key_coin, chance)
        action = choose(key_action, jnp.where(coin, allowed, best(preferences)))
        any_length = jax.random.bernoulli(key_other, chance) & (self.heads == 1)
        score = self._score(self._values(state, given["obs"])[:, action])
        length = 1 + choose(key_length, jnp.where(any_length, True, best(score)))

        action = jnp.where(repeats, carry.action, action)
        steps_left = jnp.where(repeats, carry.steps_left, length)
        explored = jnp.where(repeats, carry.explored, coin | any_length)
        return action, explored, LengthsCarry(action, steps_left - 1, explored)

    def observe(self, state: State, transition: Transition, **given: Any) -> State:
        if self.num_states is None:
            return state
        obs, action, reward, next_obs, terminated, *_ = transition
        key_next, key_mask = jax.random.split(jax.random.wrap_key_data(state.key))
        target = self._target(state.values[:, next_obs], action, reward, terminated)
        learns = jax.random.uniform(key_mask, (self.heads, 1)) < self.mask_probability
        move = jnp.where(learns, self.step_size * (target - state.values[:, obs, action]), 0.0)
        return LengthsTable(state.values.at[:, obs, action].add(move), jax.random.key_data(key_next))

    def update(self, state: State, batch: Transition, **given: Any) -> State:
        if self.num_states is not None:
            return state
        key_next, key_mask = jax.random.split(jax.random.wrap_key_data(state.key))
        numbers = jnp.arange(len(batch.action))
        later = jax.vmap(self._split, 1)(networks.q_values(state.target, batch.next_obs))
        targets = jax.vmap(self._target)(later, batch.action, batch.reward, batch.terminated)
        learns = jax.random.uniform(key_mask, (len(numbers), self.heads, 1)) < self.mask_probability

        def loss(params: networks.QNetworks) -> Array:
            values = jax.vmap(self._split, 1)(networks.q_values(params, batch.obs))
            return jnp.mean(learns * (values[numbers, :, batch.action] - targets) ** 2)

        params, optimizer = networks.descend(loss, state.networks, state.optimizer, self.learning_rate)
        target = networks.follow(state.target, params, self.tau)
        return LengthsNetworks(params, target, optimizer, jax.random.key_data(key_next))

    def _target(self, later: Array, action: Array, reward: Array, terminated: Array) -> Array:
        """Return the targets (heads, lengths), given the values of s', (heads, actions, lengths)."""
        first = jnp.max(later, axis=(1, 2))[:, None]
        follows = jnp.concatenate([first, later[:, action, :-1]], axis=1)
        return reward + self.gamma * jnp.where(terminated, 0.0, follows)

    def _values(self, state: State, obs: Any) -> Array:
        """Return Q(s, a, n) of one state: (heads, actions, lengths)."""
        if self.num_states is None:
            return self._split(networks.q_values(state.networks, obs[None])[:, 0])
        return jnp.asarray(state.values[:, obs])

    def _split(self, outputs: Array) -> Array:
        """Reshape outputs of the networks from (heads, actions * lengths) to (heads, actions, lengths)."""
        return outputs.reshape(self.heads, -1, self.longest)

    def _score(self, values: Array) -> Array:
        """Return the score of each length, given its values (heads, lengths)."""
        return jnp.mean(values, axis=0) + self.lam * jnp.std(values, axis=0)
