"""The colours of cases."""

from adeu.experiments import NAMES, locate, plots


def test_a_case_keeps_its_colour_and_shares_it_with_none():
    assert plots.style(["adeu"])["adeu"] == plots.style(["eps-greedy", "adeu"])["adeu"]
    for experiment in (experiment for name in NAMES for experiment in locate(name)):
        cases = list(experiment.cases)[: len(plots.COLORS)]
        colors = [color for color, _ in plots.style(cases).values()]
        assert len(set(colors)) == len(cases)
    assert len(set(plots.style(map(str, range(20))).values())) == 20  # where colours run out, lines differ
