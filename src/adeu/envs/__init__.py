"""Frozen lakes with one path and the deep sea: Gymnasium environments over pure functions.

A lake: `layouts` bends the path, `lake` holds the settings as data, `mdp` makes arrays of them, `frozen_lake_env` is
the environment, `picture` and `text` draw. The sea: `sea` holds settings and arrays, `deep_sea_env` is the
environment, `deep_sea_jax` the same in JAX (loaded when first used), `sea_picture` draws. `classic_jax` has two of
Gymnasium's own in JAX. Importing this package registers `adeu/FrozenLake-v0`, `adeu/SafeFrozenLake-v0` and
`adeu/DeepSea-v0`. It imports no other part of adeu.
"""

import importlib
from typing import TYPE_CHECKING, Any

import gymnasium

from adeu.envs.deep_sea_env import DeepSea as DeepSea
from adeu.envs.frozen_lake_env import FrozenLake as FrozenLake
from adeu.envs.frozen_lake_env import SafeFrozenLake as SafeFrozenLake
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
    from adeu.envs.deep_sea_jax import JaxDeepSea as JaxDeepSea

gymnasium.register(id="adeu/FrozenLake-v0", entry_point="adeu.envs.frozen_lake_env:FrozenLake")
gymnasium.register(id="adeu/SafeFrozenLake-v0", entry_point="adeu.envs.frozen_lake_env:SafeFrozenLake")
gymnasium.register(id="adeu/DeepSea-v0", entry_point="adeu.envs.deep_sea_env:DeepSea")


IN_JAX = {"JaxDeepSea": "deep_sea_jax", "JaxCartPole": "classic_jax", "JaxMountainCar": "classic_jax"}


def __getattr__(name: str) -> Any:
    if name in IN_JAX:
        return getattr(importlib.import_module(f"adeu.envs.{IN_JAX[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
