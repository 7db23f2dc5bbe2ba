"""Frozen lakes with one path: Gymnasium environments (`frozen_lake`) over pure functions.

`layouts` bends the path, `lake` holds the settings as data, `mdp` makes arrays of them, `picture` and `text` draw.
Importing this package registers `adeu/FrozenLake-v0` and `adeu/SafeFrozenLake-v0`. It imports no other part of adeu.
"""

import gymnasium

from adeu.envs.frozen_lake import FrozenLake as FrozenLake
from adeu.envs.frozen_lake import SafeFrozenLake as SafeFrozenLake
from adeu.envs.lake import PRESETS as PRESETS
from adeu.envs.lake import Lake as Lake
from adeu.envs.layouts import LAYOUTS as LAYOUTS
from adeu.envs.mdp import Mdp as Mdp
from adeu.envs.mdp import lake_mdp as lake_mdp

gymnasium.register(id="adeu/FrozenLake-v0", entry_point="adeu.envs.frozen_lake:FrozenLake")
gymnasium.register(id="adeu/SafeFrozenLake-v0", entry_point="adeu.envs.frozen_lake:SafeFrozenLake")
