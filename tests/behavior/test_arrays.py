"""Actions in the dtype of their space."""

import gymnasium
import numpy as np

from adeu.behavior.arrays import to_space


def test_actions_are_clipped_in_the_dtype_of_the_box():
    space = gymnasium.spaces.Box(np.array([-0.1, 0.0]), np.array([0.3, 1.0]), dtype=np.float64)
    bound = np.float32([0.3, -0.5])  # 0.3 is larger in float32 than in float64
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
