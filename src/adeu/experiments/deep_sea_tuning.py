"""Tunes the settings of the DeepSea figure: three candidates for every method, on the two smallest seas."""

from __future__ import annotations

from adeu.experiments import deep_sea
from adeu.experiments.deep_sea import SeaSetting, coin, ensemble, options
from adeu.experiments.lib.experiment import Family

SIZES = (10, 20)
TITLE = "DeepSea, candidates"


def candidates(size: int) -> dict[str, SeaSetting]:
    return {
        **{f"ez-cut mu={mu}": options(size, mu=mu, carried=False) for mu in (1.5, 2.0, 3.0)},
        **{f"ez-carried mu={mu}": options(size, mu=mu, carried=True) for mu in (1.5, 2.0, 3.0)},
        **{f"bdqn start={start}": ensemble(size, "sampled", start=start) for start in (0.01, 0.1, 1.0)},
        **{f"ucb lambda={lam}": ensemble(size, "ucb", start=0.1, ucb=lam) for lam in (1.0, 3.0, 10.0)},
        **{f"eps-greedy {name}": coin(size, value) for name, value in _coins(size).items()},
    }


def _coins(size: int) -> dict[str, float]:
    return {"1 in N+1": 1 / (size + 1), "0.05": 0.05, "0.2": 0.2}


EXPERIMENT = Family(
    name="deep-sea-tuning",
    title=f"{TITLE}: three values per method",
    members=tuple(
        deep_sea.member("deep-sea-tuning", size, candidates(size), TITLE, "some minutes") for size in SIZES
    ),
    draw=deep_sea.draw_all,
)
