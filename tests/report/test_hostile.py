"""Reports on untrusted run folders: names that are code, bad numbers, and paths that lead elsewhere."""

import json
import os
import pickle
import subprocess

import pytest

from adeu.report import write_report
from adeu.runs.folder import digest, done
from tests.command import run_here

NAMES = [
    "</script><script>window.hacked = 1</script>",
    "</script ><script >window.hacked = 1</script >",
    '"><img src=x onerror="window.hacked = 1">',
    "<style>body { display: none }</style>",
    "'; window.hacked = 1; '",
    "<!--",
    "__proto__",
    "constructor",
    "../../secret",
    "/etc",
    "a,b",
    "nul\0",
    "",
    "x" * 300,
]
SPREAD = "state,best,action,explored,uncertainty,spread,reward,cost"


def row(case, metric="mean", **figures):
    nothing = {"value": None, "low": None, "high": None, "seeds": 2, "paper": None}
    return {"case": case, "metric": metric} | nothing | figures


@pytest.fixture
def folder(tmp_path):
    below = tmp_path / "runs" / "unheard-of"
    below.mkdir(parents=True)
    return below


def write_run(folder, case, lines, setting=None, experiment="unheard-of"):
    run = folder / case / "seed-0"
    (run / "traces").mkdir(parents=True)
    spec = {"experiment": experiment, "case": case, "seed": 0, "setting": setting or {}}
    (run / "spec.json").write_text(json.dumps(spec))
    (run / "traces" / "episode-7.csv").write_text("\n".join([SPREAD, *lines]) + "\n")
    return run


def data(report):
    text = report.read_text().partition('id="data">')[2].partition("</script>")[0]
    return json.loads(text)["experiments"]


def test_names_are_escaped_and_numbers_of_any_size_are_shown(folder, page):
    rows = [row(name, f"metric {NAMES[0]}", value=1e308, low=-1e308, high=10**400) for name in NAMES]
    rows += [row("odd", "nan", value=float("nan"), low=float("-inf"), high=float("inf"), paper=1e-300)]
    rows += [row("odd", "tiny", value=5e-324, runs={NAMES[0]: 1e308, "1": float("nan")})]
    compared = {"difference": 1e308, "difference_low": -1e308, "improvement": 7.5, "improvement_low": None}
    rows += [row(name, "tiny", **compared, reference=NAMES[0], common_seeds=1e300) for name in NAMES]
    (folder / "summary.json").write_text(json.dumps(rows))
    curves = [
        f"{name},1,{i},{value},-1e308,1e308" for name in NAMES[:8] for i, value in enumerate((1e308, "nan", "", 2))
    ]
    (folder / "curves.csv").write_text("\n".join(["case,step,episode,return,low,high", *curves]) + "\n")
    steps = ["0,1,1,0,nan,inf,1e308,0", "-5,,9,1,1e300,-1,,0", "99999999999999999999,2,2,0,0.5,0.5,1,1"]
    lake = {"lake": {"size": 10**9}, NAMES[0]: {NAMES[1]: [float("nan")]}}
    write_run(folder, "odd", steps, lake)
    write_run(folder, "__proto__", steps, {"lake": {"size": "x", "layout": NAMES[0]}}, experiment=NAMES[0])
    page.open(write_report(folder.parent))
    assert page.complaints == []
    assert len(page.requests) == 1
    assert page.run("window.hacked") is None
    shown = page.run("document.querySelector('.figures').textContent")
    assert all(name in shown for name in NAMES)
    assert "1e+308" in shown
    assert page.run("document.querySelector('.figures tbody').rows.length") == len(NAMES) + 1
    assert page.run("document.querySelectorAll('.figures tbody')[1].rows.length") == len(NAMES)
    assert page.run("document.querySelectorAll('main img, main script, main style').length") == 0
    assert page.run("document.querySelector('td[data-metric=nan] .value').textContent") == "-"
    assert page.run("document.querySelectorAll('.explore .readout div').length") >= 5
    page.open(folder.parent / "report.html", 390, 844)
    assert page.run("document.documentElement.scrollWidth") <= 390


def test_an_unknown_experiment_is_shown_from_its_summary(folder, page):
    (folder / "summary.json").write_text(json.dumps([row("mine", "score", value=1234.5, low=1000.0, high=2000.0)]))
    page.open(write_report(folder))
    text = page.run("document.querySelector('#experiment-0').innerText")
    for part in ("unheard-of", "mine", "score", "1,234.5", "1,000 to 2,000"):
        assert part in text
    assert page.complaints == []


@pytest.mark.parametrize(
    "content",
    ['[{"case": "a", "met', "", "{}", "[1]", '[{"case": 1, "metric": "m"}]', "[" * 100_000, "9" * 5_000, "\xff"],
)
def test_a_corrupt_summary_is_rejected(folder, content):
    (folder / "summary.json").write_bytes(content.encode("latin-1"))
    with pytest.raises(ValueError, match=r"summary\.json"):
        write_report(folder.parent)
    assert not (folder.parent / "report.html").exists()


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ({"value": "<b>"}, "value takes a number or null"),
        ({"difference_low": [1]}, "difference_low takes a number or null"),
        ({"runs": [1.0]}, "runs takes an object or null"),
        ({"runs": {"0": "<b>"}}, "runs takes a number or null"),
        ({"reference": 5}, "reference takes a text or null"),
    ],
)
def test_a_bad_value_is_rejected(folder, bad, message):
    (folder / "summary.json").write_text(json.dumps([row("a", **bad)]))
    with pytest.raises(ValueError, match=rf"summary\.json is not a summary: {message}"):
        write_report(folder)


@pytest.mark.parametrize("name", ["spec.json", "traces/episode-7.csv"])
def test_a_corrupt_run_is_rejected(folder, name):
    (folder / "summary.json").write_text(json.dumps([row("a")]))
    file = write_run(folder, "a", ["0,1,1,0,0.5,0.5,1,0"]) / name
    file.write_text(file.read_text()[:-9])
    with pytest.raises(ValueError, match=f"{file.name} is corrupt"):
        write_report(folder)


def test_corrupt_curves_are_rejected(folder):
    (folder / "summary.json").write_text(json.dumps([row("a")]))
    for content in ("", "case,step\na,1\n", "case,step,episode,return,low,high\na,1,1,x,1,1\n"):
        (folder / "curves.csv").write_text(content)
        with pytest.raises(ValueError, match=r"curves\.csv is corrupt"):
            write_report(folder)


def test_the_command_prints_an_error_without_a_traceback(folder):
    (folder / "summary.json").write_text("[")
    done = run_here("report", folder)
    assert done.returncode == 1
    assert "summary.json is corrupt" in done.stderr
    assert "Traceback" not in done.stderr
    empty = run_here("report", folder.parent.parent / "nowhere")
    assert empty.returncode == 1
    assert "nowhere is not a folder of runs" in empty.stderr


def test_nothing_outside_the_folder_is_read(folder):
    outside = folder.parent.parent / "outside"
    secret = ["0,1,1,0,0.5,0.123456,1,0"]
    run = write_run(outside, "a", secret)
    (outside / "summary.json").write_text(json.dumps([row("secret")]))
    cases = ["../../outside/a", str(outside / "a"), "link", "seed", "traces", "file"]
    (folder / "summary.json").write_text(json.dumps([row(case) for case in cases]))
    (folder / "link").symlink_to(outside / "a")
    (folder / "seed").mkdir()
    (folder / "seed" / "seed-0").symlink_to(run)
    (folder / "traces" / "seed-0").mkdir(parents=True)
    (folder / "traces" / "seed-0" / "traces").symlink_to(run / "traces")
    inner = folder / "file" / "seed-0" / "traces"
    inner.mkdir(parents=True)
    (inner / "episode-7.csv").symlink_to(run / "traces" / "episode-7.csv")
    (folder / "file" / "seed-0" / "spec.json").symlink_to(run / "spec.json")
    (folder / "curves.csv").symlink_to(run / "traces" / "episode-7.csv")
    (folder.parent / "elsewhere").symlink_to(outside)
    (experiment,) = data(write_report(folder.parent))
    assert [case["name"] for case in experiment["cases"]] == cases
    assert all(case["traces"] == [] and case["curve"] is None for case in experiment["cases"])
    assert "0.12346" not in (folder.parent / "report.html").read_text()


class Trap:
    def __reduce__(self):
        return os.mkdir, ("sprung",)


def test_nothing_is_unpickled(folder, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    (folder / "summary.json").write_text(json.dumps([row("a")]))
    run = write_run(folder, "a", ["0,1,1,0,0.5,0.25,1,0"])
    (run / "checkpoint").mkdir()
    for name in ("checkpoint/state.npz", "traces/episode-8.pkl", "metrics.csv", "done.json"):
        (run / name).write_bytes(pickle.dumps(Trap()))
    (experiment,) = data(write_report(folder))
    assert experiment["cases"][0]["traces"][0]["columns"]["spread"] == [0.25]
    assert not (tmp_path / "sprung").exists()


def test_a_pipe_in_place_of_a_file_does_not_hang(folder):
    os.mkfifo(folder / "summary.json")
    with pytest.raises(ValueError, match=r"summary\.json is not a regular file"):
        write_report(folder)


def test_an_overlong_episode_is_omitted(folder):
    (folder / "summary.json").write_text(json.dumps([row("a")]))
    write_run(folder, "a", ["0,1,1,0,0.5,0.5,1,0"] * 20_001)
    (experiment,) = data(write_report(folder))
    assert experiment["cases"][0]["traces"] == []


@pytest.mark.parametrize(
    ("g", "ceiling"),
    [
        ({"part": "Sigmoid", "c": 0.25}, 0.25),
        ({"part": "Identity"}, None),
        ({"part": "Sigmoid", "c": 1e308}, None),
        ({"part": "Sigmoid", "c": "0.25"}, None),
        ({"part": "Sigmoid", "size": 1}, None),
        ({"part": "Rnd"}, None),
        ({"part": "tests.report.no_such_module:G"}, None),
        ({"part": ["Sigmoid"]}, None),
        ("Sigmoid", None),
    ],
)
def test_the_ceiling_is_that_of_a_built_in_g_and_no_other_is_imported(folder, g, ceiling):
    (folder / "summary.json").write_text(json.dumps([row("a")]))
    write_run(folder, "a", ["0,1,1,0,0.5,0.5,1,0"], {"agent": {"explorer": {"g": g}}})
    (experiment,) = data(write_report(folder))
    assert experiment["cases"][0]["ceiling"] == ceiling


def test_the_place_of_an_episode_in_training_comes_from_its_file_name(folder, page):
    """Other file names are ignored, and so is an impossible length of training."""
    (folder / "summary.json").write_text(json.dumps([row("a")]))
    traces = write_run(folder, "a", ["0,1,1,0,0.5,0.5,1,0"], {"steps": -5, "episodes": True}) / "traces"
    content = f"step,{SPREAD}\n1e300,0,1,1,0,0.5,0.5,1,0\n"
    for name in ("at-999", "at-12.5", "at--1", "at-x", "at-1e9", "episode-", "other"):
        (traces / f"{name}.csv").write_text(content)
    report = write_report(folder)
    (experiment,) = data(report)
    found = [(each["episode"], each["progress"], each["step"]) for each in experiment["cases"][0]["traces"]]
    assert found == [(7, None, None), (None, 0.125, None), (None, 1.0, None)]
    page.open(report)
    options = page.run("Array.from(document.querySelectorAll('.choose select')[2].options).map(each => each.text)")
    assert options == ["7", "13%", "the end"]
    assert page.complaints == []


def test_the_size_of_a_page_is_limited(folder, monkeypatch):
    monkeypatch.setattr("adeu.report.collect.NUMBERS", 2 * 8 * 10)
    (folder / "summary.json").write_text(json.dumps([row("a"), row("b")]))
    for case in "ab":
        traces = write_run(folder, case, ["0,1,1,0,0.5,0.5,1,0"] * 100) / "traces"
        for percent in (0, 50, 100):
            (traces / f"at-{percent}.csv").write_text("\n".join([SPREAD, *["0,1,1,0,0.5,0.5,1,0"] * 4]) + "\n")
    (experiment,) = data(write_report(folder))
    for case in experiment["cases"]:
        assert [each["progress"] for each in case["traces"]] == [0.0, 0.5]  # 32 numbers each, at most 80
    for path in folder.rglob("at-*.csv"):
        path.unlink()
    (experiment,) = data(write_report(folder))
    assert [each["episode"] for each in experiment["cases"][0]["traces"]] == [7]  # at least one episode is shown


METRICS = "step,episode,return,spread\n10,1,5.0,0.1\n20,2,7.0,0.15\n"


def write_complete(folder, case="a", seed=0, metrics=METRICS, experiment="unheard-of", setting=None):
    """Write a complete run, as adeu does; its experiment has no summary yet."""
    run = folder / case / f"seed-{seed}"
    run.mkdir(parents=True)
    spec = {"experiment": experiment, "case": case, "seed": seed, "setting": setting or {}}
    (run / "spec.json").write_text(json.dumps(spec))
    (run / "metrics.csv").write_text(metrics)
    (run / "done.json").write_bytes(done(metrics, 20, spec=digest(spec)))
    return run


class TestWithoutASummary:
    def test_a_complete_run_is_shown(self, folder):
        write_complete(folder)
        (experiment,) = data(write_report(folder.parent))
        assert experiment["partial"]["complete"] == 1
        assert experiment["cases"][0]["curve"]["return"] == [5, 7]

    def test_a_control_is_compared_with_its_source(self, folder):
        write_complete(folder, "a", setting={"source": ["b"]})
        write_complete(folder, "b")
        write_complete(folder, "control", setting={"source": "b"})
        (experiment,) = data(write_report(folder.parent))
        references = {row["case"]: row["reference"] for row in experiment["rows"] if row["metric"] == "mean"}
        assert references == {"a": None, "b": None, "control": "b"}

    @pytest.mark.parametrize("name", ["done.json", "spec.json", "metrics.csv"])
    @pytest.mark.parametrize("kind", ["pipe", "zero", "link", "folder", "sparse"])
    def test_other_than_regular_files_are_rejected(self, folder, name, kind):
        path = write_complete(folder) / name
        other = write_complete(folder.parent.parent / "outside") / name
        path.unlink()
        if kind == "pipe":
            os.mkfifo(path)
        elif kind == "folder":
            path.mkdir()
        elif kind == "sparse":
            with path.open("wb") as file:
                file.truncate(2**40)
        else:
            path.symlink_to("/dev/zero" if kind == "zero" else other)
        if (name, kind) == ("done.json", "folder"):
            with pytest.raises(ValueError, match="no complete run"):
                write_report(folder)
            return
        with pytest.raises(
            ValueError, match=rf"{name} is (corrupt .*(not a regular file|too large)|not a regular file|too large)"
        ):
            write_report(folder)

    def test_linked_folders_are_not_shown(self, folder):
        run = write_complete(folder)
        outside = folder.parent.parent / "outside"
        secret = write_complete(outside, "secret", metrics=METRICS.replace("5.0", "1234.5"))
        (folder / "linked").symlink_to(secret.parent)
        (run.parent / "seed-1").symlink_to(secret)
        (folder.parent / "more").symlink_to(outside)
        (experiment,) = data(write_report(folder.parent))
        assert [case["name"] for case in experiment["cases"]] == ["a"]
        assert experiment["partial"]["complete"] == 1
        assert "1234.5" not in (folder.parent / "report.html").read_text()

    def test_deep_folders_do_not_overflow_the_stack(self, folder):
        write_complete(folder)
        deep = folder / "/".join(["d"] * 1500)
        subprocess.run(["mkdir", "-p", str(deep)], check=True)
        try:
            (experiment,) = data(write_report(folder.parent))
            assert experiment["partial"]["complete"] == 1
        finally:
            subprocess.run(["rm", "-rf", str(folder / "d")], check=True)  # shutil.rmtree would overflow the stack

    @pytest.mark.parametrize("what", ["metrics", "done", "spec", "another seed"])
    def test_a_modified_run_is_rejected(self, folder, what):
        run, other = write_complete(folder), write_complete(folder, seed=1)
        if what == "metrics":
            (run / "metrics.csv").write_text(METRICS.replace("5.0", "6.0"))
        elif what == "done":
            (run / "done.json").write_bytes(done(METRICS.replace("5.0", "6.0"), 20))
        elif what == "spec":
            (run / "spec.json").write_text((run / "spec.json").read_text().replace("{}", '{"beta": 1}'))
        else:
            (run / "spec.json").write_text((other / "spec.json").read_text())
        with pytest.raises(
            ValueError, match=r"a/seed-0/(metrics.csv is missing or was changed|done.json does not belong)"
        ):
            write_report(folder.parent)
        said = run_here("report", folder.parent)
        assert said.returncode == 1
        assert "Traceback" not in said.stderr
        assert "a/seed-0/" in said.stderr.replace("\n", "")

    @pytest.mark.parametrize("missing", ["step", "episode", "return", "spread"])
    @pytest.mark.parametrize(
        "experiment", ["unheard-of", "frozen-lake", "cart-pole", "mountain-car", "mujoco/Hopper-v5"]
    )
    @pytest.mark.filterwarnings("ignore")
    def test_missing_columns_are_handled(self, folder, missing, experiment):
        metrics = METRICS.replace(missing, "other")
        write_complete(folder, metrics=metrics, experiment=experiment, setting={"steps": 40, "warmup": 0})
        if missing == "step" and experiment not in ("unheard-of", "frozen-lake"):
            with pytest.raises(ValueError, match=rf"a/seed-0 cannot be read as a run of {experiment} .*'step'"):
                write_report(folder)
        else:
            (shown,) = data(write_report(folder))
            assert shown["partial"]["complete"] == 1

    @pytest.mark.parametrize(
        "setting",
        [{}, {"steps": 10**12}, {"steps": "x"}, {"steps": -5}, {"steps": None, "warmup": []}, {"steps": 1e300}],
    )
    @pytest.mark.parametrize("experiment", ["mountain-car", "mujoco/Hopper-v5", "switching"])
    def test_a_bad_setting_is_rejected(self, folder, setting, experiment):
        write_complete(folder, experiment=experiment, setting=setting)
        with pytest.raises(ValueError, match="a/seed-0"):
            write_report(folder)

    @pytest.mark.filterwarnings("error")
    def test_numbers_of_any_size_are_shown(self, folder):
        rows = ["1,1,nan,1e999", "2,2,1e308,-1e308", "3,3,-1e308,", "4,4,,nan", "1e300,1e300,inf,5e-324"]
        for seed in (0, 1):
            write_complete(folder, seed=seed, metrics="\n".join(["step,episode,return,spread", *rows]) + "\n")
        (experiment,) = data(write_report(folder))
        assert experiment["partial"]["complete"] == 2
        assert experiment["cases"][0]["curve"]["return"][0] is None

    def test_a_long_run_is_rejected(self, folder):
        write_complete(folder, metrics="step,episode,return\n" + "1,1,1\n" * 20_001)
        with pytest.raises(ValueError, match=r"metrics.csv is too long for a report: 20,001 rows"):
            write_report(folder)

    def test_runs_of_different_lengths_are_omitted_with_a_warning(self, folder):
        write_complete(folder)
        for seed, rows in enumerate((2, 3)):
            write_complete(folder, "b", seed, "step,episode,return,spread\n" + "1,1,1,1\n" * rows)
        with pytest.warns(UserWarning, match="left out: the runs of 'b' differ in columns or length"):
            (experiment,) = data(write_report(folder))
        assert [case["name"] for case in experiment["cases"]] == ["a"]
