"""Solve finite MDPs exactly, by their transition tables."""

import numpy as np


def backup(model, values, gamma):
    """Return the value of each action in each state, (S, A), given the values of the next states."""
    ahead = model.reward + gamma * np.where(model.terminal, 0.0, values[model.next_state])
    first = np.repeat(np.arange(model.num_states * model.num_actions), np.diff(model.offsets))
    before = np.where(np.isin(np.arange(len(ahead)), model.offsets), 0.0, np.roll(model.cumulative, 1))
    q = np.bincount(first, (model.cumulative - before) * ahead, minlength=model.num_states * model.num_actions)
    return q.reshape(model.num_states, model.num_actions)


def start_value(model, gamma, policy=None):
    """Return the expected value at the start, of a policy or of the best one."""
    values = np.zeros(model.num_states)
    for _ in range(5000):
        q = backup(model, values, gamma)
        if policy is None:
            q = np.where(model.mask.table, q, -np.inf) if hasattr(model.mask, "table") else q
            values = q.max(axis=1)
        else:
            values = q[np.arange(model.num_states), policy]
    return float(np.diff(model.start, prepend=0.0) @ values)
