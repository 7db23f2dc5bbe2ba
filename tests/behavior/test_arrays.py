"""Actions in a space's own type."""

import gymnasium
import numpy as np

from adeu.behavior.arrays import to_space


def test_a_box_is_clipped_in_its_own_type():
    space = gymnasium.spaces.Box(np.array([-0.1, 0.0]), np.array([0.3, 1.0]), dtype=np.float64)
    bound = np.float32([0.3, -0.5])  # float32's 0.3 lies above float64's
    action = to_space(space, bound)
    assert float(bound[0]) > 0.3
    assert action.tolist() == [0.3, 0.0]
    assert space.contains(action)
    vector = to_space(space, np.stack([bound, bound]))
    assert all(space.contains(row) for row in vector)


def test_a_discrete_space_counts_from_its_start():
    space = gymnasium.spaces.Discrete(3, start=-1)
    assert to_space(space, np.int32([0, 2])).tolist() == [-1, 1]
    one = to_space(space, np.asarray(2, np.int32))
    assert space.contains(one)
    assert one.dtype == space.dtype
