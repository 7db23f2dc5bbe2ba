"""A setting whose runs wait half-way until a file exists."""

import dataclasses
import pathlib
import time

from adeu.experiments.lib.lake_setting import LakeSetting
from adeu.runs.trainers.tabular_trainer import TabularTrainer
from adeu.runs.trainers.trainer import Piece


@dataclasses.dataclass(frozen=True)
class Waiting:
    setting: LakeSetting
    gate: str

    def trainer(self, seed):
        trainer = self.setting.trainer(seed)
        return WaitingTrainer(trainer.job, trainer.goal, trainer.traced, self.gate)


@dataclasses.dataclass
class WaitingTrainer(TabularTrainer):
    gate: str = ""

    def advance(self):
        if self.done < self.total // 2 or pathlib.Path(self.gate).exists():
            return super().advance()
        time.sleep(0.05)
        return Piece([])
