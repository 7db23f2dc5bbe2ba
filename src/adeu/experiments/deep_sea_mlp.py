"""The DeepSea figure again, with networks in place of tables: DQN whose loop is compiled with the sea.

A run ends when it has solved the sea; in the figure it goes on as it ended.
"""

from __future__ import annotations

import dataclasses

import adeu
from adeu.agents import Dqn
from adeu.core.contract import Distribution, Mechanism, Normalizer
from adeu.envs import JaxDeepSea, Sea
from adeu.experiments import deep_sea
from adeu.experiments.ended import read_on
from adeu.experiments.experiment import Family
from adeu.experiments.from_setting import agent_of
from adeu.runs.trainers.jax_trainer import CompiledTrainer

SIZES = (20, 40, 80)


@dataclasses.dataclass(frozen=True)
class NetworkSetting:
    """DQN over networks in a deep sea.

    Args:
        f: the uncertainty.
        g: the normaliser.
        D: the distribution.
        sea: the environment.
        steps: how many, a multiple of 1,000, which is from one greedy episode to the next.
        hidden: the sizes of the hidden layers.
        learning_rate: of Adam.
        gamma: the discount.
        capacity: how many transitions the replay holds.
        batch: how many an update takes.
        update_every: environment steps per update.
        target_every: environment steps per copy into the target network.
        ensemble: how many heads on one trunk.
        acting: with several, the preferences: "mean", "sampled" or "ucb".
        ucb: lambda.
        prior: the weight of the fixed random network beside each.
        rows: the first layer's weights start uniform within it.
    """

    f: Mechanism
    g: Normalizer
    D: Distribution
    sea: Sea
    steps: int = 1_000_000
    hidden: tuple[int, ...] = (50, 50)
    learning_rate: float = 3e-4
    gamma: float = 0.99
    capacity: int = 100_000
    batch: int = 32
    update_every: int = 4
    target_every: int = 100
    ensemble: int = 1
    acting: str = "mean"
    ucb: float = 0.0
    prior: float = 0.0
    rows: float = 1.0

    def trainer(self, seed: int) -> CompiledTrainer:
        dqn = agent_of(Dqn, self, heads=True, evaluate_every=deep_sea.EVALUATE_STEPS)
        enough = deep_sea.WINDOW // deep_sea.EVALUATE_STEPS
        return CompiledTrainer(dqn, JaxDeepSea(self.sea), seed, self.steps, self.sea.treasure / 2, enough)


def options(size: int, *, carried: bool) -> NetworkSetting:
    start = adeu.Constant(1 / (size + 1))
    return NetworkSetting(start, adeu.Identity(), adeu.Options(2.0, carried=carried), Sea(size))


def coin(size: int, epsilon: float) -> NetworkSetting:
    return NetworkSetting(adeu.Constant(epsilon), adeu.Identity(), adeu.Bernoulli(), Sea(size))


def ensemble(size: int, acting: str, ucb: float = 0.0) -> NetworkSetting:
    return dataclasses.replace(coin(size, 0.0), ensemble=10, acting=acting, ucb=ucb, prior=3.0)


def cases(size: int) -> dict[str, NetworkSetting]:
    return {
        "ez-cut": options(size, carried=False),
        "ez-carried": options(size, carried=True),
        "bdqn": ensemble(size, "sampled"),
        "ucb": ensemble(size, "ucb", ucb=3.0),
        "eps-greedy": coin(size, 1 / (size + 1)),
        "eps-greedy-usual-init": dataclasses.replace(coin(size, 1 / (size + 1)), rows=1 / size),
    }


EXPERIMENT = Family(
    name="deep-sea-mlp",
    title="DeepSea with networks: steps to solve over the sea's size",
    members=tuple(
        dataclasses.replace(deep_sea.member("deep-sea-mlp", size, cases(size), "DeepSea with networks"), read=read_on)
        for size in SIZES
    ),
    draw=deep_sea.draw_all,
)
