"""Follow the steps of CONTRIBUTING to add an f, in a copy of the repository."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parents[1]
SECTION = re.search(r"## Add an f in six steps\n(.*?)\n## ", (ROOT / "CONTRIBUTING.md").read_text(), re.DOTALL)[1]
STEPS = re.findall(r"^\d\. (.*?)(?=^\d\. |^$)", SECTION, re.DOTALL | re.MULTILINE)

SOURCE = '''"""Uncertainty from the distance to past observations."""

from __future__ import annotations

import dataclasses
from typing import Any

import jax.numpy as jnp

from adeu.core import check
from adeu.core.contract import Array, Carry, Key, Mechanism, State, Transition


@dataclasses.dataclass(frozen=True)
class Surprise(Mechanism):
    """The distance of the observation to the running mean of past observations.

        f(s) = || s - m ||,   m <- m + rate * (s - m)

    Args:
        rate: the weight of the newest observation, in (0, 1].

    Examples:
        >>> import adeu, jax
        >>> f = adeu.Surprise()
        >>> state = f.init(jax.random.key(0), jax.numpy.zeros(2))
        >>> float(f.measure(jax.random.key(1), state, (), jax.numpy.array([3.0, 4.0]))[0])
        5.0

    Reference: none.
    """

    rate: float = 0.01

    def __post_init__(self) -> None:
        check.number(self, "rate", above=0, at_most=1)

    def init(self, key: Key, obs: Any) -> State:
        return jnp.zeros(jnp.shape(obs))

    def measure(self, key: Key, state: State, carry: Carry, obs: Any, **given: Any) -> tuple[Array, Carry]:
        return jnp.linalg.norm(obs - state), carry

    def observe(self, state: State, transition: Transition, **given: Any) -> State:
        return state + self.rate * (transition.obs - state)
'''
TESTS = """import jax, jax.numpy as jnp, pytest
import adeu


def test_surprise_is_the_distance_to_the_running_mean():
    f, obs = adeu.Surprise(rate=0.5), jnp.array([2.0, 0.0])
    state = f.observe(f.init(jax.random.key(0), obs), adeu.Transition(obs, 0, 0.0, obs, False, False))
    assert float(f.measure(jax.random.key(0), state, (), obs)[0]) == pytest.approx(1.0)
"""
BEHAVE = """import adeu, gymnasium, numpy as np

env = gymnasium.make_vec("CartPole-v1", 4)
for f in (adeu.Surprise(), adeu.Rnd()):
    behavior = adeu.Behavior(adeu.Explorer(f, adeu.Saturating(c=1.0), adeu.Bernoulli()), env, seed=0)
    obs, info = env.reset(seed=0)
    for _ in range(20):
        decision = behavior.act(obs, center=np.zeros((4, 2)))
        next_obs, *rest, info = env.step(decision.action)
        behavior.observe(adeu.Transition(obs, decision.action, rest[0], next_obs, *rest[1:]), info)
        obs = next_obs
    print(type(f).__name__, f.learns_from, decision.spread.shape, len(set(decision.uncertainty.tolist())))
"""


def edit(path, before, line):
    """Insert a line before the first one that starts with `before`."""
    text = path.read_text()
    place = re.search(rf"^{re.escape(before)}", text, re.MULTILINE).start()
    path.write_text(text[:place] + line + text[place:])


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """Return a copy of the repository after the six steps, which edit the files that CONTRIBUTING names."""
    root = tmp_path_factory.mktemp("copy")
    for name in ("src", "tests", "docs"):
        shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("CHANGELOG.md", "README.md", "pyproject.toml"):
        shutil.copy(ROOT / name, root)
    (root / "src/adeu/mechanisms/surprise.py").write_text(SOURCE)  # steps 1, 2 and 3
    edit(root / "src/adeu/__init__.pyi", "from .mechanisms.td_error", "from .mechanisms.surprise import Surprise\n")
    edit(root / "tests/contract/table.py", '    "TdError": Case', '    "Surprise": Case(adeu.Surprise()),\n')
    (root / "tests/mechanisms/test_surprise.py").write_text(TESTS)
    refused = '    (lambda: adeu.Surprise(rate=0), "Surprise: rate takes a finite number > 0 and <= 1, got 0"),\n'
    edit(root / "tests/test_bad_parts.py", "    (lambda: adeu.TdError(rate=2)", refused)
    edit(root / "docs/parts.md", "| [`TdError`]", "| `Surprise` | distance to the mean | | `observe` |\n")
    edit(
        root / "docs/reference/parts.md",
        "- [`adeu.TdError`]",
        "- [`adeu.Surprise`](../../src/adeu/mechanisms/surprise.py)\n",
    )
    edit(root / "CHANGELOG.md", "- ", "- `Surprise`.\n")
    return root


def run(copy, *arguments):
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    done = subprocess.run(
        [sys.executable, *map(str, arguments)],
        cwd=copy,
        env=inherited | {"PYTHONPATH": str(copy / "src")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_every_step_names_the_files_that_it_changes():
    named = [re.findall(r"`((?:src|tests|docs)/[\w./]+|CHANGELOG.md|registry.py)`", step) for step in STEPS]
    assert [set(paths) - {"registry.py"} for paths in named] == [
        {"src/adeu/mechanisms/"},
        set(),
        set(),
        {"src/adeu/__init__.pyi", "src/adeu/tabular/f_forms.py", "src/adeu/tabular/lower.py"},
        {"tests/contract/table.py", "tests/mechanisms/", "tests/test_bad_parts.py"},
        {"docs/parts.md", "docs/reference/parts.md", "CHANGELOG.md"},
    ]


def test_the_promised_tests_run_and_pass(copy):
    files = ["contract", "mechanisms/test_surprise.py", "test_bad_parts.py", "test_docs.py"]
    where = [f"tests/{name}" for name in files] + ["src/adeu/mechanisms/surprise.py"]
    told = run(copy, "-m", "pytest", "-n", "0", "-v", "-k", "surprise or exported or reference_has", *where)
    passed = re.findall(r"^(\S.*) PASSED", told, re.MULTILINE)
    for name in (
        "test_contract.py::test_every_exported_part_is_in_the_table",
        "test_contract.py::test_a_batch_equals_a_loop_and_environments_are_independent[Surprise]",
        "test_contract.py::test_json_round_trip[Surprise]",
        "test_surprise.py::test_surprise_is_the_distance_to_the_running_mean",
        "test_bad_fields_are_rejected[Surprise: rate takes a finite number > 0 and <= 1, got 0]",
        "surprise.py::adeu.mechanisms.surprise.Surprise",
        "test_docs.py::test_the_reference_has_every_public_name_once[adeu]",
    ):
        assert any(test.endswith(name) for test in passed), (name, told)


def test_it_can_be_trained_by_its_name(copy, tmp_path):
    train = ["train", "CartPole-v1", "--f", "rnd", "--f", "surprise", "--seeds", "0", "--json"]
    small = ["--steps", "200", "--set", "warmup=100", "--set", "evaluate_every=200", "--set", "evaluate_episodes=1"]
    told = run(copy, "-c", "from adeu.cli import main; main()", *train, *small, "--out", tmp_path)
    means = [row for row in json.loads(told) if row["metric"] == "mean"]
    assert [row["case"].partition("-")[0] for row in means] == ["rnd", "surprise"]
    assert means[1]["reference"] == means[0]["case"]
    assert means[1]["common_seeds"] == 1


def test_it_explores_in_a_vector(copy):
    surprise, rnd = run(copy, "-c", BEHAVE).splitlines()
    assert surprise == "Surprise frozenset({'observe'}) (4,) 4"
    assert rnd.startswith("Rnd frozenset({'update'}) (4,)")
