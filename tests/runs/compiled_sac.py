"""A setting for SAC in the compiled loop, which no experiment has, and a command that trains some seeds."""

import dataclasses
import pathlib
import sys

import adeu
from adeu.agents import JaxLoop, Sac
from adeu.runs.spec import Spec
from adeu.runs.sweep import sweep
from adeu.runs.trainers.jax_trainer import JaxTrainer
from tests.agents.pendulum import Pendulum

EXPLORER = adeu.Explorer(adeu.Rollouts(adeu.EnsembleStd(), 0.5, 0.2), adeu.Sigmoid(0.2), adeu.Gaussian())
AGENT = Sac(EXPLORER, hidden=(16,), batch=16, capacity=1_000)
SEEDS = range(3)


@dataclasses.dataclass(frozen=True)
class CompiledSac:
    steps: int = 8_000

    def trainer(self, seed):
        loop = JaxLoop(AGENT, Pendulum(limit=50), warmup=200, evaluate_every=200, evaluate_steps=50)
        return JaxTrainer(loop, seed, self.steps, goal=0.0)


def main():
    *_, out = sys.argv
    sys.exit(bool(sweep([Spec("compiled", "sac", seed, CompiledSac()) for seed in SEEDS], pathlib.Path(out), jobs=1)))
