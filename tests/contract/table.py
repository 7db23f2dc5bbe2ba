"""The table of parts to test. It must contain every exported part."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from gymnasium.spaces import Box, Discrete

import adeu
from tests import functions

STATES, ACTIONS, SIZE = 5, 3, 4
STATE, VECTOR = Discrete(STATES), Box(-np.inf, np.inf, (SIZE,))
CHOICE, MOTION = Discrete(ACTIONS), Box(np.float32([-1.0, -3.0]), np.float32([2.0, 3.0]))


class Case(NamedTuple):
    """A part, its spaces, and the values that an agent gives it."""

    part: adeu.Part
    observations: Any = VECTOR
    actions: Any = CHOICE
    f: adeu.Mechanism = adeu.Constant(0.5)
    """The f to combine with a part of another kind."""

    @property
    def explorer(self) -> adeu.Explorer:
        """The part in the simplest explorer for it, bound to its spaces."""
        f, g, D = self.f, adeu.Clip(0.0, 0.9), adeu.Categorical() if self.actions is CHOICE else None
        parts = {"f": f, "g": g, "D": D or adeu.Gaussian()}
        kinds = {adeu.Mechanism: "f", adeu.Normalizer: "g", adeu.Distribution: "D", adeu.Guard: "guard"}
        parts |= {name: self.part for kind, name in kinds.items() if isinstance(self.part, kind)}
        explorer = self.part if isinstance(self.part, adeu.Explorer) else adeu.Explorer(**parts)
        return explorer.bind(self.observations, self.actions)

    def observation(self, random: np.random.Generator, *lead: int) -> np.ndarray:
        """Draw observations with leading shape `lead`, with numpy to avoid compilation."""
        if self.observations is STATE:
            return random.integers(STATES, size=lead, dtype=np.int32)
        return random.normal(size=(*lead, SIZE)).astype(np.float32)

    def center(self, random: np.random.Generator, *lead: int) -> np.ndarray:
        shape = (ACTIONS,) if self.actions is CHOICE else MOTION.shape
        return random.normal(size=(*lead, *shape)).astype(np.float32)

    def given(self, random: np.random.Generator, *lead: int) -> dict[str, np.ndarray]:
        """Return everything an agent can give; a part uses what it needs."""
        shape = (2, ACTIONS) if self.actions is CHOICE else (2,)
        goals = (STATES, ACTIONS) if self.actions is CHOICE else (2**SIZE, *MOTION.shape)
        return {
            "step": np.full(lead, 7, np.int32),
            "q_values": random.normal(size=(*lead, *shape)).astype(np.float32),
            "reward": np.full(lead, 0.5, np.float32),
            "goal_preferences": random.normal(size=(*lead, *goals)).astype(np.float32),
            "host_uncertainty": np.full(lead, 0.3, np.float32),
            "recorded": np.full(lead, 0.4, np.float32),
            "unused": np.full(lead, 1.0, np.float32),
        }

    def transition(self, random: np.random.Generator, *lead: int) -> adeu.Transition:
        if self.actions is CHOICE:
            action = random.integers(ACTIONS, size=lead, dtype=np.int32)
        else:
            action = random.uniform(size=(*lead, *MOTION.shape)).astype(np.float32)
        return adeu.Transition(
            obs=self.observation(random, *lead),
            action=action,
            reward=np.full(lead, 1.0, np.float32),
            next_obs=self.observation(random, *lead),
            terminated=np.full(lead, False),
            truncated=np.full(lead, False),
            cost=random.uniform(size=lead).astype(np.float32),
        )


COUNTS, COST = adeu.Counts(STATES, beta=0.9), adeu.ExpectedCost(num_states=STATES, num_actions=ACTIONS)
ARCHIVE = adeu.Cells(adeu.FirstReturn(longest=1), bins=2, low=-1.0, high=1.0)
PAPER = adeu.Explorer(f=adeu.Rollouts(adeu.Rnd.paper(), rho=0.3, c=0.2), g=adeu.Sigmoid(c=0.2), D=adeu.Gaussian())

CASES: dict[str, Case] = {
    "Constant": Case(adeu.Constant(0.2)),
    "Recorded": Case(adeu.Recorded()),
    "Schedule": Case(adeu.Schedule(1.0, 0.1, steps=20)),
    "Schedule-exponential": Case(adeu.Schedule(1.0, 0.1, steps=20, kind="exponential")),
    "Counts": Case(COUNTS, STATE),
    "Rnd": Case(adeu.Rnd()),
    "Rnd-scale": Case(adeu.Rnd(scale=1.0)),
    "Rnd-paper": Case(adeu.Rnd.paper(), actions=MOTION),
    "EnsembleStd": Case(adeu.EnsembleStd(lam=2.0)),
    "EnsembleStd-box": Case(adeu.EnsembleStd(), actions=MOTION),
    "Stakes": Case(adeu.Stakes(0.5)),
    "Stakes-box": Case(adeu.Stakes(0.5, top=1.0), actions=MOTION),
    "TdError": Case(adeu.TdError(STATES, sigma=0.5, rate=0.3), STATE),
    "TdError-running": Case(adeu.TdError()),
    "TdError-change": Case(adeu.TdError(STATES, rate=0.3, signal="value_change"), STATE),
    "TdError-change-running": Case(adeu.TdError(signal="value_change")),
    "HashCounts": Case(adeu.HashCounts(bits=3)),
    "ValuePromise": Case(adeu.ValuePromise(k=1)),
    "ValuePromise-td-box": Case(adeu.ValuePromise(k=1, form="td"), actions=MOTION),
    "ExpectedCost": Case(COST, STATE),
    "ExpectedCost-network": Case(adeu.ExpectedCost(hidden=(8,))),
    "ExpectedCost-network-box": Case(adeu.ExpectedCost(hidden=(8,)), actions=MOTION),
    "Sum": Case(adeu.Sum((COUNTS, adeu.EnsembleStd())), STATE),
    "Product": Case(adeu.Product((adeu.Constant(2.0), adeu.Rnd(scale=1.0)))),
    "Inverse": Case(adeu.Inverse(COST), STATE),
    "Ratio": Case(adeu.Ratio(COUNTS, COST, lam=2.0), STATE),
    "Ratio-conditioned": Case(adeu.Ratio(COUNTS, COST, lam="conditioned"), STATE),
    "Rollouts": Case(adeu.Rollouts(COUNTS, rho=0.5, c=0.2), STATE),
    "Rollouts-changing": Case(adeu.Rollouts(COUNTS, adeu.Schedule(0.9, 0.1, steps=20), adeu.TdError(STATES)), STATE),
    "ReturnBandit": Case(adeu.ReturnBandit((0.1, 0.9))),
    "BestActionGap": Case(adeu.BestActionGap([0, 1, 2, 1, 0]), STATE),
    "HyperStates": Case(adeu.HyperStates(adeu.Counts(), [0, 1, 1, 0, 2]), STATE),
    "Cells": Case(adeu.Cells(adeu.Counts(), bins=2, low=-1.0, high=1.0)),
    "FirstReturn": Case(adeu.FirstReturn(longest=1), STATE),
    "FirstReturn-box": Case(ARCHIVE, actions=MOTION),
    "Calibrated": Case(adeu.Calibrated(adeu.Rnd(), decay=0.9)),
    "Every": Case(adeu.Every(2)),
    "Homeostasis": Case(adeu.Homeostasis(adeu.from_function(functions.first_entry), rate=0.1)),
    "Triggered": Case(adeu.Triggered(adeu.Every(2))),
    "Triggered-random": Case(adeu.Triggered(adeu.Every(2), duration=3, random=True, c=0.5)),
    "Triggered-episodes": Case(adeu.Triggered(adeu.Constant(0.5), per="episode")),
    "FromFunction": Case(adeu.from_function(functions.first_entry)),
    "FromHost": Case(adeu.from_host(functions.host_norm)),
    "own": Case(functions.Distance(scale=0.5)),
    "Sigmoid": Case(adeu.Sigmoid(c=0.2)),
    "Saturating": Case(adeu.Saturating(c=0.2)),
    "ShiftedSigmoid": Case(adeu.ShiftedSigmoid(shift=2.0)),
    "Identity": Case(adeu.Identity()),
    "Clip": Case(adeu.Clip(0.1, 0.4)),
    "Gaussian": Case(adeu.Gaussian(), actions=MOTION),
    "Gaussian-variance": Case(adeu.Gaussian(moment="variance"), actions=MOTION),
    "Colored": Case(adeu.Colored(), actions=MOTION),
    "Colored-white": Case(adeu.Colored(0.0), actions=MOTION),
    "Colored-carried": Case(adeu.Colored(1.5, carried=True, moment="variance"), actions=MOTION),
    "Colored-range": Case(adeu.Colored(low=-1.0, high=2.0), actions=MOTION),
    "OrnsteinUhlenbeck": Case(adeu.OrnsteinUhlenbeck(0.15), actions=MOTION),
    "OrnsteinUhlenbeck-from-zero": Case(adeu.OrnsteinUhlenbeck(0.15, from_zero=True), actions=MOTION),
    "OrnsteinUhlenbeck-carried": Case(adeu.OrnsteinUhlenbeck(0.01, carried=True), actions=MOTION),
    "Options-box": Case(adeu.Options(mu=2.0), actions=MOTION),
    "BoxOptions-carried": Case(adeu.BoxOptions(mu=1.5, carried=True), actions=MOTION),
    "Categorical": Case(adeu.Categorical(temperature=2.0)),
    "Bernoulli": Case(adeu.Bernoulli()),
    "Options": Case(adeu.Options(mu=2.0)),
    "Options-carried": Case(adeu.Options(mu=1.5, carried=True, options=[[0, 1], [2]], weights=[1.0, 3.0])),
    "LearnedLengths": Case(adeu.LearnedLengths(longest=3, start=1.0), STATE),
    "LearnedLengths-heads": Case(adeu.recipes.ute(0.5, longest=3, heads=2), STATE),
    "LearnedLengths-network": Case(adeu.LearnedLengths(longest=2, heads=3, lam=-0.5, hidden=(8,))),
    "Sticky": Case(adeu.Sticky(mean=2.0)),
    "Sticky-box": Case(adeu.Sticky(mean=2.0), actions=MOTION),
    "BoxSticky-range": Case(adeu.BoxSticky(mean=2.0, low=-1.0, high=[2.0, 3.0]), actions=MOTION),
    "Rarest": Case(functions.Rarest()),
    "KnownUnsafe": Case(adeu.KnownUnsafe(states=[3, 1], actions=[0, 2]), STATE),
    "KnownUnsafe-box": Case(adeu.KnownUnsafe(states=[3], actions=[[0.5, -1.0]]), STATE, MOTION),
    "Returning": Case(adeu.Returning(), STATE, f=adeu.FirstReturn(longest=1)),
    "Returning-agent": Case(adeu.Returning("agent"), STATE, f=adeu.FirstReturn(longest=1)),
    "Returning-box": Case(adeu.Returning(), actions=MOTION, f=ARCHIVE),
    "Returning-agent-box": Case(adeu.Returning("agent"), actions=MOTION, f=ARCHIVE),
    "Mentor": Case(functions.Mentor()),
    "Explorer": Case(PAPER, actions=MOTION),
    "Explorer-learning": Case(adeu.Explorer(adeu.Rnd(), adeu.Clip(), functions.Rarest(), functions.Mentor())),
}


def only(**needs: set[str]) -> dict[str, set[str]]:
    return {"act": set(), "observe": set(), "update": set()} | needs


NEEDS: dict[str, dict[str, set[str]]] = dict.fromkeys(CASES, only()) | {
    "Recorded": only(act={"recorded"}),
    "EnsembleStd": only(act={"q_values"}),
    "EnsembleStd-box": only(act={"q_values"}),
    "Stakes": only(act={"q_values"}),
    "Stakes-box": only(act={"q_values"}),
    "ValuePromise": only(act={"q_values", "reward"}),
    "ValuePromise-td-box": only(act={"q_values", "reward"}),
    "TdError": only(observe={"td_error"}),
    "Rollouts-changing": only(observe={"td_error"}),
    "TdError-running": only(update={"td_error"}),
    "TdError-change": only(observe={"value_change"}),
    "TdError-change-running": only(update={"value_change"}),
    "ExpectedCost": only(observe={"cost"}),
    "ExpectedCost-network": only(update={"cost"}),
    "ExpectedCost-network-box": only(update={"cost"}),
    "Sum": only(act={"q_values"}),
    "Inverse": only(observe={"cost"}),
    "Ratio": only(observe={"cost"}),
    "Ratio-conditioned": only(act={"q_values"}, observe={"cost"}),
    "FromHost": only(act={"host_uncertainty"}),
    "Returning-agent": only(act={"goal_preferences"}),
    "Returning-agent-box": only(act={"goal_preferences"}),
}
"""The values that each part needs."""

REMEMBERS = {
    "Calibrated",
    "Every",
    "FirstReturn",
    "FirstReturn-box",
    "Homeostasis",
    "Returning",
    "Returning-agent",
    "Returning-agent-box",
    "Returning-box",
    "Triggered",
    "Triggered-episodes",
    "Triggered-random",
    "ValuePromise",
    "ValuePromise-td-box",
}
"""Each f that depends on earlier steps of the episode."""
