"""Which episodes are written down step by step, in loops of Gymnasium and in compiled ones."""

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
    """How many it has observed."""

    def init(self, key, obs):
        return jnp.zeros(())

    def measure(self, key, state, carry, obs, **given):
        return state, carry

    def observe(self, state, transition, **given):
        return state + 1


def starts(traces):
    return {name: (trace["step"][0], len(trace["step"])) for name, trace in traces.items()}


class TestGymLoop:
    def test_episodes_stand_by_their_place_in_training_and_change_no_row(self):
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

    def test_the_last_one_is_complete(self):
        """500 steps are 100 episodes of 5; 498 cut the last."""
        loop = sea_loop(steps=500, traced_at=(1.0,))
        loop.steps = 498
        assert starts(play(loop)[1]) == {"at-100": (490, 5)}

    def test_an_episode_that_reaches_several_stands_by_the_latest(self):
        fractions = (0.002, 0.004, 0.006)  # steps 1, 2 and 3 of 500, all within the first episode
        assert starts(play(sea_loop(steps=500, traced_at=fractions))[1]) == {"at-0.6": (5, 5)}

    def test_a_long_one_is_cut(self, monkeypatch):
        monkeypatch.setattr("adeu.agents.tracing.NUMBERS", 7 * 3)
        rows, traces = play(sea_loop(steps=500, traced_at=(0.5,), traced=(3,)))
        assert starts(traces) == {"episode-3": (10, 5), "at-50": (250, 3)}
        assert rows == play(sea_loop(steps=500))[0]

    def test_resumed_it_traces_the_same(self):
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

    def test_what_is_no_fraction_is_rejected(self):
        with pytest.raises(ValueError, match=r"traced_at takes a finite number >= 0 and <= 1, got 25"):
            sea_loop(traced_at=(0.0, 25))


class TestColumns:
    def test_an_action_of_several_numbers_has_a_column_for_each(self):
        numbers = np.arange(4.0)
        actions = np.arange(24.0).reshape(4, 2, 3)
        columns = columns_of(numbers, actions, -actions, *[numbers] * 4)
        assert [name for name in columns if name.startswith("best")] == [f"best_{i}" for i in range(6)]
        assert columns["action_4"].tolist() == [-4, -10, -16, -22]
        assert len(columns) * most_steps((2, 3)) <= NUMBERS


class TestJaxLoop:
    def test_an_episode_is_played_beside_the_training(self):
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

    def test_f_takes_in_its_steps_and_the_state_stays(self):
        counts = adeu.Explorer(Steps(), adeu.Clip(), adeu.Bernoulli())
        loop = JaxLoop(
            Dqn(counts, hidden=(8,), capacity=100, batch=8, target_every=10),
            JaxDeepSea(Sea(size=4)),
            evaluate_every=100,
        )
        state, _ = loop.advance(loop.init(0))
        for _ in range(2):
            assert trace_episode(loop, state)["uncertainty"].tolist() == [100, 101, 102, 103]

    def test_random_actions_of_the_warm_up_and_several_numbers(self):
        loop = JaxLoop(Td3(NOISE, hidden=(8,), capacity=500, batch=8), JaxPendulum(), warmup=100, evaluate_every=100)
        state = loop.init(0)
        early = trace_episode(loop, state)
        assert len(early["step"]) == 200
        assert np.abs(early["best_0"] - early["action_0"]).mean() > 0.5
        later = trace_episode(loop, loop.advance(state)[0])
        assert np.abs(later["best_0"] - later["action_0"]).mean() < 0.4  # noise of 0.1 half ranges, which are 2
