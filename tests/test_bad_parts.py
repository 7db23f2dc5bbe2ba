"""Parts reject bad arguments: the message names the part, the argument, the valid values and the given one."""

import re

import gymnasium
import jax
import numpy as np
import pytest

import adeu

F = adeu.Constant(0.1)
CARTPOLE, PENDULUM = gymnasium.make("CartPole-v1"), gymnasium.make("Pendulum-v1")
LAKE = gymnasium.make("FrozenLake-v1")

CONSTRUCTIONS = [
    (lambda: adeu.Constant(-0.1), "Constant: c takes a finite number >= 0, got -0.1"),
    (lambda: adeu.Constant(float("nan")), "Constant: c takes a finite number >= 0, got nan"),
    (lambda: adeu.Constant("0.1"), "Constant: c takes a finite number >= 0, got '0.1'"),
    (lambda: adeu.Constant(True), "Constant: c takes a finite number >= 0, got True"),
    (lambda: adeu.Schedule(1.0, 0.0, 10, kind="exponential"), "Schedule: end takes a finite number > 0, got 0.0"),
    (lambda: adeu.Schedule(1.0, 0.1, 0), "Schedule: steps takes a whole number >= 1, got 0"),
    (
        lambda: adeu.Schedule(1.0, 0.1, 9, kind="cosine"),
        "Schedule: kind takes 'linear' or 'exponential', got 'cosine'",
    ),
    (lambda: adeu.Counts(0), "Counts: num_states takes a whole number >= 1, got 0"),
    (lambda: adeu.Counts(3, beta=0), "Counts: beta takes a finite number > 0, got 0"),
    (lambda: adeu.Rnd(scale=0), "Rnd: scale takes a finite number > 0, got 0"),
    (
        lambda: adeu.Rnd(hidden=(64, 0)),
        "Rnd: hidden takes the sizes of the hidden layers, such as (64, 64), got (64, 0)",
    ),
    (lambda: adeu.Rnd(hidden=64), "Rnd: hidden takes the sizes"),
    (lambda: adeu.Rnd(scale=1.0, tune=0.9), "Rnd: tune takes a finite number >= 0 and <= 0.5, got 0.9"),
    (lambda: adeu.Rnd(tune=0.1), "Rnd: tune takes 0 if scale is None, because U is then fitted to the data, got 0.1"),
    (lambda: adeu.Every(0), "Every: n takes a whole number >= 1 and <= 1073741824, got 0"),
    (lambda: adeu.HashCounts(bits=30), "HashCounts: bits takes a whole number >= 1 and <= 24, got 30"),
    (lambda: adeu.HashCounts(beta=0), "HashCounts: beta takes a finite number > 0, got 0"),
    (lambda: adeu.Homeostasis(F, rate=0), "Homeostasis: rate takes a finite number > 0 and <= 1, got 0"),
    (lambda: adeu.Homeostasis(0.1, rate=0.1), "Homeostasis: signal takes a Mechanism, got 0.1"),
    (lambda: adeu.Triggered(0.1), "Triggered: trigger takes a Mechanism, got 0.1"),
    (lambda: adeu.Triggered(F, duration=0), "Triggered: duration takes a whole number >= 1"),
    (lambda: adeu.Triggered(F, per="run"), "Triggered: per takes 'step' or 'episode', got 'run'"),
    (lambda: adeu.Triggered(F, start="rest"), "Triggered: start takes 'exploit' or 'explore', got 'rest'"),
    (lambda: adeu.Triggered(F, c=0), "Triggered: c takes a finite number > 0, got 0"),
    (
        lambda: adeu.recipes.value_promise(0.1, per="episode"),
        "Triggered: trigger takes an f that needs no reward if per='episode'",
    ),
    (lambda: adeu.recipes.blind_chance(1.5), "blind_chance: p takes a finite number >= 0 and <= 1, got 1.5"),
    (lambda: adeu.ValuePromise(k=0), "ValuePromise: k takes a whole number >= 1, got 0"),
    (lambda: adeu.ValuePromise(gamma=2), "ValuePromise: gamma takes a finite number >= 0 and <= 1, got 2"),
    (lambda: adeu.ValuePromise(form="mc"), "ValuePromise: form takes 'promise' or 'td', got 'mc'"),
    (lambda: adeu.Stakes(scale=0), "Stakes: scale takes a finite number > 0, got 0"),
    (lambda: adeu.Stakes(1.0, top=-1), "Stakes: top takes a finite number > 0, got -1"),
    (lambda: adeu.EnsembleStd(lam=0), "EnsembleStd: lam takes a finite number > 0, got 0"),
    (
        lambda: adeu.TdError(signal="loss"),
        "TdError: signal takes 'td_error' or 'value_change', got 'loss'",
    ),
    (lambda: adeu.TdError(rate=2), "TdError: rate takes a finite number > 0 and <= 1, got 2"),
    (lambda: adeu.ExpectedCost(step_size=0), "ExpectedCost: step_size takes a finite number > 0 and <= 1, got 0"),
    (lambda: adeu.Rollouts(F, rho=1.5, c=0.2), "Rollouts: rho takes a finite number >= 0 and <= 1, got 1.5"),
    (lambda: adeu.Rollouts(F, rho=-0.1, c=0.2), "Rollouts: rho takes a finite number >= 0 and <= 1, got -0.1"),
    (lambda: adeu.Rollouts(0.3, rho=0.1, c=0.2), "Rollouts: f takes a Mechanism, got 0.3"),
    (lambda: adeu.Rollouts(F, rho="often", c=0.2), "Rollouts: rho takes a finite number >= 0 and <= 1, got 'often'"),
    (lambda: adeu.ReturnBandit(()), "ReturnBandit: arms takes one or more numbers >= 0, got ()"),
    (lambda: adeu.ReturnBandit((0.1, -1)), "ReturnBandit: arms takes a finite number >= 0, got -1"),
    (lambda: adeu.ReturnBandit(decay=0), "ReturnBandit: decay takes a finite number > 0 and <= 1, got 0"),
    (lambda: adeu.ReturnBandit(width=-1), "ReturnBandit: width takes a finite number >= 0, got -1"),
    (lambda: adeu.BestActionGap([]), "BestActionGap: actions takes a whole number >= 0 for each state, got ()"),
    (lambda: adeu.HyperStates(F, [0.5]), "HyperStates: groups takes a whole number >= 0 for each state, got (0.5,)"),
    (lambda: adeu.HyperStates(3, [0]), "HyperStates: f takes a Mechanism, got 3"),
    (lambda: adeu.Cells(3, 2), "Cells: f takes a Mechanism, got 3"),
    (lambda: adeu.Cells(F, 0), "Cells: bins takes a whole number >= 1, or one per dimension, of at most 2147483647"),
    (lambda: adeu.Cells(F, (2, 0.5)), "cells, got (2, 0.5)"),
    (lambda: adeu.Cells(F, (2**16, 2**16)), "cells, got (65536, 65536)"),
    (lambda: adeu.Cells(F, 2, low=0.0), "Cells: the range (low, high) takes both or neither, got (0.0, None)"),
    (lambda: adeu.Cells(F, 2, 1.0, 1.0), "Cells: the range (low, high) takes finite numbers with low < high"),
    (lambda: adeu.FirstReturn(action_shape=2), "FirstReturn: action_shape takes whole numbers, or None, got 2"),
    (lambda: adeu.FirstReturn(longest=0), "FirstReturn: longest takes a whole number >= 1, got 0"),
    (lambda: adeu.FirstReturn(by="luck"), "FirstReturn: by takes 'replay' or 'agent', got 'luck'"),
    (lambda: adeu.Returning("luck"), "Returning: by takes 'replay' or 'agent', got 'luck'"),
    (lambda: adeu.Sticky(mean=0.5), "Sticky: mean takes a finite number >= 1, got 0.5"),
    (lambda: adeu.BoxSticky(mean=0.5), "BoxSticky: mean takes a finite number >= 1, got 0.5"),
    (lambda: adeu.BoxSticky(low=1.0), "BoxSticky: the range (low, high) takes both or neither, got (1.0, None)"),
    (lambda: adeu.Calibrated(F, decay=1.0), "Calibrated: decay takes a finite number"),
    (lambda: adeu.Ratio(F, F, lam="big"), "Ratio: lam takes a number > 0 or 'conditioned', got 'big'"),
    (lambda: adeu.Ratio(F, F, floor=0), "Ratio: floor takes a finite number > 0, got 0"),
    (lambda: adeu.Inverse(F, floor=0), "Inverse: floor takes a finite number > 0, got 0"),
    (lambda: adeu.Sum(()), "Sum: terms takes one or more Mechanisms, got ()"),
    (lambda: adeu.Product((F, 2)), "Product: factors takes one or more Mechanisms"),
    (lambda: adeu.from_function(3), "FromFunction: function takes a function, got 3"),
    (
        lambda: adeu.from_host(len, name="two words"),
        "FromHost: name takes a Python identifier that is not one of key,",
    ),
    (lambda: adeu.from_host(len, name="explored"), "explored, step, got 'explored'"),
    (lambda: adeu.LearnedLengths(0), "LearnedLengths: longest takes a whole number >= 1, got 0"),
    (lambda: adeu.LearnedLengths(gamma=2), "LearnedLengths: gamma takes a finite number >= 0 and <= 1, got 2"),
    (lambda: adeu.LearnedLengths(heads=0), "LearnedLengths: heads takes a whole number >= 1, got 0"),
    (lambda: adeu.LearnedLengths(lam=-1), "LearnedLengths: lam takes 0 with one head, because there is no dis"),
    (lambda: adeu.LearnedLengths(step_size=0), "LearnedLengths: step_size takes a finite number > 0 and <= 1, got 0"),
    (lambda: adeu.LearnedLengths(mask_probability=0), "LearnedLengths: mask_probability takes a finite number > 0"),
    (lambda: adeu.LearnedLengths(tau=2), "LearnedLengths: tau takes a finite number > 0 and <= 1, got 2"),
    (lambda: adeu.Sigmoid(c=0), "Sigmoid: c takes a finite number > 0, got 0"),
    (lambda: adeu.Saturating(c=-1), "Saturating: c takes a finite number > 0, got -1"),
    (lambda: adeu.Clip(0.5, 0.5), "Clip: high takes a finite number > 0.5, got 0.5"),
    (
        lambda: adeu.Gaussian(low=1.0, high=1.0),
        "Gaussian: the range (low, high) takes finite numbers with low < high, got (1.0, 1.0)",
    ),
    (lambda: adeu.Gaussian(low=1.0), "Gaussian: the range (low, high) takes both or neither, got (1.0, None)"),
    (
        lambda: adeu.Gaussian([-1, -1], [1, 1, 1]),
        "Gaussian: the range (low, high) takes finite numbers with low < high",
    ),
    (lambda: adeu.Gaussian(-3e38, 3e38), "Gaussian: the range (low, high) takes finite numbers with low < high"),
    (lambda: adeu.Gaussian(moment="sd"), "Gaussian: moment takes 'std' or 'variance', got 'sd'"),
    (lambda: adeu.Colored(beta=-0.1), "Colored: beta takes a finite number >= 0 and <= 2, got -0.1"),
    (lambda: adeu.Colored(beta=2.5), "Colored: beta takes a finite number >= 0 and <= 2, got 2.5"),
    (lambda: adeu.Colored(beta=float("nan")), "Colored: beta takes a finite number >= 0 and <= 2, got nan"),
    (lambda: adeu.Colored(carried=1), "Colored: carried takes a bool, got 1"),
    (lambda: adeu.Colored(moment="sd"), "Colored: moment takes 'std' or 'variance', got 'sd'"),
    (lambda: adeu.Colored(low=1.0), "Colored: the range (low, high) takes both or neither, got (1.0, None)"),
    (lambda: adeu.Colored().begin(jax.random.key(0)), "Colored: low and high are not set; give them, or bind to"),
    (
        lambda: adeu.OrnsteinUhlenbeck(theta=0),
        "OrnsteinUhlenbeck: theta takes a finite number > 0 and <= 1, got 0",
    ),
    (lambda: adeu.OrnsteinUhlenbeck(1.1), "OrnsteinUhlenbeck: theta takes a finite number > 0 and <= 1, got 1.1"),
    (lambda: adeu.BoxOptions(mu=1.0), "BoxOptions: mu takes a finite number > 1, got 1.0"),
    (lambda: adeu.BoxOptions(carried=0), "BoxOptions: carried takes a bool, got 0"),
    (lambda: adeu.Categorical(temperature=0), "Categorical: temperature takes a finite number >= 1e-30, got 0"),
    (lambda: adeu.Options(mu=1.0), "Options: mu takes a finite number > 1, got 1.0"),
    (lambda: adeu.Options(carried=1), "Options: carried takes a bool, got 1"),
    (
        lambda: adeu.Options(options=[[]]),
        "Options: options takes sequences of actions, such as [[0, 0], [1]], got ((),)",
    ),
    (
        lambda: adeu.Options(options=[[0]], weights=[1, 2]),
        "Options: weights takes 1 numbers >= 0, not all 0, got (1, 2)",
    ),
    (lambda: adeu.Options(weights=1.0), "Options: weights takes as many numbers >= 0, not all 0, got 1.0"),
    (lambda: adeu.KnownUnsafe(3, 0), "KnownUnsafe: states takes distinct whole numbers >= 0, at least one, got 3"),
    (lambda: adeu.KnownUnsafe([1, 1], [0, 0]), "KnownUnsafe: states takes distinct whole numbers >= 0"),
    (lambda: adeu.KnownUnsafe([1], [0, 0]), "KnownUnsafe: actions takes one action for each of the 1 states"),
    (
        lambda: adeu.Explorer(len, adeu.Identity(), adeu.Bernoulli()),
        "Explorer: f takes a Mechanism (a function becomes one",
    ),
    (lambda: adeu.Explorer(F, F, adeu.Bernoulli()), "Explorer: g takes a Normalizer, got Constant(c=0.1)"),
    (lambda: adeu.Explorer(F, adeu.Identity(), None), "Explorer: D takes a Distribution, got None"),
]


@pytest.mark.parametrize(("construct", "message"), CONSTRUCTIONS, ids=[message for _, message in CONSTRUCTIONS])
def test_bad_fields_are_rejected(construct, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        construct()


def explorer(f=F, D=None, **others):
    return adeu.Explorer(f, adeu.Clip(), D or adeu.Bernoulli(), **others)


BINDINGS = [
    (CARTPOLE, explorer(D=adeu.Gaussian()), "Gaussian: action space takes a Box"),
    (
        PENDULUM,
        explorer(),
        "Bernoulli: action space takes a Discrete (Gaussian, Colored, OrnsteinUhlenbeck, Options and Sticky",
    ),
    (PENDULUM, explorer(D=adeu.Categorical()), "Categorical: action space takes a Discrete"),
    (
        PENDULUM,
        explorer(D=adeu.Options(options=[[0]])),
        "Options: options takes None in a Box, where an option is an",
    ),
    (
        PENDULUM,
        explorer(D=adeu.Options(weights=[1.0])),
        "Options: weights takes None in a Box, where an option is an",
    ),
    (CARTPOLE, explorer(D=adeu.Colored()), "Colored: action space takes a Box (Categorical, Bernoulli and"),
    (CARTPOLE, explorer(D=adeu.OrnsteinUhlenbeck()), "OrnsteinUhlenbeck: action space takes a Box"),
    (CARTPOLE, explorer(D=adeu.BoxOptions()), "BoxOptions: action space takes a Box"),
    (PENDULUM, explorer(D=adeu.Colored(low=-3.0, high=3.0)), "Colored: the range (low, high) takes a range inside"),
    (
        PENDULUM,
        explorer(D=adeu.Gaussian(-3.0, 3.0)),
        "Gaussian: the range (low, high) takes a range inside the action space",
    ),
    (
        PENDULUM,
        explorer(D=adeu.Gaussian([-1, -1], [1, 1])),
        "Gaussian: the range (low, high) takes a range inside",
    ),
    (CARTPOLE, explorer(D=adeu.Options(options=[[2]])), "Options: options takes actions below 2 in Discrete(2)"),
    (CARTPOLE, explorer(D=adeu.Options(weights=[1, 2, 3])), "Options: weights takes 2 numbers in Discrete(2)"),
    (LAKE, explorer(adeu.Counts(15)), "Counts: num_states takes the observation space's 16, got 15"),
    (
        LAKE,
        explorer(adeu.Rollouts(adeu.TdError(15), 0.1, 0.1)),
        "TdError: num_states takes the observation space's 16",
    ),
    (LAKE, explorer(adeu.ExpectedCost(16, 5)), "ExpectedCost: num_actions takes the action space's 4, got 5"),
    (LAKE, explorer(adeu.BestActionGap([4] * 16)), "BestActionGap: actions takes actions below 4, got 4"),
    (LAKE, explorer(adeu.BestActionGap([0])), "BestActionGap: num_states takes the observation space's 16, got 1"),
    (
        LAKE,
        explorer(adeu.HyperStates(adeu.Counts(3), [0, 1] * 8)),
        "Counts: num_states takes the observation space's 2, got 3",
    ),
    (
        LAKE,
        explorer(adeu.Cells(adeu.Counts(), 2)),
        "Cells: observation space takes a Box of one dimension, got Discrete",
    ),
    (
        CARTPOLE,
        explorer(adeu.Cells(adeu.Counts(), 2)),
        "Cells: observation space takes a bounded Box, or a range: Cells(..., low=..., high=...), got Box",
    ),
    (
        CARTPOLE,
        explorer(adeu.Cells(adeu.Counts(), (2, 3), -1, 1)),
        "Cells: bins takes a number, or 4 of them, got (2, 3)",
    ),
    (
        CARTPOLE,
        explorer(adeu.Cells(adeu.Counts(), 2, (-1, -1), 1)),
        "Cells: low takes a number, or 4 of them, got (-1",
    ),
    (
        CARTPOLE,
        explorer(adeu.Cells(adeu.Counts(), 2**10, -1, 1)),
        "Cells: bins takes a whole number >= 1, or one per",
    ),
    (
        CARTPOLE,
        explorer(adeu.Cells(adeu.Counts(15), 2, -1, 1)),
        "Counts: num_states takes the observation space's 16",
    ),
    (CARTPOLE, explorer(adeu.Cells(adeu.Rnd(), 2, -1, 1)), "Rnd: obs takes a flat vector"),
    (CARTPOLE, explorer(adeu.Counts(15)), "Counts: obs takes a state index"),
    (
        CARTPOLE,
        explorer(adeu.Counts()),
        "Counts: observation space takes a Discrete space (for others, give num_states",
    ),
    (LAKE, explorer(adeu.Rnd()), "Rnd: obs takes a flat vector; for anything else, give Behavior(..., encoder=...)"),
    (LAKE, explorer(guard=adeu.KnownUnsafe([16], [0])), "KnownUnsafe: states takes states below 16, got 16"),
    (LAKE, explorer(guard=adeu.KnownUnsafe([1], [4])), "KnownUnsafe: actions takes actions of Discrete(4), got 4"),
    (CARTPOLE, explorer(guard=adeu.KnownUnsafe([1], [1])), "KnownUnsafe: observation space takes a Discrete"),
]


@pytest.mark.parametrize(("env", "explorer", "message"), BINDINGS, ids=[message for *_, message in BINDINGS])
def test_incompatible_spaces_are_rejected(env, explorer, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        adeu.Behavior(explorer, env)


def test_a_function_that_jax_cannot_trace_is_rejected_with_advice():
    behavior = adeu.Behavior(explorer(adeu.from_function(lambda obs: np.abs(np.array(obs)).sum())), CARTPOLE)
    with pytest.raises(TypeError, match=r"FromFunction: JAX cannot trace the function.*, or use adeu\.from_host"):
        behavior.act(np.zeros(4), [0.0, 1.0])


@pytest.mark.parametrize("hook", ["measure", "observe", "update"])
def test_a_method_without_given_is_rejected(hook):
    with pytest.raises(TypeError, match=rf"Narrow\.{hook}\(\) must take \*\*given: agents pass more"):
        type("Narrow", (adeu.Mechanism,), {hook: lambda self, *args: None})


def test_an_unbounded_or_integer_box_is_rejected():
    class Spaces:
        observation_space = gymnasium.spaces.Discrete(3)
        action_space = gymnasium.spaces.Box(-np.inf, np.inf, (1,))

    with pytest.raises(ValueError, match="a bounded Box, or a range: Gaussian"):
        adeu.Behavior(explorer(D=adeu.Gaussian()), Spaces())
    assert adeu.Behavior(explorer(D=adeu.Gaussian(-1.0, 1.0)), Spaces()).act(0, [5.0]).action == [1.0]
    largest = np.finfo(np.float32).max
    Spaces.action_space = gymnasium.spaces.Box(-largest, largest, (1,))
    with pytest.raises(ValueError, match="a bounded Box, or a range: Gaussian"):
        adeu.Behavior(explorer(D=adeu.Gaussian()), Spaces())
    Spaces.action_space = gymnasium.spaces.Box(0, 9, (1,), np.int64)
    with pytest.raises(ValueError, match="a Box of real numbers"):
        adeu.Behavior(explorer(D=adeu.Gaussian()), Spaces())
    Spaces.action_space = gymnasium.spaces.MultiDiscrete([2, 2])
    with pytest.raises(ValueError, match="an action space that is Box or Discrete"):
        adeu.Behavior(explorer(), Spaces())
    with pytest.raises(ValueError, match="Behavior: env takes an environment with an observation_space, got 3"):
        adeu.Behavior(explorer(), 3)


def test_an_unhashable_field_is_rejected():
    import dataclasses

    @dataclasses.dataclass(frozen=True)
    class Listing(adeu.Mechanism):
        items: list

    for f in (Listing([1, 2]), adeu.Sum((F, Listing([1, 2])))):
        with pytest.raises(ValueError, match=r"Listing: items takes a hashable value.*got \[1, 2\]"):
            explorer(f)


def test_an_unbound_part_is_rejected():
    with pytest.raises(ValueError, match="ExpectedCost: num_actions is not set"):
        adeu.ExpectedCost(num_states=2).init(None, 0)
    with pytest.raises(ValueError, match="Gaussian: low and high are not set"):
        adeu.Gaussian().sample(None, (), (), np.zeros(1), 0.1)


def test_numpy_numbers_are_accepted():
    assert adeu.Options(options=[[np.int64(0)], np.array([1, 0])]) == adeu.Options(options=[[0], [1, 0]])
    assert adeu.KnownUnsafe(np.array([3]), [np.int64(1)]) == adeu.KnownUnsafe([3], [1])
    assert adeu.Rnd(hidden=np.array([8, 8]), scale=np.float32(2)) == adeu.Rnd(hidden=(8, 8), scale=2.0)
    assert adeu.Gaussian([-0.7], [0.7]).bind(None, gymnasium.spaces.Box(-0.7, 0.7, (1,)))
