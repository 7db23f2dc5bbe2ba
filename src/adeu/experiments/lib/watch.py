"""Means of columns after the warm-up, and warnings if f had hardly any influence."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adeu.behavior.advice import OFTEN, advise, is_chosen
from adeu.experiments.lib.experiment import Metric
from adeu.runs.statistics import Curves, known_mean


def after_warmup(curves: Curves, name: str) -> NDArray[np.float64]:
    """Return each seed's mean of a column after the warm-up; NaN if the run ended during the warm-up."""
    return known_mean(np.where(curves["trained"] > 0, curves[name], np.nan), 1)


TRAINED_SPREAD = Metric(
    "spread", "spread after warm-up", lambda curves: after_warmup(curves, "spread"), ".3f", better=""
)


def warn_saturated(curves: Mapping[str, Curves], settings: Mapping[str, Any]) -> None:
    """Warn about each case in which g nearly always gave its largest spread, or hardly any spread.

    Args:
        curves: the curves of each case; cases without the columns of a `TrainingSetting` are skipped.
        settings: the setting of each case, for advice on its parts.
    """
    for case, curve in curves.items():
        agent = getattr(settings.get(case), "agent", None)
        if agent is None or not {"trained", "saturated", "spread"} <= set(curve):
            continue
        explorer, share = agent.explorer, float(known_mean(after_warmup(curve, "saturated"), 0))
        if share > OFTEN:
            warnings.warn(
                f"{case}: after the warm-up, g gave its largest spread in {share:.0%} of the steps outside rollout "
                f"episodes, so f had hardly any influence. {advise(explorer, 'top')}",
                stacklevel=2,
            )
        if not is_chosen(explorer) and explorer.g.dead(known_mean(after_warmup(curve, "spread"), 0)):
            warnings.warn(
                f"{case}: after the warm-up, the mean spread was below 1% of the most that g can give, so the agent "
                f"hardly explored. {advise(explorer, 'bottom')}",
                stacklevel=2,
            )
