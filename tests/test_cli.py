"""The command line."""

import json
import os
import shutil
import signal
import subprocess
import sys
import warnings

import gymnasium
import pytest

from adeu import from_json, recipes
from adeu.cli import listing, main
from adeu.cli.running import read_seeds
from tests.command import run_here

COMMAND = [sys.executable, "-c", "from adeu.cli import main; main()"]
SMALL = ["--set", "lake.size=12", "--set", "episodes=300"]
SUFFIX = "-size=12-episodes=300"
"""The suffix of case names with these settings."""


def run_apart(*arguments, **options):
    """Run the command in a new process, as a shell does."""
    return subprocess.run([*COMMAND, *map(str, arguments)], capture_output=True, text=True, timeout=900, **options)


def refused(*arguments):
    """Run a command that must fail, and return its error."""
    done = run_here(*arguments)
    assert done.returncode == 1
    return done.stderr


def test_list_shows_experiments_and_parts():
    listed = run_here("list").stdout
    for name in (
        "frozen-lake",
        "safe-frozen-lake",
        "switching",
        "frozen-lake-sensitivity",
        "theorem-1",
        "Counts",
        "Rnd",
        "vdsc",
    ):
        assert f"\n{name} " in listed


def test_list_describes_an_experiment_and_a_part():
    listed = run_here("list", "frozen-lake").stdout
    for text in (
        "seeds     0:5",
        "two minutes",
        "f Counts(num_states=None, beta=0.9)",
        "beta            0.9 in adeu",
    ):
        assert text in listed
    assert "smaller   --set lake.size=400 --set episodes=8000" in listed
    assert "adeu-beta=0.1" in run_here("list", "frozen-lake-sensitivity").stdout
    assert "deep-sea/100" in run_here("list", "deep-sea").stdout
    assert "ez-carried" in run_here("list", "deep-sea/40").stdout
    assert "Args:\n    scale" in run_here("list", "Rnd").stdout
    assert "Args:\n    rate" in run_here("list", "vdsc").stdout
    assert "unknown name 'rdn'; did you mean 'Rnd'" in refused("list", "rdn")


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["list"]])
def test_commands_that_only_print_import_no_engine(arguments):
    """Importing JAX would take longer than these commands."""
    script = f"import sys, atexit; sys.argv = ['adeu', *{arguments}]; from adeu.cli import main; "
    script += (
        "atexit.register(lambda: print(sorted({'jax', 'numba', 'matplotlib', 'gymnasium'} & set(sys.modules)))); "
    )
    done = subprocess.run([sys.executable, "-c", script + "main()"], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
    assert len(done.stdout.splitlines()) > 1


@pytest.mark.parametrize("module", ["tyro", "jax"])
def test_ctrl_c_during_imports_is_silent(module, tmp_path):
    """Send the signal during the first slow import, and during that of JAX."""
    (tmp_path / f"{module}.py").write_text("import os, signal; os.kill(os.getpid(), signal.SIGINT); signal.pause()")
    script = "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); "
    script += f"sys.path.insert(0, {str(tmp_path)!r}); from adeu.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", script, "run", "frozen-lake"], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    out = tmp_path_factory.mktemp("runs")
    return out, run_apart("run", "frozen-lake", "--seeds", "0:2", "--out", out, *SMALL)


def test_run_ends_with_a_table_and_its_files(lake):
    out, done = lake
    assert done.returncode == 0, done.stderr
    for text in (
        "eps-greedy",
        "ucb",
        "solved at",
        "curves.png",
        "summary.json",
        "With changed settings: ",
    ):
        assert text in done.stdout
    assert "paper 88,854" not in done.stdout
    for name in ("curves.png", "curves.svg", "curves.csv", "summary.json", f"adeu{SUFFIX}/seed-1/metrics.csv"):
        assert (out / "frozen-lake" / name).stat().st_size > 100
    assert "a frozen lake of size 12" in done.stdout
    assert "1500" not in done.stdout


def test_summary_has_a_row_for_every_case_and_metric(lake):
    out, _ = lake
    rows = json.loads((out / "frozen-lake" / "summary.json").read_text())
    assert {row["case"] for row in rows} == {f"{case}{SUFFIX}" for case in ("eps-greedy", "adeu", "im", "ucb")}
    assert {row["metric"] for row in rows} == {"mean", "max", "first_solved", "solved"}
    for row in rows:
        assert list(row)[:7] == ["case", "metric", "value", "low", "high", "seeds", "paper"]
        assert row["seeds"] == 2
        assert row["low"] is None or row["low"] <= row["value"] <= row["high"]


def test_json_prints_only_the_summary(lake):
    out, _ = lake
    again = run_here("run", "frozen-lake", "--seeds", "0:2", "--out", out, "--json", *SMALL)
    assert json.loads(again.stdout) == json.loads((out / "frozen-lake" / "summary.json").read_text())


def test_quiet_prints_nothing(lake):
    out, _ = lake
    again = run_here("run", "frozen-lake", "--seeds", "0:2", "--out", out, "--quiet", *SMALL)
    assert (again.returncode, again.stdout, again.stderr) == (0, "", "")


def test_a_dry_run_prints_the_spec_and_writes_nothing(tmp_path):
    done = run_here(
        "run", "frozen-lake/adeu", "--seeds", "3", "--set", "f.beta=0.5", "--out", tmp_path / "x", "--dry-run"
    )
    (spec,) = json.loads(done.stdout)
    assert (spec["case"], spec["seed"], spec["setting"]["agent"]["explorer"]["f"]["beta"]) == (
        "adeu-beta=0.5",
        3,
        0.5,
    )
    assert "1 runs" in done.stderr
    assert "at most 135,000,000 steps" in done.stderr
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["frozen-lke"], "unknown experiment 'frozen-lke'; did you mean 'frozen-lake'"),
        (["frozen-lake/ade"], "no case 'ade'; did you mean 'adeu'"),
        (["frozen-lake", "--seeds", "3:3"], "--seeds takes at least one seed"),
        (["frozen-lake", "--seeds", "x"], "--seeds takes a range such as 0:5"),
        (["frozen-lake", "--jobs", "0"], "--jobs takes a whole number >= 1, got 0"),
        (["frozen-lake", "--set", "lake.size=2"], "size takes a whole number >= 3"),
        (["frozen-lake", "--set", "episodes=0"], "episodes takes a whole number >= 1"),
        (["frozen-lake", "--set", "gamma=1.5"], "gamma takes a finite number >= 0 and <= 1"),
        (["frozen-lake", "--set", "alpha=0"], "alpha takes"),
        (["frozen-lake", "--set", "episodes=50"], "episodes takes at least evaluate_every=100, got 50"),
        (
            ["frozen-lake", "--steps", "100"],
            "--steps takes no value for frozen-lake, which has no steps setting (try --set epi",
        ),
        (["frozen-lake", "--seeds", "4294967296"], "each from 0 to 4294967295 and only once"),
        (["frozen-lake", "--seeds", "0:4294967296"], "--seeds takes at most 100,000 seeds, got '0:4294967296'"),
        (["frozen-lake", "--seeds", "0:9" + 30 * "9"], "each from 0 to 4294967295 and only once"),
        (["frozen-lake", "--seeds", "-3:2"], "each from 0 to 4294967295 and only once"),
        (["frozen-lake", "--seeds", "1,0:3"], "each from 0 to 4294967295 and only once"),
        (["frozen-lake", "--set", "lake.layout=[/red]\x1b[31m"], r"got '[/red]\x1b[31m'"),
    ],
)
def test_bad_arguments_are_rejected_before_any_run(arguments, message, tmp_path):
    assert message in refused("run", *arguments, "--out", tmp_path / "x")
    assert not (tmp_path / "x").exists()


def test_seeds_are_parsed():
    assert read_seeds("0:3") == [0, 1, 2]
    assert read_seeds("4") == [4]
    assert read_seeds("0,7,2:4") == [0, 7, 2, 3]


@pytest.mark.filterwarnings("default")
def test_a_warning_is_printed_as_one_line(monkeypatch, capsys):
    def warn(command):
        warnings.warn("g is saturated", stacklevel=1)
        return 0

    monkeypatch.setattr(listing, "main", warn)
    monkeypatch.setattr(sys, "argv", ["adeu", "list"])
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    with pytest.raises(SystemExit):
        main()
    assert capsys.readouterr().err == "g is saturated\n"


class TestTrain:
    def test_it_trains_a_gymnasium_environment(self, tmp_path):
        small = ["--set", "episodes=500", "--set", "alpha=1.0", "--seeds", "0:2", "--out", tmp_path, "--json"]
        coin = ["--f", '{"part": "Constant", "c": 0.1}', "--g", "identity", "--D", "bernoulli"]
        done = run_here("train", "CliffWalking-v1", *coin, *small)
        assert done.returncode == 0, done.stderr
        rows = json.loads(done.stdout)
        assert {row["case"] for row in rows} == {"constant-c=0.1-identity-bernoulli-alpha=1-episodes=500"}
        assert next(row["value"] for row in rows if row["metric"] == "max") > -100
        folder = tmp_path / "train" / "CliffWalking-v1"
        assert (folder / "report.html").exists()
        (folder / "curves.svg").unlink()
        assert run_here("plot", "train/CliffWalking-v1", "--out", tmp_path).returncode == 0
        assert "constant" in (folder / "curves.svg").read_text()

    @pytest.mark.parametrize(
        ("env", "case"), [(["CartPole-v1"], "default"), (["Pendulum-v1", "--agent", "sac"], "sac-default")]
    )
    def test_without_parts_the_default_is_used(self, env, case, tmp_path):
        done = run_here("train", *env, "--seeds", "0", "--out", tmp_path, "--dry-run")
        (spec,) = json.loads(done.stdout)
        assert spec["case"] == case
        explorer = from_json(json.dumps(spec["setting"]["agent"]["explorer"]))
        assert explorer == recipes.default(gymnasium.make(env[0]))
        (other,) = json.loads(run_here("train", *env, "--D", "options", "--seeds", "0", "--dry-run").stdout)
        assert other["setting"]["agent"]["explorer"]["f"]["part"] == "Rnd"

    def test_an_f_from_the_working_folder_and_a_case_name_with_its_settings(self, tmp_path):
        (tmp_path / "mine.py").write_text(
            "import adeu, dataclasses, jax.numpy as jnp\n"
            "@dataclasses.dataclass(frozen=True)\n"
            "class Mine(adeu.Mechanism):\n"
            "    c: float = 0.5\n"
            "    def measure(self, key, state, carry, obs, **given):\n"
            "        return jnp.asarray(self.c), carry\n"
        )
        parts = ["--f", "mine:Mine", "--g", '{"part": "Clip", "high": 0.3}', "--D", "bernoulli"]
        few = ["--set", "f.c=0.1", "--steps", "2000", "--dry-run"]
        safe = os.environ | {"PYTHONSAFEPATH": "1"}  # like the installed command
        done = run_apart("train", "CartPole-v1", *parts, *few, cwd=tmp_path, env=safe)
        assert done.returncode == 0, done.stderr
        (spec, *_) = json.loads(done.stdout)
        assert spec["case"] == "mine-clip-high=0.3-c=0.1-steps=2000"
        assert spec["setting"]["agent"]["explorer"]["f"] == {"part": "mine:Mine", "c": 0.1}

    def test_several_f_are_compared_with_the_first(self, tmp_path):
        other = '{"part": "Counts", "beta": 0.1}'
        few = ["CliffWalking-v1", "--set", "episodes=300", "--seeds", "0:2", "--out", tmp_path]
        done = run_here("train", *few, "--f", "counts", "--f", other, "--f", "constant")
        assert done.returncode == 0, done.stderr
        names = ["counts-episodes=300", "counts-beta=0.1-episodes=300", "constant-episodes=300"]
        folder = tmp_path / "train" / "CliffWalking-v1"
        rows = json.loads((folder / "summary.json").read_text())
        assert list(dict.fromkeys(row["case"] for row in rows)) == names
        paired = [row for row in rows if row["metric"] == "mean"]
        assert [(row["reference"], row["common_seeds"]) for row in paired] == [(None, None)] + [(names[0], 2)] * 2
        told = " ".join(done.stdout.split())
        assert f"{names[0]} f = Counts(num_states=None, beta=0.9), g = ShiftedSigmoid(shift=2.0)" in told
        assert f"{names[2]} f = Constant(c=0.8807970779778824), g = Identity()" in told
        assert "all of them D = Categorical(temperature=1.0), agent = QLearning(alpha='1/n')" in told
        written = {path: path.stat().st_mtime_ns for path in folder.rglob("metrics.csv")}
        assert len(written) == 6
        again = run_here("train", *few, "--f", other, "--json")
        rows = json.loads(again.stdout)
        assert {row["reference"] for row in rows} == {None, names[1]}
        assert {path: path.stat().st_mtime_ns for path in folder.rglob("metrics.csv")} == written

    def test_an_f_of_from_host_is_reset_for_each_run(self, tmp_path, monkeypatch):
        """One worker runs both seeds; the second must not see what the module learned in the first."""
        (tmp_path / "outside.py").write_text(
            "import adeu, numpy as np\n"
            "seen = []\n"
            "def learn(batch): seen.append(batch.obs.mean())\n"
            "f = adeu.from_host(lambda obs: np.full(len(obs), 1 / (1 + len(seen))), learn)\n"
        )
        few = ["CartPole-v1", "--f", "outside:f", "--steps", "1000", "--set", "warmup=100", "--set", "batch=8"]
        few += ["--set", "hidden=[8]", "--set", "evaluate_episodes=1", "--jobs", "1", "--quiet"]
        monkeypatch.chdir(tmp_path)
        both = run_here("train", *few, "--seeds", "0:2", "--out", "both")
        assert both.returncode == 0, both.stderr
        assert "the state of outside:learn is not saved: an interrupted run restarts" in both.stderr
        assert run_here("train", *few, "--seeds", "1", "--out", "alone").returncode == 0
        (alone,) = (tmp_path / "alone").rglob("metrics.csv")
        second = tmp_path / "both" / alone.relative_to(tmp_path / "alone")
        assert second.read_bytes() == alone.read_bytes()
        spec = json.loads(alone.with_name("spec.json").read_text())
        assert spec["case"].startswith("f-")
        assert spec["setting"]["agent"]["explorer"]["f"]["compute"] == {"function": "outside:f.compute"}

    def test_output_of_a_module_is_not_in_the_json(self, tmp_path):
        """A module may print when it is imported or used, below Python, and when the process ends."""
        (tmp_path / "loud.py").write_text(
            "import adeu, atexit, dataclasses, os, jax.numpy as jnp\n"
            "print('imported')\n"
            "os.write(1, b'below')\n"
            "atexit.register(print, 'ended')\n"
            "@dataclasses.dataclass(frozen=True)\n"
            "class Loud(adeu.Mechanism):\n"
            "    def measure(self, key, state, carry, obs, **given):\n"
            "        print('measured')\n"
            "        return jnp.asarray(0.1), carry\n"
        )
        loud = ["train", "CartPole-v1", "--f", "loud:Loud", "--g", "identity", "--D", "bernoulli"]
        few = ["--steps", "1000", "--set", "warmup=100", "--seeds", "0", "--jobs", "1", "--out", "out"]
        for last in ("--dry-run", "--json"):
            done = run_apart(*loud, *few, last, cwd=tmp_path)
            assert done.returncode == 0, done.stderr
            assert json.loads(done.stdout)
            for word in ("imported", "below", "measured", "ended"):
                assert word in done.stderr

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (["Tax-v3"], "env takes a registered name, got 'Tax-v3'"),
            (
                ["Pendulum-v1", "--agent", "dqn"],
                "dqn does not fit Pendulum-v1: Dqn: action space takes a Discrete",
            ),
            (["Pendulum-v1", "--agent", "q-learning"], "an environment with a transition table P"),
            (["CartPole-v1", "--agent", "dnq"], "unknown agent 'dnq'; did you mean 'dqn'"),
            (["CliffWalking-v1", "--steps", "100"], "--steps takes no value for q-learning: give --set episodes="),
            (["CartPole-v1", "--steps", "1500"], "steps takes a multiple of evaluate_every=1000, got 1500"),
            (
                ["CartPole-v1", "--f", "counts"],
                "--f takes a part that fits dqn in CartPole-v1, such as EnsembleStd, HashCounts, ",
            ),
            (
                ["CliffWalking-v1", "--f", "rnd"],
                "--f takes a part that fits q-learning in CliffWalking-v1, such as Counts, ",
            ),
            (
                ["CliffWalking-v1", "--g", "counts"],
                "--g takes a part that fits q-learning in CliffWalking-v1, such as Clip, Identity",
            ),
            (["CliffWalking-v1", "--D", "gaussian"], "such as Bernoulli, Categorical, LearnedLengths, Options, "),
            (["CliffWalking-v1", "--f", "cuonts"], "did you mean 'Counts'"),
            (["CliffWalking-v1", "--f", "schedule"], 'give it as JSON, {"part": "Schedule", ...}'),
            (
                ["CliffWalking-v1", "--f", "constant", "--g", "identity"],
                "--f constant takes a g with a largest spread",
            ),
            (["CliffWalking-v1", "--f", "counts", "--f", "counts"], "--f takes each f once, got 'counts'"),
            (["CliffWalking-v1", "--f", "counts", "--f", "Counts"], "--f takes each f once, got 'Counts'"),
            (["CliffWalking-v1", "--f", "tests.functions:host_norm"], "a function becomes one by adeu.from_function"),
        ],
    )
    def test_bad_arguments_are_rejected(self, arguments, message, tmp_path):
        assert message in refused("train", *arguments, "--out", tmp_path / "x")
        assert not (tmp_path / "x").exists()


def test_plot_redraws_from_the_runs(lake, tmp_path):
    out, _ = lake
    picture = out / "frozen-lake" / "curves.png"
    picture.unlink()
    done = run_here("plot", "frozen-lake", "--seeds", "0:2", "--out", out)
    assert done.stdout.split() == [str(picture), str(picture.with_suffix(".svg"))]
    assert picture.stat().st_size > 1000
    picture.with_suffix(".svg").unlink()
    assert run_here("plot", "frozen-lake/adeu", "--seeds", "0:2", "--out", out).returncode == 0
    assert "eps-greedy" in picture.with_suffix(".svg").read_text()  # complete runs of other commands are included
    shutil.copytree(out / "frozen-lake", tmp_path / "frozen-lake")
    metrics = tmp_path / f"frozen-lake/ucb{SUFFIX}/seed-1/metrics.csv"
    metrics.write_text(metrics.read_text().replace("100,", "101,", 1))
    done = run_here("plot", "frozen-lake", "--out", tmp_path)
    assert done.returncode == 0
    assert f"ucb{SUFFIX}/seed-1/metrics.csv is missing or was changed after the run" in done.stderr.replace("\n", "")
    said = refused("plot", "frozen-lake", "--seeds", "7", "--out", out)
    assert "has no complete run of frozen-lake; use adeu run" in said


def test_plot_draws_normalizers(tmp_path):
    assert run_here("plot", "normalizers", "--out", tmp_path).returncode == 0
    assert (tmp_path / "normalizers.png").stat().st_size > 1000


def test_damaged_runs_of_other_cases_are_reported_and_omitted(lake, tmp_path):
    """A run of another case was changed; the command for this case succeeds."""
    out, _ = lake
    shutil.copytree(out, tmp_path / "out")
    metrics = tmp_path / f"out/frozen-lake/ucb{SUFFIX}/seed-1/metrics.csv"
    metrics.write_text(metrics.read_text().replace("100,", "101,", 1))
    (tmp_path / "out/frozen-lake/report.html").unlink()
    done = run_here("run", "frozen-lake/adeu", "--seeds", "0:2", "--out", tmp_path / "out", *SMALL)
    assert done.returncode == 0, done.stderr
    assert f"ucb{SUFFIX}/seed-1/metrics.csv is missing or was changed after the run" in done.stderr.replace("\n", "")
    assert "eps-greedy" in done.stdout


def test_a_failed_run_is_reported_with_json(lake, tmp_path):
    out, _ = lake
    shutil.copytree(out, tmp_path / "out")
    (tmp_path / f"out/frozen-lake/adeu{SUFFIX}/seed-1/spec.json").unlink()
    done = run_here("run", "frozen-lake", "--seeds", "0:2", "--out", tmp_path / "out", "--json", *SMALL)
    assert (done.returncode, done.stdout) == (1, "")
    assert f"frozen-lake/adeu{SUFFIX}/seed-1 failed: " in done.stderr
    assert "spec.json is missing" in done.stderr
    assert "1 of 8 runs failed. Complete runs are kept; run the same command to retry." in done.stderr
