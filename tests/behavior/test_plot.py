"""The history that a behavior keeps, and its plot."""

import subprocess
import sys

import gymnasium
import numpy as np
import pytest

import adeu
from adeu.behavior.course import FIRST, MOMENTS, Course
from adeu.behavior.history import History
from adeu.behavior.plot import EPISODES, last_episodes

POLE = gymnasium.make("CartPole-v1")
COINS = adeu.Rollouts(adeu.Constant(0.25), rho=0.5, c=1.0)


def explorer(f, g=None):
    return adeu.Explorer(f, g or adeu.Identity(), adeu.Bernoulli())


def play(behavior, ends, obs=(0.0, 0.0, 0.0, 0.0), envs=None):
    """Make a step for each entry of `ends`; True ends the episode."""
    obs = np.float32(obs) if envs is None else np.tile(np.float32(obs), (envs, 1))
    center = np.zeros(2) if envs is None else np.zeros((envs, 2))
    for end in ends:
        decision = behavior.act(obs, center)
        never = np.zeros(envs or (), bool)
        behavior.observe(adeu.Transition(obs, decision.action, never * 1.0, obs, np.asarray(end), never))


def lines(axes):
    """Return the data of the lines, except dotted ones."""
    drawn = (np.asarray(line.get_xydata()) for line in axes.get_lines() if line.get_linestyle() != ":")
    return [each for each in drawn if len(each)]


class TestCourse:
    def follow(self, spreads, asked=None):
        history, course, idle = History.empty(1), Course.empty(), np.zeros(1, bool)
        for number, spread in enumerate(spreads):
            was_asked = np.array([asked is None or asked[number]])
            history.add(np.float32([2 * spread]), np.float32([spread]), was_asked, idle)
            course.follow(number, history)
        return course.until(len(spreads), history)

    def test_percentiles_are_of_the_decisions_since_the_previous_moment(self):
        spreads = np.random.default_rng(0).random(3 * FIRST + 40)
        steps, bands = self.follow(spreads)
        assert steps.tolist() == [FIRST - 1, 2 * FIRST - 1, 3 * FIRST - 1, len(spreads)]
        for band, part in zip(bands, np.split(spreads, [FIRST, 2 * FIRST, 3 * FIRST]), strict=True):
            expected = np.percentile(part, [10, 50, 90])
            np.testing.assert_allclose(band, [2 * expected, expected], rtol=1e-6)

    def test_only_steps_in_which_f_was_asked_count(self):
        spreads, asked = np.arange(2 * FIRST) / FIRST, np.arange(2 * FIRST) % 2 == 0
        asked[FIRST:] = False
        _, bands = self.follow(spreads, asked)
        np.testing.assert_allclose(bands[0, 1], np.percentile(spreads[:FIRST:2], [10, 50, 90]), rtol=1e-6)
        assert np.isnan(bands[1]).all()

    def test_memory_does_not_grow_with_the_length_of_training(self):
        """In the end moments are 1,600 decisions apart, each with percentiles of the 1,000 decisions before."""
        acts = 9 * FIRST * MOMENTS
        steps, bands = self.follow(np.arange(acts) / acts)
        every = 16 * FIRST
        assert steps.tolist() == list(range(every - 1, acts, every))
        assert len(steps) <= MOMENTS
        medians = (steps - 499.5) / acts
        np.testing.assert_allclose(bands[-15:, 1, 1], medians[-15:], rtol=1e-5)
        assert (np.diff(bands[:, 1, 1]) > 0).all()


class TestEpisodes:
    def test_episodes_of_one_environment(self):
        behavior = adeu.Behavior(explorer(adeu.Schedule(1.0, 0.0, 100)), POLE)
        ends = np.zeros(30, bool)
        ends[[4, 5, 19]] = True
        play(behavior, ends)
        episodes = last_episodes(behavior._history)
        assert [len(episode.ages) for episode in episodes] == [5, 1, 14, 10]
        for episode in episodes:
            np.testing.assert_array_equal(episode.ages, np.arange(len(episode.ages)))
        spreads = np.concatenate([episode.values[1] for episode in episodes])
        np.testing.assert_array_equal(spreads, behavior.history)

    def test_episodes_of_a_vector_exclude_reset_steps(self):
        vector = gymnasium.make_vec("CartPole-v1", 3)  # autoreset NEXT_STEP
        behavior = adeu.Behavior(explorer(adeu.Constant(0.1)), vector)
        ends = np.zeros((20, 3), bool)
        ends[9, 0] = ends[4, 1] = True
        play(behavior, ends, envs=3)
        lengths = sorted(len(episode.ages) for episode in last_episodes(behavior._history))
        assert lengths == [5, 9, 10, 14, 20]  # the reset step after each end does not count

    def test_the_latest_episodes_are_drawn_as_far_as_the_history_reaches(self):
        behavior = adeu.Behavior(explorer(adeu.Constant(0.1)), POLE)
        play(behavior, np.arange(100) % 10 == 9)
        assert len(last_episodes(behavior._history)) == EPISODES
        play(behavior, np.zeros(1300, bool))
        (only,) = last_episodes(behavior._history)
        assert (only.ages[0], only.ages[-1]) == (300, 1299)


class TestPlot:
    def test_it_shows_the_decisions(self):
        behavior = adeu.Behavior(explorer(adeu.Schedule(1.0, 0.5, 300), adeu.Saturating(0.9)), POLE)
        play(behavior, np.arange(250) % 50 == 49)
        figure = behavior.plot()
        above, above_right, below, below_right = figure.axes
        assert (above.get_ylabel(), below.get_ylabel()) == ("uncertainty f(s)", "spread g(f(s))")
        (course,) = lines(below)
        assert course[:, 0].tolist() == [99, 199, 250]
        spreads = behavior.history
        np.testing.assert_allclose(course[0, 1], np.median(spreads[:100]), rtol=1e-6)
        assert len(lines(below_right)) == len(lines(above_right)) == EPISODES
        np.testing.assert_allclose(lines(below_right)[-1][:, 1], spreads[-50:])
        ceilings = [line.get_ydata()[0] for line in below.get_lines() if line.get_linestyle() == ":"]
        assert ceilings == [0.9]

    def test_it_works_for_a_vector_and_after_a_single_step(self):
        vector = gymnasium.make_vec("CartPole-v1", 3)
        behavior = adeu.Behavior(explorer(COINS), vector)
        play(behavior, np.zeros((1, 3), bool), envs=3)
        assert len(lines(behavior.plot().axes[3])) == 3

    def test_without_decisions_it_is_rejected(self):
        behavior = adeu.Behavior(explorer(COINS), POLE)
        with pytest.raises(ValueError, match=r"Behavior\.plot takes at least one decision, there is none yet"):
            behavior.plot()
        with behavior.evaluation():
            behavior.act(np.zeros(4), np.zeros(2))
        with pytest.raises(ValueError, match="there is none yet"):
            behavior.plot()

    def test_without_values_of_f_it_shows_a_text(self):
        behavior = adeu.Behavior(explorer(adeu.Rollouts(adeu.Constant(0.25), rho=1.0, c=1.0)), POLE)
        play(behavior, np.zeros(3, bool))
        assert [text.get_text() for text in behavior.plot().axes[0].texts] == ["f was not used"]

    def test_a_wide_range_is_logarithmic_and_a_narrow_one_is_not(self):
        falling = adeu.from_function(lambda obs: 10.0 ** -obs[0])
        for places, scale in ((3, "log"), (1, "linear")):
            behavior = adeu.Behavior(explorer(falling, adeu.Clip()), POLE)
            for place in np.linspace(0, places, 20):
                behavior.act(np.float32([place, 0, 0, 0]), np.zeros(2))
            assert behavior.plot().axes[0].get_yscale() == scale

    def test_it_is_the_same_after_loading(self, tmp_path):
        first, second = (adeu.Behavior(explorer(COINS), POLE, seed=seed) for seed in (0, 1))
        play(first, np.arange(230) % 7 == 6)
        first.save(tmp_path / "behavior")
        second.load(tmp_path / "behavior")
        for one, other in zip(first.plot().axes, second.plot().axes, strict=True):
            for ours, theirs in zip(lines(one), lines(other), strict=True):
                np.testing.assert_array_equal(ours, theirs)

    def test_pyplot_is_not_imported(self):
        script = (
            "import adeu, gymnasium, sys; behavior = adeu.Behavior(adeu.Explorer(adeu.Constant(0.1), adeu.Identity(),"
            "adeu.Bernoulli()), gymnasium.make('CartPole-v1')); behavior.act([0.0] * 4, [0.0, 1.0]); behavior.plot();"
            "print('matplotlib.pyplot' in sys.modules)"
        )
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
        assert done.stdout.strip() == "False"
