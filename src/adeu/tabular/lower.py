"""Converts parts to the kernel's NamedTuples.

To add a custom part, define a NamedTuple of its parameters and tables, register its rules (`measure.register`, ...),
and register a function that converts the part with `lower.register`.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np

import adeu.distributions
import adeu.guards
import adeu.mechanisms.bandit
import adeu.mechanisms.best_action
import adeu.mechanisms.combine
import adeu.mechanisms.constant
import adeu.mechanisms.cost
import adeu.mechanisms.counts
import adeu.mechanisms.ensemble
import adeu.mechanisms.first_return
import adeu.mechanisms.hyper_states
import adeu.mechanisms.td_error
import adeu.mechanisms.triggers
import adeu.mechanisms.value_promise
import adeu.normalizers
from adeu.core.contract import Mechanism
from adeu.core.explorer import Explorer
from adeu.tabular import combined_forms, decision_forms, f_forms, first_return_form, lengths_form, trigger_forms
from adeu.tabular.model import Deterministic, Model


class Lowered(NamedTuple):
    """The kernel's form of an explorer."""

    f: Any
    g: Any
    D: Any
    guard: Any


def lower_explorer(explorer: Explorer, model: Model) -> Lowered:
    """Convert an explorer for a model, and check its parts against the model's sizes."""
    from gymnasium.spaces import Discrete

    bound = explorer.bind(Discrete(model.num_states), Discrete(model.num_actions))
    f = lower(bound.f, model)
    if isinstance(bound.guard, adeu.guards.Returning):
        guard = _lower_return(bound.guard, f)
    else:
        guard = decision_forms.NoGuardForm() if bound.guard is None else lower(bound.guard, model)
    return Lowered(f, lower(bound.g, model), lower(bound.D, model), guard)


def _lower_return(guard: adeu.guards.Returning, f: Any) -> Any:
    """Return the guard's form, which reads the advice that the form of `FirstReturn` writes."""
    if guard.by != "replay" or not isinstance(f, first_return_form.FirstReturnForm):
        raise _no_form(guard, " except with by='replay' and f=FirstReturn(by='replay')")
    return decision_forms.ReturningForm(f.advice)


@functools.singledispatch
def lower(part: Any, model: Model) -> Any:
    """Return the part's NamedTuple, with new tables for the model."""
    raise _no_form(part)


def _no_form(part: Any, hint: str = "") -> TypeError:
    return TypeError(f"{part!r} has no tabular form{hint}; adeu.tabular.lower.register adds one")


@lower.register
def _(part: adeu.mechanisms.constant.Constant, model: Model) -> Any:
    return f_forms.ConstantForm(part.c)


@lower.register
def _(part: adeu.mechanisms.constant.Schedule, model: Model) -> Any:
    kind = f_forms.LinearForm if part.kind == "linear" else f_forms.ExponentialForm
    return kind(part.start, part.end, float(part.steps))


@lower.register
def _(part: adeu.mechanisms.counts.Counts, model: Model) -> Any:
    return f_forms.CountsForm(part.beta)


@lower.register
def _(part: adeu.mechanisms.td_error.TdError, model: Model) -> Any:
    if part.num_states is None:
        raise _no_form(part, " without num_states")
    if part.signal == "value_change":
        return f_forms.ValueChangeForm(part.sigma, part.rate, np.ones(model.num_states), np.zeros(1))
    return f_forms.TdErrorForm(part.sigma, part.rate, np.ones(model.num_states))


@lower.register
def _(part: adeu.mechanisms.cost.ExpectedCost, model: Model) -> Any:
    return f_forms.ExpectedCostForm(part.step_size, np.zeros((model.num_states, model.num_actions)))


@lower.register
def _(part: adeu.mechanisms.ensemble.EnsembleStd, model: Model) -> Any:
    return f_forms.EnsembleStdForm(part.lam)


@lower.register
def _(part: adeu.mechanisms.bandit.ReturnBandit, model: Model) -> Any:
    pulls, total = np.zeros((2, len(part.arms)))
    extremes = np.array([np.inf, -np.inf])
    return f_forms.ReturnBanditForm(
        np.array(part.arms), part.decay, part.width, pulls, total, extremes, np.array([-1]), np.zeros(1)
    )


@lower.register
def _(part: adeu.mechanisms.best_action.BestActionGap, model: Model) -> Any:
    return f_forms.BestActionGapForm(np.array(part.actions))


@lower.register
def _(part: adeu.mechanisms.hyper_states.HyperStates, model: Model) -> Any:
    if part.f.needs("measure") | (part.f.needs("observe") - {"td_error", "cost"}):
        raise _no_form(part, ", because its f needs values of hyper-states, but there are only values of states")
    f = lower(part.f, model._replace(num_states=part.num_groups))
    return combined_forms.HyperStatesForm(f, np.array(part.groups), np.zeros(part.num_groups, np.int64))


@lower.register
def _(part: adeu.mechanisms.first_return.FirstReturn, model: Model) -> Any:
    if part.by != "replay" or not isinstance(model, Deterministic):
        raise _no_form(part, " except with by='replay' in a deterministic model")
    length = np.full(model.num_states, -1)
    actions = np.zeros((model.num_states, part.longest), np.int32)
    return first_return_form.FirstReturnForm(
        visits=np.zeros_like(length),
        length=length,
        score=np.zeros(model.num_states),
        actions=actions,
        taken=np.zeros(part.longest, np.int32),
        earned=np.zeros(1),
        coin=np.zeros(1),
        now=np.zeros(4, np.int64),
        advice=np.full(1, -1),
    )


@lower.register
def _(part: adeu.mechanisms.triggers.Every, model: Model) -> Any:
    return trigger_forms.EveryForm(part.n, np.zeros(1, np.int64))


@lower.register
def _(part: adeu.mechanisms.triggers.Triggered, model: Model) -> Any:
    return trigger_forms.TriggeredForm(
        lower(part.trigger, model),
        part.duration,
        part.random,
        part.per == "episode",
        part.start == "explore",
        part.c,
        np.array([0, -1]),
    )


@lower.register
def _(part: adeu.mechanisms.triggers.Homeostasis, model: Model) -> Any:
    return trigger_forms.HomeostasisForm(lower(part.signal, model), part.rate, np.array([0.0, 0.0, 1.0, 0.0]))


@lower.register
def _(part: adeu.mechanisms.value_promise.ValuePromise, model: Model) -> Any:
    values, rewards = np.zeros((2, part.k))
    return trigger_forms.ValuePromiseForm(
        part.gamma, part.form == "td", values, rewards, np.zeros(1), np.zeros(1, np.int64)
    )


@lower.register
def _(part: adeu.mechanisms.combine.Sum, model: Model) -> Any:
    return functools.reduce(combined_forms.SumForm, [lower(term, model) for term in part.terms])


@lower.register
def _(part: adeu.mechanisms.combine.Product, model: Model) -> Any:
    return functools.reduce(combined_forms.ProductForm, [lower(factor, model) for factor in part.factors])


@lower.register
def _(part: adeu.mechanisms.combine.Inverse, model: Model) -> Any:
    return combined_forms.InverseForm(lower(part.f_safety, model), part.floor)


@lower.register
def _(part: adeu.mechanisms.combine.Ratio, model: Model) -> Any:
    f, f_safety = lower(part.f, model), lower(part.f_safety, model)
    if isinstance(part.lam, str):
        return combined_forms.ConditionedRatioForm(f, f_safety, part.floor)
    return combined_forms.RatioForm(f, f_safety, part.lam, part.floor)


@lower.register
def _(part: adeu.mechanisms.combine.Rollouts, model: Model) -> Any:
    rho, c = (
        lower(each, model) if isinstance(each, Mechanism) else f_forms.ConstantForm(each)
        for each in (part.rho, part.c)
    )
    return combined_forms.RolloutsForm(lower(part.f, model), rho, c, np.zeros(2))


@lower.register
def _(part: adeu.normalizers.Sigmoid, model: Model) -> Any:
    return decision_forms.SigmoidForm(part.c)


@lower.register
def _(part: adeu.normalizers.Saturating, model: Model) -> Any:
    return decision_forms.SaturatingForm(part.c)


@lower.register
def _(part: adeu.normalizers.ShiftedSigmoid, model: Model) -> Any:
    return decision_forms.ShiftedSigmoidForm(part.shift)


@lower.register
def _(part: adeu.normalizers.Identity, model: Model) -> Any:
    return decision_forms.IdentityForm()


@lower.register
def _(part: adeu.normalizers.Clip, model: Model) -> Any:
    return decision_forms.ClipForm(part.low, part.high)


@lower.register
def _(part: adeu.distributions.Categorical, model: Model) -> Any:
    return decision_forms.CategoricalForm(part.temperature)


@lower.register
def _(part: adeu.distributions.Bernoulli, model: Model) -> Any:
    return decision_forms.BernoulliForm()


@lower.register
def _(part: adeu.distributions.Sticky, model: Model) -> Any:
    return decision_forms.StickyForm(part.mean, np.full(1, -1))


@lower.register
def _(part: adeu.distributions.Options, model: Model) -> Any:
    options = part.options or [(action,) for action in range(model.num_actions)]
    lengths = np.array([len(option) for option in options])
    table = np.zeros((len(options), lengths.max()), np.int64)
    for row, option in zip(table, options, strict=True):
        row[: len(option)] = option
    weights = np.array(part.weights or np.ones(len(options)), float)
    tail = -adeu.distributions.zeta_survival(part.mu, part.longest)
    return decision_forms.OptionsForm(
        part.carried, table, lengths, weights, tail, np.zeros(len(options)), np.zeros(2, np.int64)
    )


@lower.register
def _(part: adeu.distributions.LearnedLengths, model: Model) -> Any:
    values = np.zeros((model.num_states, part.heads, model.num_actions, part.longest))
    return lengths_form.LearnedLengthsForm(
        part.gamma,
        part.lam,
        part.mask_probability,
        part.step_size,
        part.start,
        values,
        np.zeros(part.longest),
        np.zeros(4, np.int64),
    )


@lower.register
def _(part: adeu.guards.KnownUnsafe, model: Model) -> Any:
    advice = np.full(model.num_states, -1)
    advice[list(part.states)] = part.actions
    return decision_forms.KnownUnsafeForm(advice)
