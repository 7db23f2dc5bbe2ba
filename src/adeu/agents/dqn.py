"""The DQN family, as pure functions; `loop` plays them in an environment in JAX, `dqn_host` in Gymnasium's.

networks <- networks - Adam's step on the TD error of a minibatch, and f learns   (every `update_every` steps)
target networks <- networks                                                       (every `target_every` steps)
"""

from __future__ import annotations

import dataclasses
import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from adeu.agents import adam
from adeu.agents import networks as nets
from adeu.agents import replay as ring
from adeu.agents.loop import select
from adeu.core import check
from adeu.core.contract import Array, Carry, Decision, Key, State, Transition
from adeu.core.explorer import Explorer
from adeu.mechanisms.constant import check_chance
from adeu.mechanisms.cost import check_no_costs


@dataclasses.dataclass(frozen=True)
class Dqn:
    """DQN, bootstrapped DQN, or UCB over an ensemble; what an explorer makes of its preferences is its behaviour.

        y = r + gamma * Q_target(s', argmax_a Q(s', a))  (double),  r + gamma * max_a Q_target(s', a)  (else)

    Args:
        explorer: f, g and D. The center is Q(s, .), of several networks what `acting` says.
        hidden: the sizes of the hidden layers.
        learning_rate: of Adam.
        gamma: the discount, in [0, 1].
        capacity: how many transitions the replay holds.
        batch: how many an update takes.
        update_every: environment steps per update.
        target_every: environment steps per copy into the target network, a multiple of `update_every`.
        evaluate_every: environment steps per evaluation, a multiple of `target_every`.
        evaluate_episodes: greedy episodes in one.
        evaluate_steps: after so many steps such an episode is cut.
        warmup: steps before the first update, on top of the pieces.
        double: whether the network chooses the action that the target network values.
        loss: "huber" or "mse".
        ensemble: how many networks, K, each with a target network of its own.
        heads: whether these are K heads on one trunk: they share all layers but the last.
        acting: with several networks, the center: "mean", "sampled" (bootstrapped DQN: of one network, drawn for
            each episode) or "ucb" (mean + ucb * standard deviation).
        ucb: lambda.
        mask_probability: how likely each network learns from a transition, in (0, 1].
        prior: the weight of a fixed random network that is added to each (randomised prior functions); 0: none.
        rows: where an observation is a whole number, the rows that stand for it start uniform within this. Within
            the usual 1/sqrt(rows) states hardly differ: a wide network often begins with one action everywhere.
        from_zero: whether every value is 0 at first, so that nothing but the explorer looks for the first reward:
            what random weights prefer from state to state is exploration of a kind, too.
        adam: "rows" moves the rows that a batch names, and the others when they are read; "dense" moves all of them
            at every step, which comes to the same and takes longer.

    Examples:
        >>> import adeu
        >>> from adeu.agents import Dqn, train
        >>> from adeu.envs import JaxDeepSea, Sea
        >>> explorer = adeu.Explorer(adeu.Constant(0.1), adeu.Identity(), adeu.Options(2.0, carried=True))
        >>> pieces = train(Dqn(explorer, evaluate_every=500), JaxDeepSea(Sea(size=5)), steps=2000, seeds=[0, 1])
        >>> pieces.step[:, 0].tolist(), pieces.evaluation.shape
        ([500, 1000, 1500, 2000], (4, 2))

    Reference: Mnih et al., 2015; van Hasselt et al., 2016; Osband et al., 2016 and 2018; Chen et al., 2017.
    Paper: the results in the DeepSea domain.
    """

    explorer: Explorer
    hidden: tuple[int, ...] = (50, 50)
    learning_rate: float = 1e-3
    gamma: float = 0.99
    capacity: int = 100_000
    batch: int = 32
    update_every: int = 1
    target_every: int = 100
    evaluate_every: int = 1000
    evaluate_episodes: int = 1
    evaluate_steps: int = 10_000
    warmup: int = 0
    double: bool = False
    loss: str = "huber"
    ensemble: int = 1
    heads: bool = False
    acting: str = "mean"
    ucb: float = 0.0
    mask_probability: float = 1.0
    prior: float = 0.0
    rows: float = 1.0
    from_zero: bool = False
    adam: str = "rows"

    def __post_init__(self) -> None:
        check.instance(self, "explorer", Explorer)
        check.frozen(self, "hidden")
        if not (
            isinstance(self.hidden, tuple) and self.hidden and all(type(n) is int and n > 0 for n in self.hidden)
        ):
            check.refuse(self, "hidden", "the sizes of the hidden layers, such as (50, 50)", self.hidden)
        for argument in ("batch", "update_every", "evaluate_episodes", "evaluate_steps", "ensemble"):
            check.whole(self, argument)
        check.whole(self, "warmup", at_least=0)
        check.whole(self, "capacity", at_least=self.batch)
        for argument, inner in (("target_every", "update_every"), ("evaluate_every", "target_every")):
            check.whole(self, argument)
            if getattr(self, argument) % getattr(self, inner):
                check.refuse(self, argument, f"a multiple of {inner}={getattr(self, inner)}", getattr(self, argument))
        check.number(self, "learning_rate", above=0)
        check.number(self, "gamma", at_least=0, at_most=1)
        check.number(self, "ucb", at_least=0)
        check.number(self, "prior", at_least=0)
        check.number(self, "mask_probability", above=0, at_most=1)
        check.number(self, "rows", above=0)
        check.instance(self, "heads", bool)
        check.instance(self, "from_zero", bool)
        check.one_of(self, "adam", ("rows", "dense"))
        check.one_of(self, "loss", ("huber", "mse"))
        check.one_of(self, "acting", ("mean", "sampled", "ucb"))

    def fit(self, observation_space: Any, action_space: Any) -> tuple[Dqn, Rules]:
        return bound(self, observation_space, action_space)

    def center(self, q: Array, member: Array) -> Array:
        """What behaviour prefers, from the (K, actions) values of all networks."""
        if self.acting == "sampled":
            return q[member]
        return jnp.mean(q, axis=0) + (self.ucb * jnp.std(q, axis=0) if self.acting == "ucb" else 0.0)


class Learner(NamedTuple):
    networks: nets.Networks
    target: nets.Networks
    prior: nets.Networks | None
    optimizer: adam.AdamState
    replay: ring.Replay
    f: State


class Actor(NamedTuple):
    """What belongs to the environment: its observation, the explorer's carry, and the network that acts."""

    obs: Array
    carry: Carry
    member: Array
    total: Array
    """The reward of the episode so far."""


class Rules(NamedTuple):
    """The agent's pure functions, for an environment's sizes."""

    init: Any
    decide: Any
    absorb: Any
    learn: Any
    synchronise: Any
    exploit: Any


@functools.lru_cache(maxsize=64)
def rules(dqn: Dqn, inputs: int, look_up: bool, actions: int) -> Rules:
    explorer, K = dqn.explorer, dqn.ensemble

    shape = nets.Shape(K, inputs, look_up, dqn.hidden, actions, dqn.heads, dqn.rows)

    def with_prior(q: Array, prior: nets.Networks | None, obs: Array) -> Array:
        return q if prior is None else q + dqn.prior * nets.q_values(prior, obs)

    def q_now(learner: Learner, obs: Array) -> Array:
        """(K, batch, actions)."""
        features = adam.features(learner.networks, learner.optimizer, dqn.learning_rate, obs)
        return with_prior(nets.values(learner.networks.rest, features), learner.prior, obs)

    def draw_member(key: Key) -> Array:
        return jax.random.randint(key, (), 0, K) if dqn.acting == "sampled" else jnp.zeros((), jnp.int32)

    def init(key: Key, obs: Array) -> tuple[Learner, Actor]:
        key_net, key_prior, key_f, key_begin, key_member = jax.random.split(key, 5)
        networks = nets.from_zero(nets.init(key_net, shape)) if dqn.from_zero else nets.init(key_net, shape)
        prior = nets.init(key_prior, shape) if dqn.prior else None
        no, zero = jnp.zeros((), bool), jnp.zeros(())
        example = Transition(obs, jnp.zeros((), jnp.int32), zero, obs, no, no)
        replay = ring.create(dqn.capacity, example, K)
        optimizer = adam.init(networks, dqn.learning_rate, look_up and dqn.adam == "rows")
        learner = Learner(networks, networks, prior, optimizer, replay, explorer.init(key_f, obs))
        return learner, Actor(obs, explorer.begin(key_begin), draw_member(key_member), zero)

    def decide(key: Key, learner: Learner, actor: Actor, step: Array) -> tuple[Decision, Actor]:
        q = q_now(learner, actor.obs[None])[:, 0]
        center = dqn.center(q, actor.member)
        decision, carry = explorer.act(key, learner.f, actor.carry, actor.obs, center, q_values=q, step=step)
        return decision, actor._replace(carry=carry)

    def targets(learner: Learner, batch: Transition) -> Array:
        """(K, batch)."""
        q = with_prior(nets.q_values(learner.target, batch.next_obs), learner.prior, batch.next_obs)
        chooser = q_now(learner, batch.next_obs) if dqn.double else q
        best = jnp.take_along_axis(q, jnp.argmax(chooser, axis=-1)[..., None], axis=-1)[..., 0]
        return batch.reward + dqn.gamma * jnp.where(batch.terminated, 0.0, best)

    def td_errors(learner: Learner, batch: Transition) -> Array:
        q = q_now(learner, batch.obs)
        return targets(learner, batch) - jnp.take_along_axis(q, batch.action[None, :, None], axis=-1)[..., 0]

    def absorb(
        key: Key, learner: Learner, actor: Actor, transition: Transition, first_obs: Array, step: Array
    ) -> tuple[Learner, Actor]:
        """Takes in a step; where it ended the episode, the next one begins at `first_obs`."""
        key_mask, key_begin, key_member = jax.random.split(key, 3)
        mask = jax.random.bernoulli(key_mask, dqn.mask_probability, (K,)) if dqn.mask_probability < 1 else True
        one = jax.tree.map(lambda value: jnp.asarray(value)[None], transition)
        td_error = jnp.mean(td_errors(learner, one)[:, 0])  # compiled away where no f asks for it
        f = explorer.observe(learner.f, transition, step=step, td_error=td_error)
        replay = ring.add(learner.replay, transition._replace(cost=None), jnp.broadcast_to(jnp.asarray(mask), (K,)))
        begun = Actor(first_obs, explorer.begin(key_begin, actor.carry), draw_member(key_member), jnp.zeros(()))
        gone_on = actor._replace(obs=transition.next_obs, total=actor.total + transition.reward)
        ended = transition.terminated | transition.truncated
        return learner._replace(replay=replay, f=f), select(ended, begun, gone_on)

    def learn(key: Key, learner: Learner, step: Array) -> Learner:
        batch, mask = ring.sample(learner.replay, key, dqn.batch)
        y = targets(learner, batch)
        offset = 0.0 if learner.prior is None else dqn.prior * nets.q_values(learner.prior, batch.obs)

        def loss(rest: Any, features: Array) -> tuple[Array, Array]:
            q = nets.values(rest, features) + offset
            td_error = y - jnp.take_along_axis(q, batch.action[None, :, None], axis=-1)[..., 0]
            size = jnp.abs(td_error)
            huber = jnp.where(size <= 1.0, 0.5 * td_error**2, size - 0.5)
            each = huber if dqn.loss == "huber" else 0.5 * td_error**2
            return jnp.sum(jnp.mean(each * mask.T, axis=1)), td_error

        networks, optimizer, td_error = adam.descend(
            loss, learner.networks, learner.optimizer, dqn.learning_rate, batch.obs
        )
        f = explorer.update(learner.f, batch, step=step, td_error=jnp.mean(td_error, axis=0))
        return learner._replace(networks=networks, optimizer=optimizer, f=f)

    def synchronise(learner: Learner) -> Learner:
        return learner._replace(target=adam.settled(learner.networks, learner.optimizer, dqn.learning_rate))

    def exploit(key: Key, learner: Learner, carry: Carry, obs: Array, step: Array) -> Array:
        """The greedy action, by the mean of all networks."""
        q = q_now(learner, obs[None])[:, 0]
        return explorer.exploit(key, learner.f, carry, obs, jnp.mean(q, axis=0), q_values=q, step=step).action

    return Rules(init, decide, absorb, learn, synchronise, exploit)


def bound(dqn: Dqn, observation_space: Any, action_space: Any) -> tuple[Dqn, Rules]:
    """The agent for these spaces, refused before anything is compiled where it does not fit."""
    from gymnasium.spaces import Discrete

    if not hasattr(action_space, "n"):
        check.refuse(dqn, "action space", "a Discrete", action_space)
    check_chance(dqn.explorer)
    inputs, look_up = nets.inputs_of(dqn, observation_space)
    actions = int(action_space.n)
    fitted = dataclasses.replace(dqn, explorer=dqn.explorer.bind(observation_space, Discrete(actions)))
    check_no_costs(dqn, "explorer", fitted.explorer)
    return fitted, rules(fitted, inputs, look_up, actions)
