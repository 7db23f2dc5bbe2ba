"""The main table with the hyper-parameters of TD3's authors instead of the paper's."""

from __future__ import annotations

from adeu.experiments.mujoco import family

EXPERIMENT = family("mujoco-td3", "td3")
