"""An independent implementation of the lake's rules, step by step, to compare the arrays with."""

STEPS = [(-1, 0), (0, 1), (1, 0), (0, -1)]


def neighbours(size, cell):
    """Return the cell that each action leads to, None beyond the border."""
    places = [(cell // size + down, cell % size + right) for down, right in STEPS]
    return [size * r + c if 0 <= r < size and 0 <= c < size else None for r, c in places]


def move(lake, path, unsafe, cell, action):
    """Return the next cell, the reward, whether the episode ended, and the cost."""
    scale, goal = lake.rewards
    target = neighbours(lake.size, cell)[action]
    if target is None:
        return cell, -lake.back_cost, False, 0.0
    if target == path[-1]:
        return target, goal, True, 0.0
    if target in unsafe:
        return target, 0.0, False, 10.0
    if target not in path:
        return target, -10.0, True, 0.0
    if cell in path and path.index(target) == path.index(cell) + 1:
        return target, scale * target, False, 0.0
    return target, -lake.back_cost, False, 0.0
