"""Return values of environments drawn with hypothesis: valid ones are accepted, others rejected."""

from hypothesis import HealthCheck, given, settings

from tests.drawn_envs import Answer, answers, held


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(answers())
def test_valid_values_are_accepted_and_others_rejected(answer: Answer):
    assert held(answer)
