"""A training loop as users write it, for the tests of Behavior."""

import numpy as np

import adeu


def play(behavior, env, steps, policy, seed=0, learn=True, **given):
    """Step an environment, or a vector of them, with a behavior; return the decisions."""
    vector = hasattr(env, "num_envs")
    obs, _ = env.reset(seed=seed)
    decisions, batch = [], []
    for _ in range(steps):
        decision = behavior.act(obs, center=policy(obs), **given)
        next_obs, reward, terminated, truncated, info = env.step(decision.action)
        transition = adeu.Transition(obs, decision.action, reward, next_obs, terminated, truncated)
        behavior.observe(transition, info)
        decisions.append(decision)
        batch.append(transition)
        if learn and not vector and len(batch) % 16 == 0:
            behavior.update(stack(batch[-16:]))
        obs = next_obs
        if not vector and (terminated or truncated):
            obs, _ = env.reset()
    return stack(decisions)


def stack(values):
    """Stack a list of tuples of arrays into one tuple of arrays."""
    kind = type(values[0])
    columns = zip(*values, strict=True)
    return kind(*(None if column[0] is None else np.stack(column) for column in columns))


def same(a, b) -> bool:
    """Return whether two lists of arrays are equal bit for bit."""
    return all(x.dtype == y.dtype and x.tobytes() == y.tobytes() for x, y in zip(a, b, strict=True))
