"""The behaviour policy for any training loop: a compiled explorer with numpy inputs and outputs."""

from __future__ import annotations

import contextlib
import copy
import os
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from adeu.behavior import arrays, plot, storage
from adeu.behavior.advice import OFTEN, advise, is_chosen
from adeu.behavior.arrays import Observation
from adeu.behavior.asked_for import asked_for
from adeu.behavior.batched import Packed, Stream, batched
from adeu.behavior.course import Course
from adeu.behavior.history import WINDOW, History
from adeu.behavior.hosts import host_states, hosts_of, restore_hosts
from adeu.behavior.interface import Interface
from adeu.behavior.one_at_a_time import Turn, one_at_a_time
from adeu.core import check
from adeu.core.contract import Decision, Transition
from adeu.core.explorer import Explorer, ExplorerHook, ExplorerState
from adeu.core.json_data import Json
from adeu.registry import describe

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HOOKS: tuple[ExplorerHook, ...] = ("act", "observe", "update")
MOST_SIZES = 8
"""More batch sizes than this cause a warning."""


class Behavior:
    """Chooses exploratory actions for any agent, in one environment or a vector of them.

    Inputs and outputs are numpy arrays; torch tensors and JAX arrays are accepted too. With a vector of n
    environments, all arrays have a leading axis of n, and each environment has its own random stream.
    `act` returns actions, `observe` takes each step, `update` learns from the agent's batches. `state` is the learned
    state of f, D and the guard, `carry` the state of each environment, `step` the number of observed steps.
    Threads may share a behavior: calls run one at a time.

    Args:
        explorer: the composition of f, g and D.
        env: a Gymnasium environment, a vector of them, or any object with their spaces (and `num_envs`). It is not
            stepped.
        seed: the seed of all random numbers.
        encoder: maps a batch of observations (leading axis: environments) to one vector or state index each, for
            observations such as images and dicts.

    Examples:
        >>> import adeu, gymnasium
        >>> env = gymnasium.make("CartPole-v1")
        >>> greedy = adeu.Explorer(adeu.Constant(0.0), adeu.Identity(), adeu.Bernoulli())
        >>> behavior = adeu.Behavior(greedy, env, seed=0)
        >>> obs, info = env.reset(seed=0)
        >>> int(behavior.act(obs, center=[0.0, 1.0]).action)
        1
    """

    def __init__(
        self, explorer: Explorer, env: Any, seed: int = 0, encoder: Callable[[Any], Any] | None = None
    ) -> None:
        if not isinstance(explorer, Explorer):
            check.refuse(self, "explorer", "an Explorer", explorer)
        if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or not 0 <= seed < 2**32:
            check.refuse(self, "seed", "a whole number from 0 to 2**32 - 1", seed)
        self._interface = interface = Interface(env, encoder)
        interface.require_actions()
        spaces = (interface.observation_space if encoder is None else None, interface.action_space)
        self.explorer = explorer.bind(*spaces)
        self._hosts = hosts_of(self.explorer.parts.values())
        self._learns_from = self.explorer.learns_from
        self._asked = {hook: asked_for(self.explorer, hook) for hook in HOOKS}
        self._turn = Turn()
        self._batched = batched(self.explorer)
        n = interface.num_envs
        self.explorer.check_environments(n)
        self.state, self.carry = self._batched.start(np.uint32(seed), interface.example, n)
        self.step = 0
        self._updates = 0
        self._idle = np.zeros(n, bool)
        self._nobody = jax.device_put(self._idle)
        """On the device, because JAX takes longer to read a numpy array than to compute a decision."""
        self._paid = {"reward": np.zeros(n, np.float32)} if "reward" in self.explorer.needs("act") else {}
        """The reward of the previous step, 0 in the first step of an episode, if `act` needs it."""
        self._history, self._course = History.empty(n), Course.empty()
        self._evaluating, self._evaluated = False, 0
        self._warned: set[str] = set()
        self._batch_sizes: set[int] = set()
        self._header: dict[str, Json] = {
            "format": "adeu.Behavior 3",
            "explorer": describe(self.explorer),
            "number of environments": n,
            "observation space": str(interface.observation_space),
            "action space": str(interface.action_space),
            "autoreset": "next step" if interface.resets_next_step else "within the step, or none",
        }

    @one_at_a_time
    def act(self, obs: Any, center: Any, action_mask: Any = None, **given: Any) -> Decision:
        """Choose an action in each environment.

        Args:
            obs: the observation.
            center: pi(s): the mean action in a Box, one preference (a Q-value) per action in a Discrete space.
            action_mask: which actions are allowed (in a Box, which dimensions may explore). The default is all.
            given: further inputs that the mechanisms require by name, such as `q_values`.
        """
        interface = self._interface
        raw = interface.observation(obs, interface.lead)
        seen = interface.encode(raw, interface.num_envs)
        centers = interface.center(center)
        offered = interface.given(given, interface.lead, self._asked["act"]) | self._paid
        for host in self._hosts:
            values = arrays.to_numpy(host.compute(raw))
            offered[host.name] = arrays.read(f"the output of {host.name}", values, (), centers.dtype, len(centers))
        if action_mask is not None:
            offered["action_mask"] = interface.action_mask(action_mask)
        if self._evaluating:
            number, self._evaluated = self._evaluated, self._evaluated + 1
            exploit = self._batched.exploit
            return self._deliver(exploit(self.state, self.carry, number, self._clock, seen, centers, offered), raw)
        idle = self._idle if np.count_nonzero(self._idle) else self._nobody
        packed, carry = self._batched.act(self.state, self.carry, idle, self._clock, seen, centers, offered)
        delivered = self._deliver(packed, raw)
        self.carry = carry
        self._history.add(delivered.uncertainty, delivered.spread, delivered.asked, self._idle)
        self._course.follow(self.step, self._history)
        self._watch()
        return delivered

    @one_at_a_time
    def observe(
        self, transition: Transition | Mapping[str, Any], info: Mapping[str, Any] | None = None, **given: Any
    ) -> None:
        """Process the step after `act`, and start a new episode in environments whose episode ended.

        Skips the dummy step in which a Gymnasium vector resets a finished environment (autoreset NEXT_STEP).

        Args:
            transition: the step, as the environment returned it.
            info: the environment's `info`, with a `cost` and, under autoreset SAME_STEP, the final observation.
            given: further inputs that the mechanisms require by name, such as `td_error`.
        """
        if self._evaluating:
            return
        interface = self._interface
        step = interface.transition(transition, info)
        offered = interface.given(given, interface.lead, self._asked["observe"])
        fresh = np.flatnonzero(~self._idle)
        if "observe" in self._learns_from and len(fresh):
            order = np.resize(fresh, interface.num_envs)
            encoded = interface.encode_transition(step)
            self.state = self._batched.observe(self.state, order, len(fresh), self._clock, encoded, offered)
        self.step += len(fresh)
        paid = {name: np.where(self._idle, before, step.reward) for name, before in self._paid.items()}
        self._paid = {name: rewards.astype(np.float32) for name, rewards in paid.items()}
        ended: np.ndarray = (step.terminated | step.truncated) & ~self._idle
        self.begin(ended)
        self._idle = ended & interface.resets_next_step

    @one_at_a_time
    def begin(self, ended: Any = None) -> None:
        """Start an episode where `ended` is true, by default everywhere.

        Call it only after resets that `observe` does not know of.
        """
        n = self._interface.num_envs
        begun = arrays.read("ended", np.ones(n, bool) if ended is None else ended, (), np.dtype(bool), n)
        if not self._evaluating and begun.any():
            self.carry = self._batched.begin(self.carry, begun)
            self._idle = self._idle & ~begun
            self._history.begin(begun)
            self._paid = {name: np.where(begun, np.float32(0.0), paid) for name, paid in self._paid.items()}

    @one_at_a_time
    def skip(self, idle: Any) -> None:
        """Skip environments in the next `act` and `observe`, for example agents that have left.

        A skipped environment learns nothing, and its random stream does not advance. Its rows are ignored, but must
        have the usual shape.

        Args:
            idle: which environments to skip.

        Examples:
            >>> import adeu, gymnasium, numpy as np
            >>> env = gymnasium.make_vec("CartPole-v1", 2)
            >>> explorer = adeu.Explorer(adeu.Constant(1.0), adeu.Identity(), adeu.Bernoulli())
            >>> behavior = adeu.Behavior(explorer, env)
            >>> behavior.skip([False, True])
            >>> behavior.act(np.zeros((2, 4)), center=np.zeros((2, 2))).explored.tolist()
            [True, False]
        """
        self._idle = self._idle | arrays.read("idle", idle, (), np.dtype(bool), self._interface.num_envs)

    @one_at_a_time
    def update(self, batch: Transition | Mapping[str, Any] | list[Transition], **given: Any) -> None:
        """Train f, D and the guard on a minibatch, typically the one that the agent learns from.

        Args:
            batch: transitions stacked along a leading axis, or a list of transitions.
            given: further inputs that the mechanisms require by name, such as `td_error`.
        """
        if self._evaluating:
            return
        interface = self._interface
        transitions = interface.batch(batch)
        offered = interface.given(given, len(transitions.reward), self._asked["update"])
        if "update" in self._learns_from:
            self._count_size(len(transitions.reward))
            encoded = interface.encode_transition(transitions)
            self.state = self._batched.update(self.state, self._clock, encoded, offered)
        for host in self._hosts:
            if host.learn is not None:
                host.learn(transitions)
        self._updates += 1

    def needs(self, hook: ExplorerHook) -> frozenset[str]:
        """Return the names of the inputs that `act`, `observe` or `update` requires.

        These are `explorer.needs(hook)` without the outputs of `from_host`, and without the `reward` of the previous
        step, which `observe` stores for `act`.

        Examples:
            >>> import adeu, gymnasium
            >>> explorer = adeu.Explorer(adeu.EnsembleStd(), adeu.Clip(), adeu.Bernoulli())
            >>> sorted(adeu.Behavior(explorer, gymnasium.make("CartPole-v1")).needs("act"))
            ['q_values']
        """
        known = {host.name for host in self._hosts} | (self._paid.keys() if hook == "act" else set())
        return self.explorer.needs(hook) - known

    @contextlib.contextmanager
    def evaluation(self) -> Iterator[Behavior]:
        """Open a context in which `act` returns the action of the policy (or guard), and no state changes.

        Examples:
            >>> import adeu, gymnasium
            >>> explorer = adeu.Explorer(adeu.Constant(1.0), adeu.Identity(), adeu.Bernoulli())
            >>> behavior = adeu.Behavior(explorer, gymnasium.make("CartPole-v1"))
            >>> with behavior.evaluation():
            ...     decision = behavior.act([0.0, 0.0, 0.0, 0.0], center=[0.0, 1.0])
            >>> int(decision.action), bool(decision.explored)
            (1, False)
        """
        before, self._evaluating, self._evaluated = self._evaluating, True, 0
        try:
            yield self
        finally:
            self._evaluating = before

    def __repr__(self) -> str:
        return f"Behavior({self.explorer!r}, num_envs={self._interface.num_envs}, step={self.step})"

    @property
    def history(self) -> np.ndarray:
        """The spreads of up to 1,000 recent decisions, oldest first.

        With a vector there is one column per environment, with NaN in steps in which it was reset or skipped.
        """
        recent: np.ndarray = self._history.recent(self._history.spreads)
        return recent if self._interface.lead is not None else recent[:, 0]

    @property
    def saturation(self) -> float:
        """The share of recent spreads within 1% of the maximum of g; 0 if g is unbounded.

        Rollout episodes and steps in which a guard is active do not count.
        """
        return self._history.share(self.explorer.g.saturated)

    @one_at_a_time
    def plot(self) -> Figure:
        """Plot uncertainty and spread.

        The left column shows all of training: the median and a band from the 10th to the 90th percentile, over steps
        in which f determined the spread. The right column shows up to 5 recent episodes step by step, of any
        environment, within the last 1,000 decisions. A dotted line shows the maximum of g.

        Examples:
            >>> import adeu, gymnasium
            >>> explorer = adeu.Explorer(adeu.Constant(0.1), adeu.Identity(), adeu.Bernoulli())
            >>> behavior = adeu.Behavior(explorer, gymnasium.make("CartPole-v1"))
            >>> decision = behavior.act([0.0, 0.0, 0.0, 0.0], center=[0.0, 1.0])
            >>> figure = behavior.plot()  # a matplotlib Figure; figure.savefig("spread.png") writes it
            >>> [axes.get_ylabel() for axes in figure.axes if axes.get_ylabel()]
            ['uncertainty f(s)', 'spread g(f(s))']
        """
        if np.isnan(self._history.spreads).all():
            raise ValueError(
                "Behavior.plot takes at least one decision, there is none yet: call act() first "
                "(the random warm-up of a framework does not call it)"
            )
        return plot.draw(self._course, self._history, self.step, self.explorer.g.ceiling)

    @one_at_a_time
    def save(self, path: str | os.PathLike[str]) -> None:
        """Save everything that `load` needs to resume bit for bit, without pickle.

        The learned state of a `from_host` is saved if it has a `state`; if it learns without one, `save` warns.
        """
        storage.save(path, self._header, self._tree(), host_states(self._hosts, stacklevel=4))

    @one_at_a_time
    def load(self, path: str | os.PathLike[str]) -> None:
        """Resume from a file saved by a behavior with equal parts and the same number of environments."""
        kept = [host.name for host in self._hosts if host.state is not None]
        tree, states = storage.load(path, self._header, self._tree(), kept)
        restore_hosts(str(path), self._hosts, states)
        self.state, self.carry, self._idle, self._paid, self._history, self._course, counters = tree
        self.step, self._updates = map(int, counters)

    def __copy__(self) -> Behavior:
        """Return an independent copy; only the `from_host` objects and the encoder are shared."""
        other = object.__new__(type(self))
        other.__dict__ |= self.__dict__ | {
            "_warned": set(self._warned),
            "_batch_sizes": set(self._batch_sizes),
            "_turn": Turn(),
        }
        other._history, other._course = copy.deepcopy((self._history, self._course))
        return other

    @property
    def _clock(self) -> int:
        return min(self.step, 2**31 - 1)

    def _tree(self) -> tuple[ExplorerState, Stream, np.ndarray, dict[str, np.ndarray], History, Course, np.ndarray]:
        counters = np.array([self.step, self._updates])
        return self.state, self.carry, self._idle, self._paid, self._history, self._course, counters

    def _deliver(self, packed: Packed, obs: Observation) -> Decision:
        """Check the values of f, g and D, and return the decision as numpy arrays."""
        decision, fine = packed.unpack()
        if not fine:
            arrays.check_uncertainty("f", self.explorer.f, decision.uncertainty, obs)
            arrays.check_uncertainty("g", self.explorer.g, decision.spread, obs)
            self._interface.reject_action(decision.action)
        action = self._interface.action(decision.action)
        if self._interface.lead is not None:
            return decision._replace(action=action)
        _, explored, uncertainty, spread, asked, deviation = decision
        return Decision(action[0], explored[0], uncertainty[0], spread[0], asked[0], deviation[0])

    def _watch(self) -> None:
        acts = int(self._history.acts)
        if acts % WINDOW:
            return
        if self.step == 0:
            self._warn(
                "observe",
                f"observe() was not called in {acts} steps, so no episode ends, and counts and costs do not change. "
                "Call behavior.observe(transition, info) after each step.",
            )
        learning = [part for part in self.explorer.parts.values() if "update" in part.learns_from]
        if learning and self._updates == 0:
            self._warn(
                "update",
                f"{learning[0]!r} learns in update(), which was not called in {acts} steps, so it has learned "
                "nothing. Call behavior.update(batch) when the agent learns.",
            )
        if self.saturation > OFTEN:
            self._warn(
                "top",
                f"{self.explorer.g!r} gave its largest spread in {self.saturation:.0%} of the last {WINDOW} "
                f"steps, so it does not distinguish states. {advise(self.explorer, 'top')}",
            )
        dead = 0.0 if is_chosen(self.explorer) else self._history.share(self.explorer.g.dead)
        if dead > OFTEN:
            self._warn(
                "bottom",
                f"{self.explorer.g!r} gave hardly any spread in {dead:.0%} of the last {WINDOW} steps, so the agent "
                f"no longer explores. {advise(self.explorer, 'bottom')}",
            )

    def _count_size(self, size: int) -> None:
        """Warn of too many batch sizes: for each one, a function is compiled that stays in memory."""
        if "batch" in self._warned or size in self._batch_sizes:
            return
        self._batch_sizes.add(size)
        if len(self._batch_sizes) > MOST_SIZES:
            self._warn(
                "batch",
                f"update() got batches of {len(self._batch_sizes)} sizes, {sorted(self._batch_sizes)}: each new size "
                "is compiled again, which takes time, and memory that is never freed. Use one batch size, or a few: "
                "drop the incomplete last batch of a data set, or fill it up with repeated transitions.",
            )

    def _warn(self, topic: str, message: str) -> None:
        if topic not in self._warned:
            self._warned.add(topic)
            warnings.warn(message, stacklevel=5)
