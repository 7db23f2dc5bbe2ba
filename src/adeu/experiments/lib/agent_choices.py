"""The agents of `adeu train`: their settings, their default parts, and checks that parts fit."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import adeu
from adeu.agents import Dqn, Sac, Td3
from adeu.agents.agent import AnyAgent
from adeu.agents.rehearsal import rehearse
from adeu.core import check
from adeu.core.contract import Distribution, Mechanism, Normalizer, Part
from adeu.experiments.lib.gym_env import name_of
from adeu.experiments.lib.table_setting import TableSetting
from adeu.experiments.lib.training_setting import TrainingSetting
from adeu.registry import PARTS, read_part
from adeu.runs.spec import Setting
from adeu.tabular import QLearning

if TYPE_CHECKING:
    from gymnasium import Env

ROLES = {"f": Mechanism, "g": Normalizer, "D": Distribution}
DISAGREEING = 5
"""The number of networks if f measures their disagreement."""


@dataclasses.dataclass(frozen=True)
class Choice:
    """An agent of `adeu train`.

    Args:
        setting: returns the setting for an environment and an explorer.
        parts: the default f, g and D.
        length: the name of the field for the length of training.
        fit: raises an error if an explorer or an environment does not fit the agent.
    """

    setting: Callable[[str, adeu.Explorer], Setting]
    parts: dict[str, str]
    length: str
    fit: Callable[[adeu.Explorer, Env[Any, Any]], None]


def networks(make: Callable[..., AnyAgent], several: str, parts: dict[str, str], **loop: Any) -> Choice:
    """Return the choice of an agent with networks.

    Args:
        make: builds the agent from an explorer.
        several: the name of the agent's field for the number of networks that give `q_values`.
        parts: the default f, g and D.
        loop: further fields of `TrainingSetting`.
    """

    def agent(explorer: adeu.Explorer) -> AnyAgent:
        return make(explorer, **{several: DISAGREEING} if "q_values" in explorer.needs("act") else {})

    def setting(env: str, explorer: adeu.Explorer) -> TrainingSetting:
        return TrainingSetting(env, agent(explorer), **loop)

    def fit(explorer: adeu.Explorer, env: Env[Any, Any]) -> None:
        rehearse(agent(explorer), env.observation_space, env.action_space)

    return Choice(setting, parts, "steps", fit)


def q_learning_setting(env: str, explorer: adeu.Explorer) -> TableSetting:
    return TableSetting(env, QLearning(explorer, alpha="1/n"))


def fit_q_learning(explorer: adeu.Explorer, env: Env[Any, Any]) -> None:
    QLearning(explorer).job(adeu.tabular.from_gymnasium(env), episodes=1, max_steps=1, seed=0)


def dqn(explorer: adeu.Explorer, **fields: Any) -> Dqn:
    return Dqn(explorer, capacity=50_000, batch=64, hidden=(64, 64), target_every=200, double=True, **fields)


def td3(explorer: adeu.Explorer, **fields: Any) -> Td3:
    return Td3(explorer, learning_rate=1e-3, **fields)


def sac(explorer: adeu.Explorer, **fields: Any) -> Sac:
    return Sac(explorer, learning_rate=1e-3, **fields)


CONTINUOUS = {"f": "Rnd", "g": "Sigmoid", "D": "Gaussian"}
AGENTS = {
    "q-learning": Choice(
        q_learning_setting, {"f": "Counts", "g": "ShiftedSigmoid", "D": "Categorical"}, "episodes", fit_q_learning
    ),
    "dqn": networks(
        dqn,
        "ensemble",
        {"f": "Rnd", "g": '{"part": "Saturating", "c": 0.1}', "D": "Bernoulli"},
        steps=50_000,
        warmup=500,
        evaluate_every=1_000,
        evaluate_episodes=5,
        traced=(10, 100),
    ),
    "td3": networks(td3, "critics", CONTINUOUS, steps=20_000, warmup=1_000, evaluate_every=1_000),
    "sac": networks(sac, "critics", CONTINUOUS, steps=20_000, warmup=1_000, evaluate_every=1_000),
}


def read_parts(texts: Mapping[str, str]) -> dict[str, Part]:
    """Return the f, g and D named by texts. "constant" without a value is the paper's f = c: g's largest spread."""
    if texts["f"].lower() != "constant":
        return {role: read_part(f"--{role}", text) for role, text in texts.items()}
    g, D = read_part("--g", texts["g"]), read_part("--D", texts["D"])
    c = getattr(g, "ceiling", None)
    if c is None:
        takes = 'a g with a largest spread, which becomes the constant, or JSON, {"part": "Constant", "c": ...}'
        check.refuse("adeu train", "--f constant", takes, texts["g"])
    return {"f": adeu.Constant(c), "g": adeu.Identity(), "D": D}


def explorer_of(parts: Mapping[str, Any]) -> adeu.Explorer:
    """Return the explorer of f, g and D; its constructor checks their roles."""
    return adeu.Explorer(**parts)


def choose(env: Env[Any, Any]) -> str:
    """Return the name of the agent for an environment: "q-learning" if it has a transition table, else by actions."""
    if hasattr(env.unwrapped, "P"):
        return "q-learning"
    return "dqn" if hasattr(env.action_space, "n") else "td3"


def check_fit(agent: str, env: Env[Any, Any], parts: dict[str, Part], texts: dict[str, str]) -> None:
    """Reject the first part that does not fit the agent and the environment, and list parts that do."""
    defaults = read_parts(AGENTS[agent].parts)
    why = _why_not(agent, env, defaults)
    if why:
        raise ValueError(f"adeu train: {agent} does not fit {name_of(env)}: {why}")
    for role, part in parts.items():
        why = _why_not(agent, env, defaults | {role: part})
        if why:
            fitting = sorted(name for name, kind in PARTS.items() if _fits(agent, env, defaults, role, kind))
            takes = f"a part that fits {agent} in {name_of(env)}, such as {', '.join(fitting)}"
            raise ValueError(f"adeu train: --{role} takes {takes}; got {texts[role]!r} ({why})")
    why = _why_not(agent, env, parts)
    if why:
        raise ValueError(f"adeu train: --f, --g and --D do not fit together: {why}")


def _fits(agent: str, env: Env[Any, Any], defaults: dict[str, Part], role: str, kind: type[Part]) -> bool:
    try:
        return issubclass(kind, ROLES[role]) and not _why_not(agent, env, defaults | {role: kind()})
    except TypeError:  # required arguments
        return False


def _why_not(agent: str, env: Env[Any, Any], parts: dict[str, Part]) -> str:
    """Return why these parts do not fit the agent and the environment; empty if they fit."""
    try:
        AGENTS[agent].fit(explorer_of(parts), env)
    except (TypeError, ValueError, NotImplementedError) as error:
        return str(error)
    return ""
