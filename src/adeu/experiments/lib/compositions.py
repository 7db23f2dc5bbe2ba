"""What a case is made of, in a line."""

from __future__ import annotations

import dataclasses
from typing import Any

from adeu.core.explorer import Explorer


def composition(setting: Any) -> str:
    """The f, g and D of a setting's agent; where it has no explorer, the setting's own fields.

    Examples:
        >>> import adeu
        >>> from adeu.agents import Td3
        >>> from adeu.experiments.lib.training_setting import TrainingSetting
        >>> td3 = Td3(adeu.Explorer(adeu.Constant(0.2), adeu.Identity(), adeu.Gaussian()), critics=5)
        >>> composition(TrainingSetting("Hopper-v5", td3))
        'Td3(critics=5): f=Constant(c=0.2), g=Identity, D=Gaussian'
    """
    agent = getattr(setting, "agent", setting)
    explorer = getattr(agent, "explorer", None)
    if not isinstance(explorer, Explorer):
        return named(agent)
    parts = {"f": explorer.f, "g": explorer.g} | explorer.parts
    return f"{named(agent, 'explorer')}: " + ", ".join(f"{name}={named(part)}" for name, part in parts.items())


def named(value: Any, *left_out: str) -> str:
    """A value's name, and the fields that are not its defaults.

    Examples:
        >>> import adeu
        >>> named(adeu.Rollouts(adeu.Rnd(), rho=0.3, c=0.2)), named(adeu.Sigmoid())
        ('Rollouts(f=Rnd,rho=0.3,c=0.2)', 'Sigmoid')
    """
    if not dataclasses.is_dataclass(value) or isinstance(value, type):
        return str(value)
    fields = {field.name: (getattr(value, field.name), field.default) for field in dataclasses.fields(value)}
    changed = [
        f"{name}={named(item)}"
        for name, (item, default) in fields.items()
        if item != default and name not in left_out
    ]
    return type(value).__name__ + (f"({','.join(changed)})" if changed else "")
