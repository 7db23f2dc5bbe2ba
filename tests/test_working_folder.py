"""Commands do not run code from the working folder, unless they are given an import path."""

import os
import subprocess
import sys

import pytest

COMMAND = [sys.executable, "-P", "-c", "from adeu.cli import main; main()"]  # -P, like the installed command
TRAP = "import pathlib; pathlib.Path(__file__).with_suffix('.sprung').touch()\n"
SHADOWS = (
    "adeu",
    "coverage",
    "json",
    "matplotlib",
    "numba",
    "numpy",
    "queue",
    "random",
    "rich",
    "tyro",
    "jax",
    "ray",
)
SMALL = ["--set", "lake.size=12", "--set", "episodes=300", "--seeds", "0", "--jobs", "1"]
MINE = """
import adeu, dataclasses, jax.numpy as jnp

@dataclasses.dataclass(frozen=True)
class Mine(adeu.Mechanism):
    c: float = 0.5

    def measure(self, key, state, carry, obs, **given):
        return jnp.asarray(self.c), carry
"""


@pytest.fixture
def folder(tmp_path):
    """Return a folder with modules that shadow others, and configurations that numba and matplotlib would read."""
    folder = tmp_path / "hostile"
    folder.mkdir()
    for name in (*SHADOWS, "sitecustomize", "usercustomize"):
        (folder / f"{name}.py").write_text(TRAP)
    (folder / "mine.py").write_text(MINE)
    (folder / ".numba_config.yaml").write_text("cache_dir: kernels\nchrome_trace: trace.json\n")
    os.mkfifo(folder / "matplotlibrc")
    return folder


def adeu(folder, *arguments):
    run = subprocess.run([*COMMAND, *arguments], cwd=folder, capture_output=True, text=True, timeout=900)
    assert run.returncode == 0, run.stderr
    return run.stdout


def check(folder):
    assert sorted(path.name for path in folder.rglob("*.sprung")) == []
    assert not (folder / "kernels").exists()
    assert not (folder / "trace.json").exists()


def test_python_without_safe_path_imports_the_traps(tmp_path):
    """The tests below rely on this."""
    (tmp_path / "queue.py").write_text(TRAP)
    subprocess.run([sys.executable, "-c", "import queue"], cwd=tmp_path, check=True)
    assert (tmp_path / "queue.sprung").exists()


def test_no_command_imports_from_the_working_folder(folder):
    assert "frozen-lake" in adeu(folder, "list")
    assert "summary.json" in adeu(folder, "run", "frozen-lake/adeu", *SMALL)
    check(folder)
    assert "curves.svg" in adeu(folder, "plot", "frozen-lake/adeu", "--seeds", "0")
    assert "report.html" in adeu(folder, "report", ".")
    check(folder)
    coin = ["--f", '{"part": "Constant", "c": 0.1}', "--g", "identity", "--D", "bernoulli"]
    adeu(folder, "train", "CliffWalking-v1", *coin, "--set", "episodes=500", "--seeds", "0", "--jobs", "1")
    check(folder)


def test_an_import_path_finds_a_module_there_without_shadowing_installed_ones(folder):
    (folder / "coverage.py").unlink()  # not installed, so numba would import this one
    parts = ["--f", "mine:Mine", "--g", '{"part": "Clip", "high": 0.3}', "--D", "bernoulli"]
    few = ["--steps", "2000", "--set", "warmup=100", "--seeds", "0", "--jobs", "1", "--quiet"]
    adeu(folder, "train", "CartPole-v1", *parts, *few)
    check(folder)


@pytest.mark.slow
def test_no_node_of_a_cluster_imports_from_the_working_folder(folder):
    pytest.importorskip("ray", reason="pip install 'adeu-rl[ray]'")
    adeu(folder, "run", "frozen-lake/adeu", *SMALL, "--out", "on-ray", "--engine", "ray")
    check(folder)
