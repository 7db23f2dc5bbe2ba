"""Frozen lakes, the deep sea and hard exploration tasks: Gymnasium environments over pure functions.

Lakes: `layouts` computes the path, `lake` defines the settings, `mdp` the arrays, `gym_frozen_lake` the environment;
`picture` and `text` render it. The sea: `sea` defines settings and arrays, `gym_deep_sea` the environment,
`deep_sea_jax` the same in JAX; `sea_picture` renders it.

Tasks in JAX: `classic_jax`, `continuous_car_jax` and `pendulum_jax` reimplement Gymnasium's; `pendulum_jax`,
`swing_up_jax`, `point_maze_jax` and `continuous_lake_jax` have sparse rewards, and `gym_task` wraps them as Gymnasium
environments. Modules with JAX are imported when first used.

Importing this package registers the ids `adeu/FrozenLake-v0`, `adeu/SafeFrozenLake-v0`, `adeu/DeepSea-v0`,
`adeu/SparsePendulum-v0`, `adeu/SwingUp-v0`, `adeu/PointMaze-v0` and `adeu/ContinuousLake-v0`. It imports no other
part of adeu.
"""

import importlib
from typing import TYPE_CHECKING, Any

import gymnasium

from adeu.envs.gym_deep_sea import DeepSea as DeepSea
from adeu.envs.gym_frozen_lake import FrozenLake as FrozenLake
from adeu.envs.gym_frozen_lake import SafeFrozenLake as SafeFrozenLake
from adeu.envs.lake import PRESETS as PRESETS
from adeu.envs.lake import Lake as Lake
from adeu.envs.layouts import LAYOUTS as LAYOUTS
from adeu.envs.mdp import Mdp as Mdp
from adeu.envs.mdp import lake_mdp as lake_mdp
from adeu.envs.sea import Sea as Sea
from adeu.envs.sea import deep_sea_mdp as deep_sea_mdp

if TYPE_CHECKING:
    from adeu.envs.classic_jax import JaxCartPole as JaxCartPole
    from adeu.envs.classic_jax import JaxMountainCar as JaxMountainCar
    from adeu.envs.continuous_car_jax import JaxMountainCarContinuous as JaxMountainCarContinuous
    from adeu.envs.continuous_lake_jax import JaxContinuousLake as JaxContinuousLake
    from adeu.envs.deep_sea_jax import JaxDeepSea as JaxDeepSea
    from adeu.envs.pendulum_jax import JaxPendulum as JaxPendulum
    from adeu.envs.point_maze_jax import JaxPointMaze as JaxPointMaze
    from adeu.envs.swing_up_jax import JaxSwingUp as JaxSwingUp

gymnasium.register(id="adeu/FrozenLake-v0", entry_point="adeu.envs.gym_frozen_lake:FrozenLake")
gymnasium.register(id="adeu/SafeFrozenLake-v0", entry_point="adeu.envs.gym_frozen_lake:SafeFrozenLake")
gymnasium.register(id="adeu/DeepSea-v0", entry_point="adeu.envs.gym_deep_sea:DeepSea")
for task in ("SparsePendulum", "SwingUp", "PointMaze", "ContinuousLake"):
    gymnasium.register(id=f"adeu/{task}-v0", entry_point="adeu.envs.gym_task:GymTask", kwargs={"task": task})


IN_JAX = {
    "JaxCartPole": "classic_jax",
    "JaxContinuousLake": "continuous_lake_jax",
    "JaxDeepSea": "deep_sea_jax",
    "JaxMountainCar": "classic_jax",
    "JaxMountainCarContinuous": "continuous_car_jax",
    "JaxPendulum": "pendulum_jax",
    "JaxPointMaze": "point_maze_jax",
    "JaxSwingUp": "swing_up_jax",
}


def __getattr__(name: str) -> Any:
    if name in IN_JAX:
        return getattr(importlib.import_module(f"adeu.envs.{IN_JAX[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
