"""Adds exploration figures to a Stable-Baselines3 logger."""

from __future__ import annotations

from typing import Any

from stable_baselines3.common.logger import KVWriter, Logger

from adeu.behavior.tally import Tally


class ExplorationRows(KVWriter):
    """Adds the figures of a tally to each output of a logger; percentiles cannot be running means.

    It is the first of the logger's output formats. A copy, such as that of a copied model, adds nothing.

    Args:
        tally: the decisions since the logger last wrote.
        logger: the model's logger.
    """

    def __init__(self, tally: Tally | None = None, logger: Logger | None = None) -> None:
        self.tally, self._logger = tally, logger

    def write(self, key_values: dict[str, Any], key_excluded: dict[str, tuple[str, ...]], step: int = 0) -> None:
        if self.tally is not None and self._logger is not None:
            for name, value in self.tally.scalars().items():
                self._logger.record(name, value)

    def close(self) -> None:
        """Does nothing."""

    def __reduce__(self) -> tuple[Any, ...]:
        return ExplorationRows, ()


def show(tally: Tally, logger: Logger) -> None:
    """Makes the logger write the figures of this tally, instead of any other tally."""
    first = logger.output_formats[0] if logger.output_formats else None
    if not (isinstance(first, ExplorationRows) and first.tally is tally):
        others = [each for each in logger.output_formats if not isinstance(each, ExplorationRows)]
        logger.output_formats = [ExplorationRows(tally, logger), *others]
