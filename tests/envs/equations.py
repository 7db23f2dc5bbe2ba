"""The documented equations of each sparse task in plain Python: return the next state, the reward and the end."""

import math


def clip(value, low, high):
    return min(max(value, low), high)


def from_top(angle):
    return math.remainder(angle, 2 * math.pi)


def pendulum(place, action, task):
    angle, speed = place
    torque = clip(action[0], -2, 2)
    speed = clip(speed + 0.05 * (15 * math.sin(angle) + 3 * torque), -8, 8)
    angle += 0.05 * speed
    return (angle, speed), float(abs(from_top(angle)) < 0.5 and abs(speed) < 2), False


def swing_up(place, action, task):
    x, v, theta, w = place
    force = 7 * clip(action[0], -1, 1)
    for _ in range(2):
        p = (force + 0.05 * w * w * math.sin(theta)) / 1.1
        alpha = 9.8 * math.sin(theta) - math.cos(theta) * p
        alpha /= 0.5 * (4 / 3 - 0.1 * math.cos(theta) ** 2 / 1.1)
        v += 0.02 * (p - 0.05 * alpha * math.cos(theta) / 1.1)
        w += 0.02 * alpha
        x += 0.02 * v
        if not -2.4 <= x <= 2.4:
            w += 1.5 * v * math.cos(theta)
            x, v = clip(x, -2.4, 2.4), 0.0
        theta += 0.02 * w
    return (x, v, theta, w), float(math.cos(theta) > 0.8 and abs(x) < 1), False


def point_maze(place, action, task, parts=500):
    """Move in small parts, first along x and then along y; skip each part that would enter the wall."""
    place = list(place)
    for axis in (0, 1):
        part = 0.15 * clip(action[axis], -1, 1) / parts
        for _ in range(parts):
            there = place.copy()
            there[axis] += part
            x, y = there
            if abs(x) <= 1 and abs(y) <= 1 and not (x < 0 and -0.1 < y < 0.1):
                place = there
    return tuple(place), float(math.dist(place, (-0.75, 0.55)) < 0.3), False


def continuous_lake(place, action, task):
    there = [clip(each, -1, 1) for each in action]
    if math.dist(there, task.directions[place]) > task.tolerance:
        return place, 0.0, True
    return place + 1, (place + 1) / task.size, place + 1 == task.size


def observed(name, place, task):
    if name == "SparsePendulum":
        return math.cos(place[0]), math.sin(place[0]), place[1]
    if name == "SwingUp":
        x, v, theta, w = place
        return x, v, math.cos(theta), math.sin(theta), w
    if name == "ContinuousLake":
        return tuple(math.exp(-((j - place) ** 2) / 2) for j in range(task.size + 1))
    return place


STEPS = {
    "SparsePendulum": pendulum,
    "SwingUp": swing_up,
    "PointMaze": point_maze,
    "ContinuousLake": continuous_lake,
}
