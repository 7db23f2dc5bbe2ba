"""The DQN family on a Gymnasium environment: the same rules, with the loop in Python."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import numpy as np

from adeu.agents.dqn import Dqn, Piece, bound, flat
from adeu.core import check
from adeu.core.contract import Transition


class Steps(NamedTuple):
    decide: Any
    absorb: Any
    learn: Any
    exploit: Any


_compiled: dict[Any, Steps] = {}


def train_gymnasium(dqn: Dqn, env: Any, *, steps: int, seed: int, evaluation_env: Any = None) -> Piece:
    """Trains in one Gymnasium environment; the pieces' arrays have shape (pieces,).

    Args:
        dqn: the agent, as for a compiled loop.
        env: with a Discrete action space, and a Box or a Discrete observation space.
        steps: a multiple of the agent's `evaluate_every`.
        seed: of all random numbers; episode i resets with a seed of its own.
        evaluation_env: where greedy episodes are played; None: there are none, and their return is NaN.

    Examples:
        >>> import adeu, gymnasium
        >>> from adeu.agents import Dqn, train_gymnasium
        >>> explorer = adeu.Explorer(adeu.Constant(0.1), adeu.Identity(), adeu.Bernoulli())
        >>> agent = Dqn(explorer, hidden=(8,), target_every=20, evaluate_every=100)
        >>> pieces = train_gymnasium(agent, gymnasium.make("CartPole-v1"), steps=200, seed=0)
        >>> pieces.step.tolist()
        [100, 200]
    """
    if check.as_whole("train_gymnasium", "steps", steps) % dqn.evaluate_every:
        check.refuse("train_gymnasium", "steps", f"a multiple of evaluate_every={dqn.evaluate_every}", steps)
    seed = check.as_whole("train_gymnasium", "seed", seed, at_least=0)
    dqn, rule = bound(dqn, env.observation_space, env.action_space)
    if rule not in _compiled:
        decide, exploit = jax.jit(rule.decide), jax.jit(rule.exploit)
        absorb, learn = (jax.jit(f, donate_argnums=1) for f in (rule.absorb, rule.learn))  # in place
        _compiled[rule] = Steps(decide, absorb, learn, exploit)
    play = _compiled[rule]
    first_state = int(getattr(env.observation_space, "start", 0))
    first_action = int(getattr(env.action_space, "start", 0))
    resets = np.random.SeedSequence(seed).generate_state

    def look(obs: Any) -> Any:
        return flat(np.asarray(obs) - first_state)

    def begin(episode: int) -> Any:
        return look(env.reset(seed=int(resets(episode + 1)[episode]))[0])

    def evaluate(key: Any, step: int) -> float:
        if evaluation_env is None:
            return float("nan")
        returns = []
        for number in range(dqn.evaluate_episodes):
            obs, _ = evaluation_env.reset(seed=int(resets(number + 1)[number]) + 1)
            total, carry = 0.0, dqn.explorer.begin(jax.random.fold_in(key, number))
            for t in range(dqn.evaluate_steps):
                key_act = jax.random.fold_in(jax.random.fold_in(key, number), t)
                action = int(play.exploit(key_act, learner, carry, look(obs), step))
                obs, reward, terminated, truncated, _ = evaluation_env.step(action + first_action)
                total += float(reward)
                if terminated or truncated:
                    break
            returns.append(total)
        return float(np.mean(returns))

    key_run, key_init = jax.random.split(jax.random.key(seed))
    learner, actor = rule.init(key_init, begin(0))
    # Every leaf a buffer of its own: two that were one could not both be given away.
    learner = rule.synchronise(jax.tree.map(lambda leaf: leaf.copy(), learner))
    learner = jax.tree.map(lambda leaf: leaf.copy(), learner)
    rows, episode, pieces = [], 0, []
    for step in range(dqn.warmup + steps):
        key_act, key_absorb, key_learn, key_evaluate = jax.random.split(jax.random.fold_in(key_run, step), 4)
        trained = step - dqn.warmup
        if trained >= 0 and trained % dqn.target_every == 0:
            learner = learner._replace(target=jax.tree.map(lambda leaf: leaf.copy(), learner.networks))
        decision, actor = play.decide(key_act, learner, actor, step)
        obs, reward, terminated, truncated, info = env.step(int(decision.action) + first_action)
        ended = terminated or truncated
        episode += ended
        next_obs, total = look(obs), float(actor.total) + float(reward)
        first_obs = begin(episode) if ended else next_obs
        given = np.float32(reward), next_obs, np.bool_(terminated), np.bool_(truncated)
        transition = Transition(actor.obs, decision.action, *given, info.get("cost"))
        learner, actor = play.absorb(key_absorb, learner, actor, transition, first_obs, step)
        rows.append((total if ended else np.nan, bool(decision.explored), float(decision.spread)))
        if trained >= 0 and (trained + 1) % dqn.update_every == 0:
            learner = play.learn(key_learn, learner, step + 1)
        if trained >= 0 and (trained + 1) % dqn.evaluate_every == 0:
            pieces.append(_piece(step + 1, evaluate(key_evaluate, step + 1), rows))
            rows = []
    return Piece(*map(np.array, zip(*pieces, strict=True)))


def _piece(step: int, evaluation: float, rows: list[Any]) -> Piece:
    returns, explored, spread = np.array(rows, float).T
    returns = returns[~np.isnan(returns)]
    mean, best = (returns.mean(), returns.max()) if len(returns) else (np.nan, -np.inf)
    return Piece(step, evaluation, len(returns), mean, best, explored.mean(), spread.mean())
