"""`adeu train`: an agent in a Gymnasium environment of one's choice, as an experiment of one case."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import pathlib
from collections.abc import Callable, Mapping
from typing import Any

import adeu
from adeu.core import check
from adeu.core.contract import Distribution, Mechanism, Normalizer, Part, Transition
from adeu.experiments import plots
from adeu.experiments.experiment import MAX, MEAN, SOLVED, SPREAD, Experiment, read
from adeu.experiments.gymnasium_settings import DqnSetting, TableSetting, make_env
from adeu.experiments.td3_setting import Td3Setting, read_run, warn_saturated
from adeu.registry import PARTS, read_part, to_json
from adeu.runs.statistics import Curves
from adeu.tabular import QLearning

LONGEST = 120
"""Letters in a case's name, which is that of a folder."""
ROLES = {"f": Mechanism, "g": Normalizer, "D": Distribution}
DISAGREEING = 5
"""How many networks there are where f is what they disagree about."""
DISAGREE = {"dqn": "ensemble", "td3": "critics"}
"""The name of the setting that says so."""


@dataclasses.dataclass(frozen=True)
class Agent:
    """
    Args:
        setting: makes the setting of an environment, f, g and D.
        parts: the f, g and D it takes where nobody says otherwise.
        length: the name of the setting that says how long it trains.
        try_out: raises where an explorer and an environment do not fit it.
    """

    setting: Callable[..., Any]
    parts: dict[str, str]
    length: str
    try_out: Callable[[adeu.Explorer, Any], None]


def table_setting(env: str, f: Mechanism, g: Normalizer, D: Distribution) -> TableSetting:
    return TableSetting(env, QLearning(adeu.Explorer(f, g, D), alpha="1/n"))


def try_table(explorer: adeu.Explorer, env: Any) -> None:
    QLearning(explorer).job(adeu.tabular.from_gymnasium(env), episodes=1, max_steps=1, seed=0)


def try_dqn(explorer: adeu.Explorer, env: Any) -> None:
    """Binds it to the spaces and traces a step, which compiles nothing."""
    import jax
    import numpy as np

    from adeu.agents import Dqn
    from adeu.agents.dqn import bound

    _, rule = bound(Dqn(explorer, ensemble=2), env.observation_space, env.action_space)
    whole = not env.observation_space.shape
    obs = np.zeros((), np.int32) if whole else np.zeros(int(np.prod(env.observation_space.shape)), np.float32)

    def step(key: Any) -> Any:
        learner, actor = rule.init(key, obs)
        decision, actor = rule.decide(key, learner, actor, 0)
        transition = Transition(obs, decision.action, jax.numpy.zeros(()), obs, *np.zeros((2, 1), bool)[:, 0])
        learner, actor = rule.absorb(key, learner, actor, transition, obs, 0)
        return rule.learn(key, learner, 1)

    jax.eval_shape(step, jax.random.key(0))


def try_td3(explorer: adeu.Explorer, env: Any) -> None:
    """Binds it to the spaces and traces a step, which compiles nothing."""
    import jax
    import jax.numpy as jnp

    from adeu.agents import Td3
    from adeu.agents.td3 import Acting, bound

    td3, rule = bound(Td3(explorer), env.observation_space, env.action_space)
    obs = jnp.zeros(env.observation_space.shape)

    def step(key: Any) -> Any:
        learner = rule.init(key, obs)
        acting = Acting(learner.actor, learner.critics, learner.f)
        decision, _ = rule.decide(key, acting, td3.explorer.begin(key), obs, 0, {})
        no = jnp.zeros((), bool)
        transition = Transition(obs, decision.action, jnp.zeros(()), obs, no, no)
        td_error = rule.td_error(key, learner, transition)
        learner = learner._replace(f=td3.explorer.observe(learner.f, transition, step=0, td_error=td_error))
        batches = jax.tree.map(lambda value: jnp.stack([jnp.stack([value])] * td3.policy_delay), transition)
        return rule.update(key, learner, batches, 0)

    jax.eval_shape(step, jax.random.key(0))


AGENTS = {
    "q-learning": Agent(
        table_setting, {"f": "Counts", "g": "ShiftedSigmoid", "D": "Categorical"}, "episodes", try_table
    ),
    "dqn": Agent(
        DqnSetting,
        {"f": '{"part": "Rnd", "adapt": 0.01}', "g": '{"part": "Saturating", "c": 0.1}', "D": "Bernoulli"},
        "steps",
        try_dqn,
    ),
    "td3": Agent(
        functools.partial(Td3Setting, steps=20_000, evaluate_every=1_000, warmup=1_000, learning_rate=1e-3),
        {"f": '{"part": "Rnd", "adapt": 0.01}', "g": "Sigmoid", "D": "Gaussian"},
        "steps",
        try_td3,
    ),
}


def training(
    env: str,
    agent: str | None,
    f: str | None,
    g: str | None,
    D: str | None,
    steps: int | None = None,
    changes: tuple[str, ...] = (),
) -> Experiment:
    """The experiment of one case: an agent in `env` that explores by f, g and D, each a part's name or its JSON.

    The case is named after all that was chosen, so that each choice has runs of its own: after the parts, the steps
    and what `--set` is to change.
    """
    made = make_env(env)
    name = choose(made) if agent is None else agent
    if name not in AGENTS:
        raise ValueError(f"adeu train: unknown agent {name!r}; {check.nearest(name, AGENTS)}")
    chosen = AGENTS[name]
    texts = {role: text or chosen.parts[role] for role, text in (("f", f), ("g", g), ("D", D))}
    parts = {role: read_part(f"--{role}", text) for role, text in texts.items()}
    fit(name, made, parts, texts)
    setting = chosen.setting(env, **parts)
    if name in DISAGREE and "EnsembleStd" in to_json(parts["f"]):
        setting = dataclasses.replace(setting, **{DISAGREE[name]: DISAGREEING})
    if steps is not None:
        if chosen.length != "steps":
            check.refuse("adeu train", "--steps", f"no value for {name}: give --set {chosen.length}=...", steps)
        setting = dataclasses.replace(setting, steps=steps)
        changes = f"steps={steps}", *changes
    case = "-".join([name, *map(named, parts.values()), *changes]).replace("/", "-")
    if len(case) > LONGEST:
        case = f"{case[:LONGEST]}-{hashlib.sha256(case.encode()).hexdigest()[:8]}"
    return Experiment(
        name=f"train/{env.replace('/', '-').replace(':', '-')}",
        title=f"Training in {env}",
        lesson="Each point of the curve is the mean return of greedy episodes.",
        cases={case: setting},
        metrics=(MEAN, MAX, SOLVED, SPREAD),
        draw=draw_td3 if name == "td3" else plots.learning_curves,
        seeds=range(3),
        read=read_run if name == "td3" else read,
    )


def draw_td3(curves: Mapping[str, Curves], folder: pathlib.Path) -> list[pathlib.Path]:
    warn_saturated(curves)
    return plots.learning_curves(curves, folder)


def named(part: Any) -> str:
    """A part's name, and the fields that are not its defaults.

    Examples:
        >>> import adeu
        >>> named(adeu.Rollouts(adeu.Rnd(), rho=0.3, c=0.2)), named(adeu.Sigmoid())
        ('Rollouts(f=Rnd,rho=0.3,c=0.2)', 'Sigmoid')
    """
    if not isinstance(part, Part):
        return str(part)
    fields = {field.name: (getattr(part, field.name), field.default) for field in dataclasses.fields(part)}
    changed = [f"{name}={named(value)}" for name, (value, default) in fields.items() if value != default]
    return type(part).__name__ + (f"({','.join(changed)})" if changed else "")


def choose(env: Any) -> str:
    """The agent for an environment: tables where it has one of its own, else the one for its actions."""
    if hasattr(env.unwrapped, "P"):
        return "q-learning"
    return "dqn" if hasattr(env.action_space, "n") else "td3"


def fit(agent: str, env: Any, parts: dict[str, Any], texts: dict[str, str]) -> None:
    """Refuses the first part that does not go with the agent and the environment, and says which do."""
    defaults = {role: read_part(f"--{role}", text) for role, text in AGENTS[agent].parts.items()}
    why = _why_not(agent, env, defaults)
    if why:
        raise ValueError(f"adeu train: {agent} does not go with {env.spec.id}: {why}")
    for role, part in parts.items():
        why = _why_not(agent, env, defaults | {role: part})
        if why:
            fitting = sorted(name for name, kind in PARTS.items() if _fits(agent, env, defaults, role, kind))
            takes = f"a part that goes with {agent} in {env.spec.id}, such as {', '.join(fitting)}"
            raise ValueError(f"adeu train: --{role} takes {takes}; got {texts[role]!r} ({why})")
    why = _why_not(agent, env, parts)
    if why:
        raise ValueError(f"adeu train: --f, --g and --D do not go together: {why}")


def _fits(agent: str, env: Any, defaults: dict[str, Any], role: str, kind: type[Part]) -> bool:
    try:
        return issubclass(kind, ROLES[role]) and not _why_not(agent, env, defaults | {role: kind()})
    except TypeError:  # it takes arguments
        return False


def _why_not(agent: str, env: Any, parts: dict[str, Any]) -> str:
    """Why these parts cannot explore there; empty: they can."""
    try:
        AGENTS[agent].try_out(adeu.Explorer(**parts), env)
    except (TypeError, ValueError, NotImplementedError) as error:
        return str(error)
    return ""
