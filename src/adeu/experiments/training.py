"""Training in a Gymnasium environment of one's choice, as an experiment of one case."""

from __future__ import annotations

import dataclasses
from typing import Any

import adeu
from adeu.core import check
from adeu.core.contract import Distribution, Mechanism, Normalizer, Part
from adeu.experiments import plots
from adeu.experiments.experiment import MAX, MEAN, SOLVED, Experiment
from adeu.registry import PARTS, find_part, from_json
from adeu.runs.tabular import TabularTrainer
from adeu.tabular import lower

ROLES = {"f": Mechanism, "g": Normalizer, "D": Distribution}
ENDLESS = 1_000
"""After so many steps an episode is truncated, where the environment has no limit of its own."""


@dataclasses.dataclass(frozen=True)
class TableSetting:
    """Tabular Q-learning in a Gymnasium environment that has a transition table.

    Args:
        env: its registered name.
        f: the uncertainty.
        g: the normaliser.
        D: the distribution.
        episodes: how many to train.
        evaluate_every: episodes between two greedy ones.
        alpha: the step size, or "1/n".
        gamma: the discount.
        q: where the table starts.
    """

    env: str
    f: Mechanism
    g: Normalizer
    D: Distribution
    episodes: int = 20_000
    evaluate_every: int = 100
    alpha: float | str = "1/n"
    gamma: float = 0.99
    q: float = 0.0

    def trainer(self, seed: int) -> TabularTrainer:
        import gymnasium

        try:
            env = gymnasium.make(self.env)
        except (gymnasium.error.Error, ModuleNotFoundError) as error:
            raise ValueError(f"adeu train: env takes a registered name, got {self.env!r}: {error}") from None
        limit = env.spec.max_episode_steps if env.spec else None
        threshold = env.spec.reward_threshold if env.spec else None
        job = adeu.tabular.make_job(
            adeu.tabular.from_gymnasium(env),
            adeu.Explorer(self.f, self.g, self.D),
            episodes=self.episodes,
            max_steps=limit or ENDLESS,
            seed=seed,
            alpha=self.alpha,
            gamma=self.gamma,
            evaluate_every=self.evaluate_every,
            q=self.q,
        )
        return TabularTrainer(job, float("inf") if threshold is None else threshold)


def training(env: str, f: str, g: str, D: str) -> Experiment:
    """The experiment of one case: Q-learning in `env` that explores by f, g and D, each a part's name or its JSON."""
    parts: dict[str, Any] = {role: read_part(role, text) for role, text in (("f", f), ("g", g), ("D", D))}
    case = "-".join(type(part).__name__ for part in parts.values())
    return Experiment(
        name=f"train/{env.replace('/', '-')}",
        title=f"Q-learning in {env}, exploring by {parts['f']}",
        lesson="Each figure is the return of a greedy episode.",
        cases={case: TableSetting(env, **parts)},
        metrics=(MEAN, MAX, SOLVED),
        draw=plots.learning_curves,
        seeds=range(3),
    )


def read_part(role: str, text: str) -> Part:
    """A part by its name, in capitals or not, by its import path, or by its JSON; refused if it does not fit."""
    if text.lstrip().startswith("{"):
        part = from_json(text)
    else:
        kind = find_part({name.lower(): name for name in PARTS}.get(text.lower(), text))
        try:
            part = kind()
        except TypeError as error:
            form = f'{{"part": "{kind.__name__}", ...}}'
            raise ValueError(f"--{role}: {error}; give it as JSON, {form}") from None
    if not isinstance(part, ROLES[role]) or not _has_form(type(part)):
        fitting = [name for name, kind in PARTS.items() if issubclass(kind, ROLES[role]) and _has_form(kind)]
        check.refuse("adeu train", f"--{role}", f"a part with a tabular form: {', '.join(sorted(fitting))}", text)
    return part


def _has_form(kind: type[Part]) -> bool:
    return lower.dispatch(kind) is not lower.dispatch(object)
