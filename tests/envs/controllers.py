"""Hand-written controllers that find the reward of each sparse task."""

import math

import numpy as np


def swing_and_hold(obs):
    """Solve the sparse pendulum: pump energy until it reaches the top, then hold."""
    cosine, sine, speed = obs
    if cosine > 0.9:
        return [-(10 * math.atan2(sine, cosine) + 2.5 * speed)]
    energy = 0.5 * speed**2 + 15 * (cosine - 1)
    return [math.copysign(2.0, -energy * speed)]


def swing_and_balance(obs):
    """Swing up the pole on the cart in the same way, and keep the cart near the middle."""
    x, speed, cosine, sine, turn = obs
    if cosine > 0.85:
        return [(x + 1.8 * speed + 24 * math.atan2(sine, cosine) + 5.2 * turn) / 7]
    energy = turn**2 / 3 + 9.8 * (cosine - 1)
    return [float(np.clip(energy * np.sign(turn * cosine), -1, 1)) - 0.3 * x]


def walk_around(obs):
    """Solve the point maze: go right past the end of the wall, up, back, and stay."""
    x, y = obs
    if y < 0.1 and x < 0.1:
        return [1.0, 0.0]
    return [0.0, 1.0] if y < 0.55 else [-1.0 if x > -0.7 else 0.0, 0.0]


def rock(obs):
    """Drive the car uphill: push in the direction it moves."""
    return [math.copysign(1.0, obs[1])]
