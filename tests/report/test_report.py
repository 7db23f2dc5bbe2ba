"""The report in a browser."""

import itertools
import json
import shutil

import pytest

from adeu.report import write_report
from adeu.runs.folder import done, to_csv
from adeu.runs.load import read_metrics
from tests.command import run_here
from tests.report.conftest import LAKE

PICTURE = """Array.from(document.querySelectorAll('#experiment-0 canvas')).map(each => each.toDataURL()).concat(
    Array.from(document.querySelectorAll('#experiment-0 .explore svg')).map(each => each.outerHTML))"""
READOUT = "document.querySelector('#experiment-0 .readout').textContent"
SLIDER = "document.querySelector('#experiment-0 input[type=range]')"
STEP = f"Number({SLIDER}.value)"


@pytest.fixture(scope="session")
def report(runs, tmp_path_factory):
    return write_report(runs[0], tmp_path_factory.mktemp("report") / "report.html")


@pytest.fixture
def opened(page, report):
    page.open(report)
    yield page
    assert page.complaints == []
    assert page.requests == [report.resolve().as_uri()]


def move(page, step):
    page.run(f"{SLIDER}.value = {step}; {SLIDER}.dispatchEvent(new Event('input', {{bubbles: true}}))")
    page.settle()


def wanted(row):
    """Return the text of the cell of a row; with two seeds only a share has an interval."""
    form = {"violations": ".3f", "solved": ".0%"}.get(row["metric"], ",.0f")
    value = "-" if row["value"] is None else format(row["value"], form)
    runs = list((row["runs"] or {}).values())
    if row["metric"] == "solved":
        return f"{value} {sum(runs):.0f} of 2 {row['low']:{form}} to {row['high']:{form}}"
    assert row["low"] is row["high"] is None
    never = "never" if row["metric"] in ("first_solved", "violations") else "-"
    texts = ", ".join(never if run is None else format(run, form) for run in runs)
    return value if len(set(runs)) < 2 else f"{value} {texts}"


def test_run_ends_with_the_path_of_the_report(runs):
    out, printed = runs
    path = out / "frozen-lake" / "report.html"
    assert printed.rstrip().endswith(f"report   {path}")
    assert path.stat().st_size > 10_000


def test_the_command_writes_to_the_given_path(runs, tmp_path):
    done = run_here("report", runs[0], "--html", tmp_path / "r.html")
    assert (done.returncode, done.stdout) == (0, f"{tmp_path / 'r.html'}\n"), done.stderr
    assert (tmp_path / "r.html").stat().st_size < 1_000_000


def test_the_file_has_no_external_references(report):
    text = report.read_text()
    assert "http://" not in text.replace("http://www.w3.org/2000/svg", "")
    assert "https://" not in text
    assert " src=" not in text


def test_the_table_shows_the_values_of_the_summary(opened, runs):
    for place, name in enumerate(("frozen-lake", "safe-frozen-lake")):
        rows = json.loads((runs[0] / name / "summary.json").read_text())
        cells = opened.run(f"""Array.from(document.querySelectorAll('#experiment-{place} td[data-metric]')).map(
            cell => [cell.dataset.case, cell.dataset.metric, cell.dataset.value, cell.innerText])""")
        assert len(cells) == len(rows) > 10
        shown = {(case, metric): (value, text) for case, metric, value, text in cells}
        for row in rows:
            value, text = shown[row["case"], row["metric"]]
            assert (float(value) if value else None) == row["value"]
            assert " ".join(text.split()) == wanted(row)


def test_cases_are_compared_with_the_reference(opened, runs):
    rows = json.loads((runs[0] / "frozen-lake" / "summary.json").read_text())
    compared = [row for row in rows if row["common_seeds"]]
    assert {row["reference"] for row in compared} == {f"eps-greedy{LAKE}"}
    cells = opened.run("""Array.from(document.querySelectorAll('#experiment-0 td[data-compared]')).map(
        cell => [cell.parentNode.querySelector('th').innerText, cell.dataset.compared, cell.innerText])""")
    assert len(cells) == len(compared) == 9
    shown = {(case.strip(), metric): " ".join(text.split()) for case, metric, text in cells}
    for row in compared:
        text = shown[row["case"], row["metric"]]
        assert f"better {row['improvement']:.0%} ({row['improvement_low']:.0%} to" in text
    caption = opened.run("document.querySelectorAll('#experiment-0 caption')[1].textContent")
    assert caption.startswith(f"Difference from eps-greedy{LAKE} seed by seed")


def test_a_share_has_a_dot_for_each_run(opened, runs):
    rows = json.loads((runs[0] / "safe-frozen-lake" / "summary.json").read_text())
    for row in (row for row in rows if row["metric"] == "solved"):
        cell = f"""document.querySelector('#experiment-1 td[data-metric=solved][data-case="{row["case"]}"]')"""
        assert opened.run(f"{cell}.querySelectorAll('.run').length") == 2
        assert opened.run(f"{cell}.querySelectorAll('.run.yes').length") == sum(row["runs"].values())


def test_few_seeds_are_drawn_as_thin_lines_and_many_as_a_band(page, runs, tmp_path):
    """Two seeds of each case, then the curves of one case as with five seeds."""
    folder = tmp_path / "frozen-lake"
    folder.mkdir()
    for name in ("summary.json", "curves.csv"):
        shutil.copy(runs[0] / "frozen-lake" / name, folder / name)
    page.open(write_report(tmp_path))
    assert page.run("document.querySelectorAll('.single').length") == 8
    assert page.run("Array.from(document.querySelectorAll('.band')).every(each => !each.getAttribute('points'))")
    head, *lines = (folder / "curves.csv").read_text().splitlines()
    names = head.split(",")
    rows = [dict(zip(names, line.split(","), strict=True)) for line in lines]
    for row in (row for row in rows if row["case"] == f"ucb{LAKE}"):
        row |= {"low": "-5.0", "high": "200000.0", "seed-0": "", "seed-1": ""}
    text = "\n".join(",".join(row.values()) for row in rows)
    (folder / "curves.csv").write_text(f"{head}\n{text}\n")
    page.open(write_report(tmp_path))
    assert page.run("document.querySelectorAll('.single').length") == 6
    assert (
        page.run("Array.from(document.querySelectorAll('.band')).filter(each => each.getAttribute('points')).length")
        == 1
    )
    assert page.complaints == []


def test_a_known_experiment_is_described_with_its_changes(opened):
    text = opened.run("document.querySelector('#experiment-0').innerText")
    assert "The motivating example: four ways to explore" in text
    assert "lake.size is 30, not 1500" in text
    assert "four ways to explore a frozen lake of size 30" in text
    assert "traced is" not in text
    settings = opened.run("document.querySelector('#experiment-0 dl.settings').textContent")
    assert "Counts" in settings
    assert "f.beta 0.9" in settings
    assert "lake.size" not in settings


def test_the_slider_changes_the_picture_and_the_readout(opened):
    seen = []
    for step in (0, 1, 20):
        move(opened, step)
        seen.append((opened.run(PICTURE), opened.run(READOUT)))
        assert f"step{step + 1} of " in seen[-1][1]
    for (before, said), (after, says) in itertools.pairwise(seen):
        assert len(before) == len(after) == 4
        assert all(one != other for one, other in zip(before, after, strict=True))
        assert said != says


def test_the_readout_shows_the_trace_of_the_run(opened, runs):
    chosen = "Array.from(document.querySelectorAll('#experiment-0 .choose select')).map(each => each.value)"
    _, seed, place = opened.run(chosen)
    episode = place.split()[0]
    name = opened.run("document.querySelector('#experiment-0 .choose select').selectedOptions[0].textContent")
    trace = runs[0] / "frozen-lake" / name / f"seed-{seed}" / "traces" / f"episode-{episode}.csv"
    head, *lines = trace.read_text().splitlines()
    for step in (0, len(lines) - 1):
        move(opened, step)
        row = dict(zip(head.split(","), lines[step].split(","), strict=True))
        said = dict(
            opened.run("""Array.from(document.querySelectorAll('#experiment-0 .readout div')).map(
                line => Array.from(line.children).map(each => each.textContent))""")
        )
        assert said["step"] == f"{step + 1} of {len(lines)}"
        actions = ("up", "right", "down", "left")
        assert (said["policy π(s)"], said["action a"]) == (actions[int(row["best"])], actions[int(row["action"])])
        assert float(said["uncertainty f(s)"]) == pytest.approx(float(row["uncertainty"]), rel=1e-3)
        assert float(said["spread g(f(s))"]) == pytest.approx(float(row["spread"]), rel=1e-2, abs=1e-8)
        assert float(said["reward"].replace(",", "")) == pytest.approx(float(row["reward"]), rel=1e-3, abs=0.5)


def test_colors_of_the_spread_range_from_0_to_the_ceiling_of_g(opened):
    """In every episode; the ceiling of `ShiftedSigmoid` is 0.88."""
    opened.run("""{const select = document.querySelector('#experiment-0 .choose select');
        select.selectedIndex = 1; select.dispatchEvent(new Event('change', {bubbles: true}));}""")
    for episode in range(3):
        opened.run(f"""{{const select = document.querySelectorAll('#experiment-0 .choose select')[2];
            select.selectedIndex = {episode}; select.dispatchEvent(new Event('change', {{bubbles: true}}));}}""")
        opened.settle()
        assert opened.run("document.querySelector('#experiment-0 .scale').textContent") == "00.88"
        marks = "Array.from(document.querySelectorAll('#experiment-0 .timeline .axes text'))"
        assert opened.run(f"{marks}.map(each => each.textContent)")[:2] == ["0", "0.88"]


def test_the_position_in_the_sea_follows_the_arrows(opened):
    """With actions that are shuffled in each cell."""
    places = []
    for step in range(8):
        opened.run(f"""{{const slider = document.querySelector('#experiment-2 input[type=range]');
            slider.value = {step}; slider.dispatchEvent(new Event('input', {{bubbles: true}}));}}""")
        said = dict(
            opened.run("""Array.from(document.querySelectorAll('#experiment-2 .readout div')).map(
                line => Array.from(line.children).map(each => each.textContent))""")
        )
        places.append(([int(part) for part in said["cell"].split(", ")], said["action a"]))
    assert places[0][0] == [1, 1]
    assert {action for _, action in places} == {"left", "right"}
    for ((row, column), action), (below, _) in itertools.pairwise(places):
        assert below == [row + 1, column + 1 if action == "right" else max(column - 1, 1)]
    legend = opened.run("document.querySelector('#experiment-2 .labels').textContent")
    assert "treasure" in legend
    assert "unsafe" not in legend


def test_keys_and_buttons_move_the_slider(opened):
    move(opened, 3)
    opened.run(f"{SLIDER}.focus()")
    opened.press("ArrowRight", 39)
    assert opened.run(STEP) == 4
    opened.press("ArrowLeft", 37)
    assert opened.run(STEP) == 3
    opened.run("document.querySelector('#experiment-0 .play').click()")
    opened.wait(f"{STEP} > 5")
    opened.run("document.querySelector('#experiment-0 .play').click()")
    stopped = opened.run(STEP)
    opened.run("new Promise(done => setTimeout(() => done(1), 400))")
    assert opened.run(STEP) == stopped


def test_choosing_another_case_shows_another_episode(opened):
    before = opened.run(PICTURE), opened.run("document.querySelector('#experiment-0 .story').textContent")
    opened.run("""{const select = document.querySelector('#experiment-0 .choose select');
        select.selectedIndex = 0; select.dispatchEvent(new Event('change', {bubbles: true}));}""")
    opened.settle()
    assert f"of eps-greedy{LAKE}, seed" in opened.run("document.querySelector('#experiment-0 .story').textContent")
    assert opened.run(PICTURE) != before[0]
    episodes = "document.querySelectorAll('#experiment-0 .choose select')[2].options.length"
    assert opened.run(episodes) == 3  # of four traced episodes
    shares = "Array.from(document.querySelectorAll('#experiment-0 .choose select')[2].options).map(each => each.text)"
    assert set(opened.run(shares)) <= {"30 (5%)", "120 (20%)", "300 (50%)", "600 (100%)"}


def test_curves_respond_to_the_pointer_the_scale_and_the_table(opened):
    chart = "document.querySelector('#experiment-0 figure .chart')"
    before = opened.run(f"{chart}.innerHTML")
    opened.run("document.querySelector('#experiment-0 [aria-label=Scale] [aria-pressed=false]').click()")
    assert opened.run(f"{chart}.querySelectorAll('.curve').length") == 4
    assert opened.run(f"{chart}.innerHTML") != before
    opened.run("document.querySelector('#experiment-0 button.case').click()")
    assert opened.run(f"{chart}.querySelectorAll('.curve').length") == 3
    opened.run(f"{chart}.scrollIntoView({{behavior: 'instant'}})")
    left, top, width, height = opened.run(
        f"(r => [r.left, r.top, r.width, r.height])({chart}.getBoundingClientRect())"
    )
    opened.send("Input.dispatchMouseEvent", type="mouseMoved", x=left + width / 2, y=top + height / 2)
    opened.settle()
    assert "episode 300" in opened.run(f"{chart}.querySelector('.tip:not([hidden])').textContent")


def test_curves_can_show_columns_of_exploration(opened, runs):
    figure = "document.querySelector('#experiment-0 figure')"
    known = opened.run(f"Array.from({figure}.querySelector('select').options).map(each => each.value)")
    assert known == ["return", "spread", "uncertainty", "explored", "switches"]
    before = opened.run(f"{figure}.querySelector('.chart').innerHTML")
    opened.run(f"""{{const select = {figure}.querySelector('select'); select.value = 'spread';
        select.dispatchEvent(new Event('change', {{bubbles: true}}));}}""")
    assert opened.run(f"{figure}.querySelector('.chart').innerHTML") != before
    opened.run(f"""{figure}.querySelector('.chart').dispatchEvent(
        new KeyboardEvent('keydown', {{key: 'ArrowRight', bubbles: true}}))""")
    said = opened.run(f"{figure}.querySelector('.tip:not([hidden])').innerText")
    tables = [
        read_metrics(runs[0] / "frozen-lake" / f"adeu{LAKE}" / f"seed-{seed}" / "metrics.csv") for seed in (0, 1)
    ]
    spread = sum(table["spread"][0] for table in tables) / 2
    line = next(line for line in said.splitlines() if line.startswith("adeu"))
    assert float(line.split()[1]) == pytest.approx(spread, rel=1e-3)


SCALES = """Array.from(document.querySelectorAll('figure .switch[aria-label=Scale]')).map(
    each => each.querySelector('[aria-pressed=true]').textContent)"""


def test_the_scale_is_logarithmic_only_for_wide_positive_ranges(page, runs, tmp_path):
    """The returns of the lake, then negative ones, then a narrow range."""
    folder = tmp_path / "frozen-lake"
    folder.mkdir()
    shutil.copy(runs[0] / "frozen-lake" / "summary.json", folder)
    head = "case,step,episode,return,low,high"
    for returns, scale in (
        ([0.5, 3, 20, 90_000], "log"),
        ([-1400, -1300, -800, -150], "linear"),
        ([450, 460, 480, 500], "linear"),
    ):
        rows = [f"adeu{LAKE},{100 * i},{10 * i},{value},," for i, value in enumerate(returns)]
        (folder / "curves.csv").write_text("\n".join([head, *rows]) + "\n")
        page.open(write_report(tmp_path))
        assert page.run(SCALES) == [scale]
        ticks = page.run("""Array.from(document.querySelectorAll('.axes text[text-anchor=end]:not(.unit)')).map(
            each => each.textContent)""")
        assert ("0" in ticks) == (min(returns) < 400)


def test_the_x_axis_has_the_unit_of_the_training(opened):
    captions = opened.run(
        "Array.from(document.querySelectorAll('.experiment > figure figcaption')).map(e => e.innerText)"
    )
    units = [caption.split(" over ")[1].split()[0] for caption in captions]
    assert units == ["episodes", "episodes", "steps", "steps"]


def test_many_cases_have_a_chart_each(opened):
    """The six cases of the safe lake have a chart each; the four of the other lake share one by default."""
    figure = "document.querySelector('#experiment-1 figure')"
    assert opened.run(f"{figure}.querySelectorAll('.apart svg').length") == 6
    assert opened.run(f"{figure}.querySelectorAll('.curve').length") == 6
    assert opened.run(f"{figure}.querySelectorAll('.ghost').length") == 6 * 5
    chart = f"{figure}.querySelectorAll('svg')[2]"
    opened.run(f"{chart}.scrollIntoView({{behavior: 'instant', block: 'center'}})")
    left, top, width, height = opened.run(
        f"(r => [r.left, r.top, r.width, r.height])({chart}.getBoundingClientRect())"
    )
    opened.send("Input.dispatchMouseEvent", type="mouseMoved", x=left + width / 2, y=top + height / 2)
    opened.settle()
    said = opened.run(f"Array.from({figure}.querySelectorAll('.said')).map(each => each.textContent)")
    assert len(said) == 6
    assert all(said)
    layouts = "document.querySelector('{} [aria-label=Charts]').children"
    opened.run(f"{layouts.format('#experiment-1')}[0].click()")
    assert opened.run(f"{figure}.querySelectorAll('svg').length") == 1
    assert opened.run("document.querySelectorAll('#experiment-0 figure .chart:not(.apart) > svg').length") == 1
    opened.run(f"{layouts.format('#experiment-0')}[1].click()")
    assert opened.run("document.querySelectorAll('#experiment-0 figure .apart svg').length") == 4


def test_training_with_networks_shows_episodes_at_quarters_of_training(opened, runs):
    """The default episodes; colors range up to the c of g."""
    panel = "document.querySelector('#experiment-3 .explore')"
    (run,) = (runs[0] / "train" / "CartPole-v1").glob("*/seed-0")
    names = sorted(path.stem for path in (run / "traces").iterdir())
    assert names == ["at-0", "at-100", "at-25", "at-50", "at-75"]
    assert sum(path.stat().st_size for path in (run / "traces").iterdir()) < 1_000_000
    opened.run(f"""{{const select = {panel}.querySelectorAll('.choose select')[1]; select.value = '0';
        select.dispatchEvent(new Event('change', {{bubbles: true}}));}}""")
    options = opened.run(f"Array.from({panel}.querySelectorAll('.choose select')[2].options).map(each => each.text)")
    firsts = {name: (run / "traces" / f"{name}.csv").read_text().splitlines()[1].split(",")[0] for name in names}
    shown = {"at-0": "the start", "at-25": "25%", "at-50": "50%", "at-75": "75%", "at-100": "the end"}
    assert options == [f"{text} (step {int(firsts[name]):,})" for name, text in shown.items()]
    opened.run(f"""{{const select = {panel}.querySelectorAll('.choose select')[2]; select.selectedIndex = 2;
        select.dispatchEvent(new Event('change', {{bubbles: true}}));}}""")
    assert f"at 50% of training (step {int(firsts['at-50']):,})" in opened.run(
        f"{panel}.querySelector('.story').textContent"
    )
    axis = f"Array.from({panel}.querySelectorAll('.timeline .axes text')).slice(0, 2).map(each => each.textContent)"
    assert opened.run(axis) == ["0", "0.1"]


def test_the_band_of_the_spread_shows_its_percentiles(opened):
    figure = "document.querySelector('#experiment-3 figure')"
    known = opened.run(f"Array.from({figure}.querySelector('select').options).map(each => each.value)")
    assert {"spread_p10", "spread_p90", "saturated"} <= set(known)
    bands = f"Array.from({figure}.querySelectorAll('.band')).map(each => each.getAttribute('points'))"
    assert opened.run(bands) == [""]  # the return of two seeds has none
    opened.run(f"""{{const select = {figure}.querySelector('select'); select.value = 'spread';
        select.dispatchEvent(new Event('change', {{bubbles: true}}));}}""")
    assert all(opened.run(bands))


def test_titles_spell_out_the_names_of_metrics(page, tmp_path):
    rows = [
        {"case": "mine", "metric": name, "value": 1.5, "seeds": 3}
        for name in ("mean", "steps_to_solve", "first_solved")
    ]
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "summary.json").write_text(json.dumps(rows))
    page.open(write_report(tmp_path))
    heads = page.run("Array.from(document.querySelectorAll('.figures thead th')).map(each => each.textContent)")
    assert heads == ["case", "seeds", "mean return", "steps to solve", "first solved at episode"]


def test_complete_runs_without_a_summary_are_not_called_incomplete(page, runs, tmp_path):
    case = f"adeu{LAKE}"
    shutil.copytree(runs[0] / "frozen-lake" / case, tmp_path / "frozen-lake" / case)
    page.open(write_report(tmp_path))
    text = page.run("document.querySelector('#experiment-0').innerText")
    assert case in text
    assert "Not complete" not in text


def test_the_report_of_an_interrupted_sweep_shows_its_complete_runs(page, runs, tmp_path):
    below = tmp_path / "frozen-lake"
    adaptive, ucb = f"adeu{LAKE}", f"ucb{LAKE}"
    for case, seed in ((adaptive, 0), (adaptive, 1), (ucb, 0)):
        shutil.copytree(runs[0] / "frozen-lake" / case / f"seed-{seed}", below / case / f"seed-{seed}")
    shutil.copytree(runs[0] / "frozen-lake" / ucb / "seed-1", below / ucb / "seed-1")
    (below / ucb / "seed-1" / "done.json").unlink()
    page.open(write_report(tmp_path))
    text = page.run("document.querySelector('#experiment-0').innerText")
    assert "Not complete: figures of 3 runs; 1 run not finished." in text
    whole = {
        (row["case"], row["metric"]): row
        for row in json.loads((runs[0] / "frozen-lake" / "summary.json").read_text())
    }
    cells = page.run("""Array.from(document.querySelectorAll('#experiment-0 td[data-metric]')).map(
        cell => [cell.dataset.case, cell.dataset.metric, cell.dataset.value])""")
    shown = {(case, metric): value for case, metric, value in cells}
    assert {case for case, _ in shown} == {adaptive, ucb}
    seeds = page.run(
        """Array.from(document.querySelectorAll('#experiment-0 td[data-label=seeds]')).map(e => e.innerText)"""
    )
    assert [cell.split() for cell in seeds] == [["2"], ["1", "of", "2"]]
    assert "Cases differ in their number of seeds" in page.run(
        "document.querySelector('#experiment-0 caption').textContent"
    )
    assert float(shown[adaptive, "mean"]) == whole[adaptive, "mean"]["value"]
    assert page.run("document.querySelectorAll('#experiment-0 .curve').length") == 2
    assert page.complaints == []


def test_vector_actions_are_shown(page, tmp_path):
    run = tmp_path / "train" / "Hopper" / "case" / "seed-0"
    (run / "traces").mkdir(parents=True)
    metrics = "step,episode,return,spread\n10,1,5.0,0.1\n20,2,7.0,0.15\n"
    (run / "metrics.csv").write_text(metrics)
    (run / "done.json").write_bytes(done(metrics, 20))
    spec = {"experiment": "train/Hopper", "case": "case", "seed": 0, "setting": {}}
    (run / "spec.json").write_text(json.dumps(spec))
    columns = {
        "explored": [True] * 3,
        "uncertainty": [1.0, 2.0, 3.0],
        "spread": [0.05, 0.1, 0.15],
        "reward": [0.0, 1.0, 2.0],
    }
    columns |= {
        "best_0": [0.5, 0.5, 0.5],
        "best_1": [-1.0, 0.0, 1.0],
        "action_0": [0.6, 0.4, 0.25],
        "action_1": [-0.9, 0.1, 0.9],
    }
    (run / "traces" / "episode-2.csv").write_text(to_csv(columns))
    page.open(write_report(tmp_path))
    assert "The spread lies between 0.05 and 0.15" in page.run("document.querySelector('.story').textContent")
    move(page, 2)
    said = page.run(READOUT)
    assert "policy π(s)0.5, 1" in said
    assert "action a0.25, 0.9" in said
    before = page.run(PICTURE)
    page.run("""{const select = document.querySelector('select[aria-label^="Dimension"]'); select.value = '1';
        select.dispatchEvent(new Event('change', {bubbles: true}));}""")
    assert page.run(PICTURE) != before
    assert page.complaints == []


@pytest.mark.parametrize("width", [320, 390, 768])
def test_the_page_fits_a_phone(page, report, width):
    page.open(report, width, 844)
    page.run("document.querySelectorAll('details').forEach(each => { each.open = true; })")
    page.settle()
    assert page.run("document.documentElement.scrollWidth") <= width
    assert (
        page.run("document.querySelector('.scroll').scrollWidth - document.querySelector('.scroll').clientWidth") <= 0
    )


def test_the_page_follows_the_dark_color_scheme(page, report):
    brightness = """(color => color.match(/\\d+/g).slice(0, 3).reduce((sum, each) => sum + Number(each), 0))(
        getComputedStyle(document.body).backgroundColor)"""
    page.open(report)
    light = page.run(brightness)
    page.open(report, dark=True)
    assert page.run(brightness) < 150 < 600 < light


def test_every_control_has_a_name(opened):
    nameless = opened.run("""Array.from(document.querySelectorAll('button, select, input, canvas')).filter(each =>
        !(each.getAttribute('aria-label') || each.textContent.trim() || each.labels?.length)).length""")
    assert nameless == 0


def test_a_case_has_the_same_color_in_table_and_curves(opened):
    dots, lines = (
        opened.run(f"""Array.from(document.querySelectorAll('#experiment-0 {where}')).map(
            each => getComputedStyle(each).{how})""")
        for where, how in (("button .dot", "backgroundColor"), (".curve", "stroke"))
    )
    assert dots == lines
    assert len(set(dots)) == 4
