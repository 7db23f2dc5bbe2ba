"""The paper's two figures of normalisers: the shifted sigmoid of the lakes, and the two g of the main experiments."""

from __future__ import annotations

import pathlib

import jax.numpy as jnp

import adeu
from adeu.experiments.lib import plots


def draw(folder: pathlib.Path) -> list[pathlib.Path]:
    """Draw both figures side by side."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 3.8), layout="constrained")
    left, right = plots.side_by_side(figure)
    x = jnp.linspace(0.01, 8, 400)
    for shift, label, color in ((2.0, "shifted by 2", 0), (0.0, "classic", 1)):
        trust = 1 - adeu.ShiftedSigmoid(shift)(1 / x)  # the uncertainty of x = beta * sqrt(n) is 1/x
        left.plot(x, trust, color=plots.COLORS[color], label=label)
    left.set(xlabel="$\\beta\\sqrt{n(s)}$", ylabel="trust in the preferences, $1 - g(f(s))$")
    for g, label, color in ((adeu.Sigmoid(0.2), "0.2 sigmoid(x)", 0), (adeu.Saturating(0.2), "0.2 (1 - exp(-x))", 1)):
        right.plot(x, g(x), color=plots.COLORS[color], label=label)
    right.set(xlabel="uncertainty $f(s)$", ylabel="spread $g(f(s))$")
    for axes in (left, right):
        axes.set(xlim=(0, 8), ylim=(0, None))
        axes.legend()
    folder.mkdir(parents=True, exist_ok=True)
    return plots.save(figure, folder / "normalizers")
