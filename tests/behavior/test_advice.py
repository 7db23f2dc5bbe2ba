"""Warnings about a g that stays at an end of its range, with advice for the parts in use, in Behavior and SB3."""

import warnings

import gymnasium
import numpy as np
import pytest

import adeu
from adeu.behavior.advice import advise, is_chosen

STATES = gymnasium.spaces.Discrete(3)
MINE = adeu.from_function(lambda obs: 1e6 * obs[0])


def explorer(f, g=None):
    return adeu.Explorer(f, g or adeu.Saturating(0.2), adeu.Bernoulli())


ADVICE = [
    (adeu.Rnd.paper(), "Rnd's U = 187.5 is too large here: adeu.Rnd() fits U", "too small here: adeu.Rnd() fits U"),
    (adeu.Rnd(), "call update() more often, or give it a larger learning_rate than 3e-05", "a smaller learning_rate"),
    (adeu.Stakes(0.5), "Stakes a smaller scale than 0.5", "Stakes a larger scale than 0.5"),
    (adeu.EnsembleStd(lam=2.0), "EnsembleStd a smaller lam than 2.0", "EnsembleStd a larger lam than 2.0"),
    (adeu.Counts(3, beta=0.9), "Counts a larger beta than 0.9", "Counts a smaller beta than 0.9"),
    (adeu.TdError(3, sigma=0.5), "TdError a larger sigma than 0.5", "TdError a smaller sigma than 0.5"),
    (MINE, "adeu.Calibrated(f) divides f by its", "adeu.Calibrated(f) divides f by its"),
    (adeu.Constant(9.0), "The spread is that of Constant(c=9.0): choose a smaller one", "choose a larger one"),
]


@pytest.mark.parametrize(("f", "top", "bottom"), ADVICE, ids=[type(f).__name__ for f, *_ in ADVICE])
def test_advice_names_the_parameter_of_a_nested_f(f, top, bottom):
    for whole in (f, adeu.Rollouts(adeu.Sum((f, f)), rho=0.3, c=0.2)):
        assert top.replace("Constant(c=9.0)", repr(whole)) in advise(explorer(whole), "top")
        assert bottom in advise(explorer(whole), "bottom")
        assert is_chosen(explorer(whole)) == isinstance(f, adeu.Constant)


def caught(f, observation, g=None, steps=2_001, **given):
    """Return the warnings about g in `steps` steps."""
    box = gymnasium.spaces.Box(-1e9, 1e9, (2,))
    space = box if np.ndim(observation) else STATES
    env = type("Env", (), {"observation_space": space, "action_space": gymnasium.spaces.Discrete(2)})()
    behavior = adeu.Behavior(explorer(f, g), env)
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        for _ in range(steps):
            behavior.act(observation, [0.0, 1.0], **given)
    messages = [str(warning.message) for warning in found]
    return [message for message in messages if "spread in" in message]


CRITICS = np.array([[0.0, 1.0], [0.0, 9.0]])


@pytest.mark.parametrize(
    ("f", "observation", "given", "advice"),
    [
        (adeu.Rnd.paper(), np.ones(2), {}, "adeu.Rnd() fits U to the data"),
        (adeu.EnsembleStd(lam=50.0), np.ones(2), {"q_values": CRITICS}, "a smaller lam than 50.0"),
        (adeu.Counts(beta=0.01), 1, {}, "a larger beta than 0.01"),
        (MINE, np.ones(2), {}, "adeu.Calibrated(f)"),
    ],
    ids=["Rnd", "EnsembleStd", "Counts", "own"],
)
def test_a_behavior_warns_once_about_a_saturated_g(f, observation, given, advice):
    (message,) = caught(f, observation, **given)
    assert "Saturating(c=0.2) gave its largest spread in 100% of the last 1000 steps" in message
    assert advice in message


def test_a_behavior_warns_once_about_a_g_that_gives_hardly_any_spread():
    (message,) = caught(adeu.EnsembleStd(lam=1e-3), np.ones(2), q_values=CRITICS)
    assert "Saturating(c=0.2) gave hardly any spread in 100% of the last 1000 steps" in message
    assert "a larger lam than 0.001" in message


def test_spreads_in_range_or_chosen_do_not_warn():
    assert caught(adeu.Rnd(), np.ones(2)) == []
    assert caught(adeu.Constant(0.0), np.ones(2)) == []
    assert caught(MINE, np.zeros(2), g=adeu.Identity()) == []


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*learns in update")
def test_the_sb3_callback_warns():
    pytest.importorskip("stable_baselines3")
    from stable_baselines3 import TD3

    from adeu.adapters.sb3 import ExplorerCallback

    paper = adeu.Explorer(adeu.Rnd(scale=1e4), adeu.Sigmoid(0.2), adeu.Gaussian())
    model = TD3("MlpPolicy", "Pendulum-v1", learning_starts=0, train_freq=(100, "episode"), seed=0)
    with pytest.warns(UserWarning, match=r"largest spread in 100% .* adeu.Rnd\(\) fits U to the data"):
        model.learn(1_001, callback=ExplorerCallback(paper))
