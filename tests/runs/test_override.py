"""Overrides of settings by --set."""

import dataclasses
import re
from typing import Literal, NamedTuple

import pytest

import adeu
from adeu.experiments import NAMES, locate
from adeu.experiments.lib.lake_setting import LakeSetting, adeu_counts, epsilon_greedy, ucb
from adeu.runs.override import changes, override
from adeu.tabular import Learners, QLearning


def change(setting, *assignments):
    return override({"case": setting}, assignments)["case"]


def exploring(f, g=adeu.Sigmoid(0.2)):  # noqa: B008
    return LakeSetting(QLearning(adeu.Explorer(f, g, adeu.Bernoulli())))


ROLLOUTS = exploring(adeu.Rollouts(adeu.Constant(0.5), rho=0.3, c=0.2))
SUM = exploring(adeu.Sum((adeu.Counts(), adeu.Recorded(), adeu.Constant(0.5))), adeu.Identity())


@pytest.mark.parametrize("name", NAMES)
def test_no_assignment_changes_no_setting(name):
    for experiment in locate(name):
        assert override(experiment.cases, []) == experiment.cases


@pytest.mark.parametrize(
    ("path", "text", "value"),
    [
        ("episodes", "7", 7),
        ("episodes", "1e3", 1000),
        ("agent.alpha", "1/n", "1/n"),
        ("agent.alpha", "0.5", 0.5),
        ("agent.gamma", "1", 1.0),
        ("lake.size", "10", 10),
        ("lake.layout", "Z", "Z"),
        ("lake.safe", "true", True),
        ("lake.safe", "True", True),
        ("lake.goal", "3", 3.0),
        ("lake.goal", "null", None),
        ("agent.explorer.f.beta", "2", 2.0),
        ("traced", "[0.5, 1]", (0.5, 1.0)),
        ("traced", "[]", ()),
        ("mentor_q", "None", None),
    ],
)
def test_values_are_parsed_by_the_type_of_the_field(path, text, value):
    found = change(adeu_counts(), f"{path}={text}")
    for name in path.split("."):
        found = getattr(found, name)
    assert found == value
    assert type(found) is type(value)


class TestPaths:
    @pytest.mark.parametrize("path", ["beta", "f.beta", "explorer.f.beta", "agent.explorer.f.beta"])
    def test_any_suffix_of_a_path_identifies_its_field(self, path):
        assert change(adeu_counts(), f"{path}=0.5") == adeu_counts(beta=0.5)

    def test_the_field_nearest_the_root_wins(self):
        assert change(ucb(), "size=20").lake.size == 20
        assert change(ucb(), "learners.size=20").agent.learners.size == 20
        assert change(ROLLOUTS, "f.c=0.1").agent.explorer.f == adeu.Rollouts(adeu.Constant(0.5), rho=0.3, c=0.1)
        assert change(ROLLOUTS, "f.f.c=0.1").agent.explorer.f == adeu.Rollouts(adeu.Constant(0.1), rho=0.3, c=0.2)

    def test_two_fields_at_the_same_depth_are_rejected(self):
        message = "'c' is ambiguous: agent.explorer.f.c or agent.explorer.g.c"
        with pytest.raises(ValueError, match=message):
            override({"adeu": adeu_counts(), "rollouts": ROLLOUTS}, ["c=0.1"])

    def test_elements_of_a_tuple_are_indexed(self):
        terms = change(SUM, "terms.2.c=0.1", "terms.0=EnsembleStd").agent.explorer.f.terms
        assert terms == (adeu.EnsembleStd(), adeu.Recorded(), adeu.Constant(0.1))
        assert change(SUM, "0.beta=0.1").agent.explorer.f.terms[0] == adeu.Counts(beta=0.1)

    def test_a_field_of_a_named_tuple_can_be_set(self):
        assert change(Plain(), "point.y=3").point == Point(1, 3)


class Point(NamedTuple):
    x: int = 1
    y: int = 2


@dataclasses.dataclass(frozen=True)
class Plain:
    """A user's setting."""

    point: Point = Point()  # noqa: RUF009
    low: int = 1
    high: int = 5
    mode: Literal["fast", "slow"] = "fast"
    anything: object = None
    pair: tuple[int, str] = (1, "one")

    def __post_init__(self):
        if self.low > self.high:
            raise ValueError(f"low={self.low} > high={self.high}")

    def trainer(self, seed):
        raise NotImplementedError


def test_fields_are_validated_after_all_are_set():
    assert change(Plain(), "low=7", "high=9") == Plain(low=7, high=9)
    with pytest.raises(ValueError, match="low=7 > high=5"):
        change(Plain(), "low=7")


def test_a_field_of_another_type_is_parsed_as_json():
    assert change(Plain(), "anything=[1, 2]").anything == [1, 2]
    assert change(Plain(), 'pair=[2, "two"]').pair == (2, "two")


class TestParts:
    @pytest.mark.parametrize(
        ("assignments", "explorer"),
        [
            (["f=rnd"], {"f": adeu.Rnd()}),
            (["f=rnd", "f.scale=3"], {"f": adeu.Rnd(scale=3.0)}),
            (["explorer.f=tests.functions:Distance"], {"f": None}),
            (['g={"part": "Saturating", "c": 0.1}'], {"g": adeu.Saturating(0.1)}),
            (['f={"part": "Sum", "terms": [{"part": "Counts"}]}'], {"f": adeu.Sum((adeu.Counts(),))}),
            (["guard=None"], {}),
        ],
    )
    def test_a_part_is_given_by_name_or_json(self, assignments, explorer):
        from tests.functions import Distance

        changed = change(adeu_counts(), *assignments).agent.explorer
        wanted = {name: part or Distance() for name, part in explorer.items()}
        assert changed == dataclasses.replace(adeu_counts().agent.explorer, **wanted)

    def test_a_tuple_of_parts_can_be_set(self):
        changed = change(SUM, 'terms=[{"part": "Counts", "beta": 0.1}, "ensemblestd"]')
        assert changed.agent.explorer.f.terms == (adeu.Counts(beta=0.1), adeu.EnsembleStd())

    def test_an_optional_part_can_be_set(self):
        assert change(ucb(), "learners=None").agent == epsilon_greedy(0.0).agent
        assert change(epsilon_greedy(), "learners=adeu.tabular:Learners").agent.learners == Learners()

    def test_the_whole_agent_can_be_set(self):
        text = adeu.to_json(ucb().agent)
        assert change(adeu_counts(), f"agent={text}") == ucb()


@pytest.mark.parametrize(
    ("setting", "assignments"),
    [
        (adeu_counts(), {}),
        (adeu_counts(), {"size": 60, "episodes": 9}),
        (ucb(), {"size": 60, "learners.size": 3, "alpha": "1/n"}),
        (ROLLOUTS, {"f.c": 0.1, "f.f.c": 0.3, "g.c": 0.4}),
        (SUM, {"c": 0.1, "beta": 0.2}),
        (SUM, {"terms": (adeu.Counts(),)}),
        (epsilon_greedy(), {"g": adeu.Clip()}),
    ],
)
def test_changes_returns_each_assignment_by_its_shortest_path(setting, assignments):
    texts = {
        path: adeu.to_json(value) if isinstance(value, adeu.Clip) else value for path, value in assignments.items()
    }
    if "terms" in texts:
        texts["terms"] = '[{"part": "Counts"}]'
    after = change(setting, *(f"{path}={text}" for path, text in texts.items()))
    assert changes(setting, after) == assignments


def test_only_cases_with_the_field_are_changed():
    cases = override({"adeu": adeu_counts(), "coin": epsilon_greedy()}, ["f.beta=0.5", "episodes=9"])
    assert cases["adeu"].agent.explorer.f == adeu.Counts(beta=0.5)
    assert cases["coin"].agent == epsilon_greedy().agent
    assert cases["coin"].episodes == 9


@pytest.mark.parametrize(
    ("assignment", "message"),
    [
        ("f.bta=1", "no setting 'f.bta'; did you mean 'f.beta'? Known: D.temperature, agent, agent.alpha,"),
        ("bta=1", "no setting 'bta'; did you mean 'beta'? Known: D, agent, alpha,"),
        ("lake.siz=1", "did you mean 'lake.size'"),
        ("learners.ucb=1", "no setting 'learners.ucb': agent.learners is None"),
        ("episodes.x=1", "no setting 'episodes.x': episodes is 30000"),
        ("episodes=many", "episodes takes int, got 'many'"),
        ("episodes=1.5", "episodes takes int, got '1.5'"),
        ("traced=[x]", "traced takes tuple[float, ...], got '[x]'"),
        ("traced=[150]", "traced takes fractions of training, above 0 and at most 1, got (150.0,)"),
        ("lake.safe=1", "lake.safe takes bool, got '1'"),
        ("lake.size=2", "Lake: size takes a whole number >= 3, got 2"),
        ("lake=3", "lake takes values for its fields (size, layout,"),
        ("f.beta=-1", "Counts: beta takes a finite number > 0, got -1"),
        ("alpha=1/m", "alpha takes float or '1/n', got '1/m'"),
        ("f=rdn", "unknown part 'rdn'; did you mean 'Rnd'"),
        ("f=sigmoid", "f takes a Mechanism (its name or JSON), got 'sigmoid'"),
        ("f=constant", 'give it as JSON, {"part": "Constant", ...}'),
        ("f=None", "f takes a Mechanism (its name or JSON), got 'None'"),
        ("guard=counts", "guard takes a Guard (its name or JSON) or None, got 'counts'"),
        ("episodes", "path=value"),
        ("=3", "path=value"),
    ],
)
def test_a_bad_assignment_is_rejected(assignment, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        change(adeu_counts(), assignment)


def test_a_bad_choice_is_rejected_with_the_valid_ones():
    with pytest.raises(ValueError, match="--set: mode takes 'fast' or 'slow', got 'faster'"):
        change(Plain(), "mode=faster")
