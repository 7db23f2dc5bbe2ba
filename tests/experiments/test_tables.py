"""Tables on the screen: their values, and which are bold."""

import numpy as np
import pytest
from rich.console import Console
from rich.style import Style

from adeu.experiments import find, locate
from adeu.experiments.lib import tables
from adeu.experiments.lib.experiment import MEAN
from adeu.experiments.lib.tables import best, table
from adeu.experiments.mujoco import ENVIRONMENTS, ROWS


def curves(means):
    """Return two seeds for each case, with this mean over three evaluations; the maximum is 10 higher."""
    steps = np.full((2, 3), 50_000.0)
    columns = {"seed": np.array([0.0, 1.0]), "step": steps, "trained": steps > 0, "spread": steps * 0 + 0.15}
    return {
        case: columns | {"return": np.array([[-10.0, 0.0, 10.0], [-12.0, 2.0, 10.0]]) + mean}
        for case, mean in means.items()
    }


def printed(shown):
    """Return the text, and its bold parts."""
    console = Console(width=250, color_system="truecolor", force_terminal=True)
    segments = [segment for line in console.render_lines(shown) for segment in line]
    bold = [segment.text.strip() for segment in segments if (segment.style or Style()).bold]
    return "".join(segment.text for segment in segments), " ".join(bold)


def test_best_are_all_cases_within_a_tenth_of_the_best():
    def rows(**values):
        return [{"case": case, "metric": "mean", "value": value} for case, value in values.items()]

    assert best(rows(a=100.0, b=90.0, c=89.9, d=None), "mean") == {"a", "b"}
    assert best(rows(a=-100.0, b=-110.0, c=-111.0), "mean") == {"a", "b"}
    assert best(rows(a=1.0), "max") == set()


def test_the_main_table_has_the_form_of_the_paper():
    family = find("mujoco")
    summaries = {}
    for number, member in enumerate(family.members):
        means = {row: 1_000.0 + 100 * place for place, row in enumerate(ROWS)} | {"no-noise": 9_000.0}
        summaries[member.name] = member.summary(curves({case: mean + number for case, mean in means.items()}))
    text, bold = printed(family.table(summaries))
    for number, env in enumerate(ENVIRONMENTS):
        assert env in text
        for place, row in enumerate(ROWS):
            pair = f"{1_000 + 100 * place + number:,}; {1_010 + 100 * place + number:,}"
            assert row in text
            assert pair in text
            assert (pair in bold) == (place >= 4)  # no-noise is a control and not in the table
    assert "paper 376; 631" in text
    assert "IQM 1,500" in text
    assert "biased up with few seeds" in text


@pytest.mark.parametrize("name", ["mujoco", "mujoco-td3"])
def test_results_of_the_authors_are_shown_only_for_their_setting(name):
    (hopper,) = locate(f"{name}/Hopper-v5")
    text, bold = printed(table(hopper, hopper.summary(curves({"constant-0.1": 200.0, "rnd": 300.0}))))
    assert ("authors, v1 360" in text) == ("authors, v1 827" in text) == (name == "mujoco-td3")
    assert ("authors' code, v5 194" in text) == ("authors' code, v5 404" in text) == (name == "mujoco-td3")
    assert "paper 733" in text
    assert "rnd" in bold
    assert "300" in bold
    assert "200" not in bold


def rows_of(name, steps):
    """Return deep-sea/10 and its rows for a case that solved it at these steps, and bdqn, 1e5 steps later."""
    (sea,) = locate("deep-sea/10")
    at = np.array(steps, float)

    def curve(at):
        grid = np.tile(np.arange(1, 401) * 1_000.0, (len(at), 1))
        flags = (grid >= at[:, None]).astype(float)
        return {
            "seed": np.arange(len(at)),
            "step": grid,
            "solved": flags,
            "first_hit": np.where(flags > 0, 500.0, 0.0),
        }

    return sea, sea.summary({"bdqn": curve(at + 100_000), name: curve(at)})


def test_a_share_shows_its_number_of_runs_and_an_open_interval_its_lower_end():
    sea, rows = rows_of("ucb", [1e4, 2e4, 3e4, 4e4, 5e4, np.inf])
    text, _ = printed(table(sea, rows))
    lines = [" ".join(line.split()) for line in text.splitlines()]
    text = " ".join(lines)
    assert "5 of 6" in text
    assert "44% to 97%" in text
    assert "at least 10,000" in text  # the interval of the median includes a run that never solved it
    assert "difference from bdqn seed by seed" in text
    assert "better 92% (52% to 99%)" in text  # neither solved it: a tie
    sea, rows = rows_of("ucb", [1e4, 2e4, 3e4, 4e4, 5e4, 6e4])
    text, _ = printed(table(sea, rows))
    assert "-100,000" in text


def test_each_case_that_others_are_compared_with_has_a_table():
    (hopper,) = locate("mujoco/Hopper-v5")
    found = curves({"constant": 200.0, "rnd": 300.0, "rnd-shuffled": 250.0})
    text, _ = printed(table(hopper, hopper.summary(found)))
    _, to_constant, to_rnd = text.split("difference from ")
    assert to_constant.startswith("constant seed by seed")
    assert "+100" in to_constant
    assert "rnd-shuffled" not in to_constant
    assert to_rnd.startswith("rnd seed by seed")
    assert "-50" in to_rnd


def test_few_seeds_are_shown_individually():
    sea, rows = rows_of("ucb", [1e4, 2e4, np.inf])
    text, _ = printed(table(sea, rows))
    assert "10,000, 20,000, never" in text
    (lake,) = locate("frozen-lake")
    few = {
        "seed": np.arange(3.0),
        "return": np.array([[10.0], [20.0], [40.0]]),
        "solved": np.zeros((3, 1)),
        "episode": np.ones((3, 1)),
    }
    text, _ = printed(table(lake, lake.summary({"eps-greedy": few})))
    assert "10, 20, 40" in text
    many = {name: np.concatenate([column, column]) for name, column in few.items()} | {"seed": np.arange(6.0)}
    text, _ = printed(table(lake, lake.summary({"eps-greedy": many})))
    assert "10, 20, 40" not in text
    assert "11 to 40" in text


def test_numbers_below_1_have_decimals():
    numbers = {0.347: "0.35", -0.004: "0.00", 0.0: "0", 1.0: "1", 4.6: "5", 1234.5: "1,234"}
    assert {value: tables.number(value, MEAN.form) for value in numbers} == numbers
    assert tables.number(0.05, MEAN.form, sign="+") == "+0.05"
