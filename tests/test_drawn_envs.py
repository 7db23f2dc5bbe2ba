"""Environments drawn with hypothesis: right answers are accepted, wrong ones rejected by name; see `make attack`."""

from hypothesis import HealthCheck, given, settings

from tests.drawn_envs import Answer, answers, held


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(answers())
def test_answers(answer: Answer):
    assert held(answer)
