"""Episodes that are recorded step by step, in `GymLoop` and in `JaxLoop`."""

import dataclasses

import jax.numpy as jnp
import numpy as np
import pytest

import adeu
from adeu.agents import Dqn, JaxLoop, Td3
from adeu.agents.jax_trace import trace_episode
from adeu.agents.tracing import NUMBERS, QUARTERS, columns_of, most_steps
from adeu.envs import JaxDeepSea, JaxPendulum, Sea
from tests.agents.test_gym_loop import SMALL, play, sea_loop

NOISE = adeu.Explorer(adeu.Constant(0.1), adeu.Identity(), adeu.Gaussian())


@dataclasses.dataclass(frozen=True)
class Steps(adeu.Mechanism):
    """Count the observed steps."""

    def init(self, key, obs):
        return jnp.zeros(())

    def measure(self, key, state, carry, obs, **given):
        return state, carry

    def observe(self, state, transition, **given):
        return state + 1


def starts(traces):
    return {name: (trace["step"][0], len(trace["step"])) for name, trace in traces.items()}


class TestGymLoop:
    def test_traces_are_named_by_their_place_in_training_and_change_no_row(self):
        loop, plain = sea_loop(steps=500, traced=(3,), traced_at=QUARTERS), sea_loop(steps=500)
        rows, traces = play(loop)
        assert rows == play(plain)[0]
        assert starts(traces) == {
            "episode-3": (10, 5),
            "at-0": (0, 5),
            "at-25": (125, 5),
            "at-50": (250, 5),
            "at-75": (375, 5),
            "at-100": (495, 5),
        }
        trace = traces["at-50"]
        assert trace["step"].tolist() == [250, 251, 252, 253, 254]
        assert (trace["best"][~trace["explored"]] == trace["action"][~trace["explored"]]).all()

    def test_the_last_trace_is_of_a_complete_episode(self):
        """500 steps are 100 episodes of 5; 498 steps truncate the last one."""
        loop = sea_loop(steps=500, traced_at=(1.0,))
        loop.steps = 498
        assert starts(play(loop)[1]) == {"at-100": (490, 5)}

    def test_an_episode_that_reaches_several_fractions_is_named_by_the_last(self):
        fractions = (0.002, 0.004, 0.006)  # steps 1, 2 and 3 of 500, all within the first episode
        assert starts(play(sea_loop(steps=500, traced_at=fractions))[1]) == {"at-0.6": (5, 5)}

    def test_a_long_trace_is_cut_off(self, monkeypatch):
        monkeypatch.setattr("adeu.agents.tracing.NUMBERS", 7 * 3)
        rows, traces = play(sea_loop(steps=500, traced_at=(0.5,), traced=(3,)))
        assert starts(traces) == {"episode-3": (10, 5), "at-50": (250, 3)}
        assert rows == play(sea_loop(steps=500))[0]

    def test_traces_are_the_same_after_resuming(self):
        _, expected = play(sea_loop(steps=500, traced_at=QUARTERS))
        loop, traces = sea_loop(steps=500, traced_at=QUARTERS), {}
        while loop.step < loop.steps:
            traces |= loop.advance()[1]
            saved, loop = loop.arrays(), sea_loop(steps=500, traced_at=QUARTERS)
            loop.restore(saved)
        assert starts(traces) == starts(expected)
        assert all(
            (traces[name][column] == expected[name][column]).all() for name in traces for column in traces[name]
        )

    def test_bad_fractions_are_rejected(self):
        with pytest.raises(ValueError, match=r"traced_at takes a finite number >= 0 and <= 1, got 25"):
            sea_loop(traced_at=(0.0, 25))


class TestColumns:
    def test_each_component_of_an_action_has_a_column(self):
        numbers = np.arange(4.0)
        actions = np.arange(24.0).reshape(4, 2, 3)
        columns = columns_of(numbers, actions, -actions, *[numbers] * 4)
        assert [name for name in columns if name.startswith("best")] == [f"best_{i}" for i in range(6)]
        assert columns["action_4"].tolist() == [-4, -10, -16, -22]
        assert len(columns) * most_steps((2, 3)) <= NUMBERS


class TestJaxLoop:
    def test_an_episode_is_traced_without_changing_the_training(self):
        loop = JaxLoop(SMALL, JaxDeepSea(Sea(size=6)), evaluate_every=100)
        state, _ = loop.advance(loop.init(3))
        trace, again = trace_episode(loop, state), trace_episode(loop, state)
        assert set(trace) == {"step", "explored", "uncertainty", "spread", "reward", "best", "action"}
        assert starts({"": trace}) == {"": (100, 6)}
        assert trace["spread"] == pytest.approx(1 / 6)
        assert (trace["best"][~trace["explored"]] == trace["action"][~trace["explored"]]).all()
        assert all((trace[name] == again[name]).all() for name in trace)
        later = trace_episode(loop, loop.advance(state)[0])
        assert any((trace[name] != later[name]).any() for name in ("explored", "action", "step"))

    def test_f_observes_the_traced_steps_but_the_state_is_unchanged(self):
        counts = adeu.Explorer(Steps(), adeu.Clip(), adeu.Bernoulli())
        loop = JaxLoop(
            Dqn(counts, hidden=(8,), capacity=100, batch=8, target_every=10),
            JaxDeepSea(Sea(size=4)),
            evaluate_every=100,
        )
        state, _ = loop.advance(loop.init(0))
        for _ in range(2):
            assert trace_episode(loop, state)["uncertainty"].tolist() == [100, 101, 102, 103]

    def test_traces_of_vector_actions_during_and_after_the_warm_up(self):
        loop = JaxLoop(Td3(NOISE, hidden=(8,), capacity=500, batch=8), JaxPendulum(), warmup=100, evaluate_every=100)
        state = loop.init(0)
        early = trace_episode(loop, state)
        assert len(early["step"]) == 200
        assert np.abs(early["best_0"] - early["action_0"]).mean() > 0.5
        later = trace_episode(loop, loop.advance(state)[0])
        assert np.abs(later["best_0"] - later["action_0"]).mean() < 0.4  # noise of 0.1 half ranges of 2
