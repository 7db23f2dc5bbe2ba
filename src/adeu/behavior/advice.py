"""Advice on what to change if g stays at its maximum or at 0, depending on the parts."""

from __future__ import annotations

from typing import Literal

from adeu.core.contract import Mechanism
from adeu.core.explorer import Explorer
from adeu.mechanisms.constant import Constant, Recorded, Schedule
from adeu.mechanisms.counts import Counts
from adeu.mechanisms.ensemble import EnsembleStd
from adeu.mechanisms.rnd import Rnd
from adeu.mechanisms.stakes import Stakes
from adeu.mechanisms.td_error import TdError

End = Literal["top", "bottom"]
"""The end of g's range: "top" is within 1% of the maximum, "bottom" at most 1% of it."""
OFTEN = 0.95
"""The share of decisions at one end above which a warning is issued."""


def advise(explorer: Explorer, end: End) -> str:
    """Return a sentence that names the parameter to change.

    Examples:
        >>> import adeu
        >>> explorer = adeu.Explorer(adeu.EnsembleStd(lam=10.0), adeu.Saturating(0.2), adeu.Gaussian())
        >>> advise(explorer, "top")
        'Give EnsembleStd a smaller lam than 10.0.'
    """
    sentences = [sentence for part in _leaves(explorer.f) if (sentence := _of_part(part, end))]
    if sentences:
        return sentences[0]
    if is_chosen(explorer):
        return f"The spread is that of {explorer.f!r}: choose a {'smaller' if end == 'top' else 'larger'} one."
    if end == "top":
        return "adeu.Calibrated(f) divides f by its running mean."
    return "adeu.Calibrated(f) divides f by its running mean; adeu.Sigmoid(c) keeps a spread of c/2."


def is_chosen(explorer: Explorer) -> bool:
    """Return whether f consists only of fixed numbers, so that a spread of 0 is intended."""
    return all(isinstance(part, Constant | Schedule | Recorded) for part in _leaves(explorer.f))


def _leaves(f: Mechanism) -> list[Mechanism]:
    return [leaf for part in f.parts for leaf in _leaves(part)] or [f]


def _of_part(part: Mechanism, end: End) -> str:
    top = end == "top"
    less, more = ("smaller", "larger") if top else ("larger", "smaller")
    if isinstance(part, Rnd) and part.scale is not None:
        return f"Rnd's U = {part.scale} is too {'large' if top else 'small'} here: adeu.Rnd() fits U to the data."
    if isinstance(part, Rnd):
        often = "call update() more often, or give it" if top else "give it"
        keeps = "" if top else ", or use adeu.Sigmoid(c), which keeps a spread of c/2"
        return f"Rnd falls as it learns: {often} a {more} learning_rate than {part.learning_rate}{keeps}."
    if isinstance(part, EnsembleStd):
        return f"Give EnsembleStd a {less} lam than {part.lam}."
    if isinstance(part, Stakes):
        return f"Give Stakes a {less} scale than {part.scale}."
    if isinstance(part, Counts):
        return f"Give Counts a {more} beta than {part.beta}."
    if isinstance(part, TdError):
        return f"Give TdError a {more} sigma than {part.sigma}."
    return ""
