"""TD3 in a vector of Gymnasium environments, which step together and end their episodes each in its own time.

until all steps are taken:
    a decision for each environment, with its own carry and random numbers, in one compiled call
    all step; where an episode ended, the transition leads to its last observation, not to the next one's first
    as many updates as there were steps, `policy_delay` at once
    every so often: greedy episodes in an environment of its own

It cannot be saved: environments that are within their episodes could not be brought back there.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import Any, NamedTuple

import jax
import numpy as np
from numpy.typing import NDArray

from adeu.agents.host import EVALUATION, TRAINING
from adeu.agents.memory import Memory
from adeu.agents.td3 import Acting, Learner, Rules, Td3, bound
from adeu.agents.td3_host import ACT, BEGIN, Compiled, compiled, own
from adeu.behavior import autoreset
from adeu.behavior.arrays import to_space
from adeu.core import check
from adeu.core.contract import Array, Decision, Transition


class Vectorised(NamedTuple):
    begin: Any
    decide: Any


@functools.lru_cache(maxsize=64)
def vectorised(td3: Td3, rule: Rules, envs: int) -> Vectorised:
    """What each environment has its own of, for all of them at once."""
    explorer = td3.explorer

    def keys(key: Array, use: int, number: Array) -> Array:
        at = jax.random.fold_in(jax.random.fold_in(jax.random.wrap_key_data(key), use), number)
        return jax.random.split(at, envs)

    def begin(key: Array, number: Array, carry: Any, begun: Array) -> Any:
        """A new carry where an episode begins."""
        if carry is None:
            return jax.vmap(explorer.begin)(keys(key, BEGIN, number))
        new = jax.vmap(explorer.begin)(keys(key, BEGIN, number), carry)
        return jax.vmap(lambda now, a, b: jax.tree.map(lambda x, y: jax.numpy.where(now, x, y), a, b))(
            begun, new, carry
        )

    def decide(key: Array, acting: Acting, carry: Any, obs: Array, step: Array) -> tuple[Decision, Any]:
        decide = functools.partial(rule.decide, step=step, offered={})
        return jax.vmap(decide, in_axes=(0, None, 0, 0))(keys(key, ACT, step), acting, carry, obs)

    return Vectorised(jax.jit(begin), jax.jit(decide))


@dataclasses.dataclass
class Td3Vector:
    """Trains a `Td3` in a `gymnasium.vector` environment, of any autoreset mode.

    Args:
        td3: the agent's settings; `capacity` is shared out among the environments.
        envs: where it trains.
        evaluation_env: a single one of the same kind, for greedy episodes.
        steps: how many to train, of all environments together.
        seed: of all that is drawn, and of the environments' first resets.
        evaluate_every: steps between two evaluations.
        evaluate_episodes: greedy episodes in one.

    Examples:
        >>> import adeu, gymnasium
        >>> from adeu.agents import Td3, Td3Vector
        >>> explorer = adeu.Explorer(adeu.Constant(0.1), adeu.Identity(), adeu.Gaussian())
        >>> envs, other = gymnasium.make_vec("Pendulum-v1", num_envs=2), gymnasium.make("Pendulum-v1")
        >>> loop = Td3Vector(Td3(explorer, hidden=(8,)), envs, other, 400, evaluate_every=200, evaluate_episodes=1)
        >>> [row["step"] for row in loop.run()]
        [200, 400]
    """

    td3: Td3
    envs: Any
    evaluation_env: Any
    steps: int
    seed: int = 0
    evaluate_every: int = 1_000
    evaluate_episodes: int = 10

    def __post_init__(self) -> None:
        for argument in ("steps", "evaluate_every", "evaluate_episodes"):
            check.whole(self, argument)
        check.whole(self, "seed", at_least=0, at_most=check.LARGEST_SEED)
        if self.steps % self.evaluate_every:
            check.refuse(self, "steps", f"a multiple of evaluate_every={self.evaluate_every}", self.steps)
        if not hasattr(self.envs, "num_envs"):
            check.refuse(self, "envs", "a vector of environments; for a single one there is HostLoop", self.envs)
        self._start()

    def _start(self) -> None:
        envs, count = self.envs, self.envs.num_envs
        self.td3, rule = bound(self.td3, envs.single_observation_space, envs.single_action_space)
        self._run: Compiled = compiled(self.td3, rule)
        self._all = vectorised(self.td3, rule, count)
        self._key = jax.random.key_data(jax.random.key(self.seed))
        self._dtype = np.dtype(jax.numpy.result_type(float))
        low, high = (
            bound.astype(self._dtype) for bound in (envs.single_action_space.low, envs.single_action_space.high)
        )
        self._middle, self._half = (high + low) / 2, (high - low) / 2
        self._observes = "observe" in self.td3.explorer.learns_from
        sizes = envs.single_observation_space.shape[0], envs.single_action_space.shape[0]
        self._memories = [Memory(self.td3.capacity // count, *sizes, dtype=self._dtype) for _ in range(count)]
        self.step = self.episode = self._moves = self._updates = 0
        seeds = np.random.SeedSequence((self.seed, TRAINING)).generate_state(count).tolist()
        self._obs = self._read("reset", envs.reset(seed=seeds)[0])
        self._learner: Learner = own(self._run.init(self._key, self._obs[0]))
        self._begun = np.ones(count, bool)
        self._carry = self._all.begin(self._key, np.int32(0), None, self._begun)
        self._resetting = np.zeros(count, bool)
        self._sums = np.zeros(4)

    def run(self) -> list[dict[str, float]]:
        """Trains to the end: a row for each evaluation."""
        rows = []
        while self.step < self.steps:
            before = self.step // self.evaluate_every
            self.advance()
            if self.step // self.evaluate_every > before:
                rows.append(self._row())
        return rows

    def advance(self) -> None:
        """A step of all environments, and the updates that are due."""
        acting = Acting(self._learner.actor, self._learner.critics, self._learner.f)
        decision, self._carry = self._all.decide(self._key, acting, self._carry, self._obs, np.int32(self.step))
        decision = jax.device_get(decision)
        if not np.isfinite(decision.action).all():
            raise ValueError(
                f"Td3Vector: training diverged: after step {self.step} the actions are {decision.action}"
            )
        action = to_space(self.envs.single_action_space, decision.action)
        obs, reward, terminated, truncated, info = self.envs.step(action)
        real = ~self._resetting
        ended = terminated | truncated
        last, obs = self._last_and_next(self._read("step", obs), ended, info)
        steps = Transition(self._obs, action, self._read("step", reward), last, terminated, truncated)
        self._moves += 1
        self.step += int(real.sum())
        self.episode += int(ended.sum())
        self._remember(steps, real & self._enters(decision.spread))
        if self._observes:
            self._observe(steps, real)
        self._sums += [
            real.sum(),
            *(each[real].sum() for each in (decision.uncertainty, decision.spread, decision.explored)),
        ]
        if self._begun.any():
            self._carry = self._all.begin(self._key, np.int32(self._moves), self._carry, self._begun)
        self._obs = obs
        while self._updates < (self.step - self.td3.warmup) // self.td3.policy_delay:
            self._update()

    def exploit(self, obs: Any) -> NDArray[Any]:
        """The greedy action in a single environment."""
        acting = Acting(self._learner.actor, self._learner.critics, self._learner.f)
        carry = jax.tree.map(lambda value: value[0], self._carry)
        action = self._run.exploit(self._key, acting, carry, np.asarray(obs, self._dtype), {})
        return to_space(self.envs.single_action_space, np.asarray(action))

    def _read(self, call: str, values: Any) -> NDArray[Any]:
        """A copy of observations or rewards, all of which must be finite."""
        read = np.array(values, self._dtype)
        if not np.isfinite(read).all():
            raise ValueError(f"Td3Vector: {call}() of an environment returned {read} after step {self.step}")
        return read

    def _last_and_next(self, obs: NDArray[Any], ended: NDArray[Any], info: Any) -> tuple[NDArray[Any], NDArray[Any]]:
        """Where the step led to, and what is seen next: another episode's first observation where one ended."""
        mode = autoreset.mode_of(self.envs)
        if mode.name == "NEXT_STEP":  # the next step is the reset
            self._begun, self._resetting = self._resetting, ended
        else:
            self._begun = ended
        last = autoreset.last_observations(mode, obs, ended, info, functools.partial(self._read, "step"))
        return last, self._read("reset", autoreset.first_observations(mode, self.envs, obs, ended))

    def _enters(self, spread: NDArray[Any]) -> NDArray[Any]:
        """As a transition enters the replay of a single environment."""
        if not self.td3.gated or self.step <= self.td3.warmup:
            return np.ones(len(spread), bool)
        largest: Any = self.td3.explorer.g.ceiling
        return self._draws(1, self._moves).random(len(spread)) * largest < spread

    def _remember(self, steps: Transition, entering: NDArray[Any]) -> None:
        scaled = (steps.action - self._middle) / self._half
        for env in np.flatnonzero(entering):
            one = slice(env, env + 1)
            ends = steps.terminated[one], steps.truncated[one]
            self._memories[env].add(steps.obs[one], scaled[one], steps.reward[one], steps.next_obs[one], *ends)

    def _observe(self, steps: Transition, real: NDArray[Any]) -> None:
        for env in np.flatnonzero(real):
            one = Transition(*(None if each is None else each[env] for each in steps))
            scaled = (one.action - self._middle) / self._half
            f = self._run.observe(self._key, self._learner, one, scaled, np.int32(self.step - 1))
            self._learner = self._learner._replace(f=f)

    def _draws(self, stream: int, number: int) -> np.random.Generator:
        return np.random.Generator(np.random.Philox(counter=stream << 128, key=self.seed + (number << 64)))

    def _update(self) -> None:
        self._updates += 1
        step = self.td3.warmup + self._updates * self.td3.policy_delay
        shape = self.td3.policy_delay, self.td3.batch
        ends = np.cumsum([len(memory) for memory in self._memories])
        places = self._draws(0, step).integers(ends[-1], size=shape[0] * shape[1])
        owners = np.searchsorted(ends, places, side="right")
        width = self._middle.size + self._obs.shape[1]
        rows, next_obs = (np.empty((places.size, size), self._dtype) for size in (width + 2, self._obs.shape[1]))
        for env, memory in enumerate(self._memories):
            mine = owners == env
            rows[mine], next_obs[mine] = memory.read(places[mine] - (ends[env] - len(memory)))
        rows, next_obs = (each.reshape(*shape, -1) for each in (rows, next_obs))
        self._learner = self._run.update(self._key, self._learner, rows, next_obs, np.int32(step))

    def _row(self) -> dict[str, float]:
        count, *sums = self._sums
        row: dict[str, float] = {"step": self.step, "episode": self.episode, "return": self._evaluate()}
        row |= dict(zip(("uncertainty", "spread", "explored"), (float(each / count) for each in sums), strict=True))
        self._sums = np.zeros(4)
        return row

    def _evaluate(self) -> float:
        """The mean return of greedy episodes."""
        returns = []
        for number in range(self.evaluate_episodes):
            seeds = np.random.SeedSequence((self.seed, EVALUATION, self.step, number))
            obs = self._read("reset", self.evaluation_env.reset(seed=int(seeds.generate_state(1)[0]))[0])
            total, ended = 0.0, False
            while not ended:
                returned, reward, terminated, truncated, _ = self.evaluation_env.step(self.exploit(obs))
                obs, reward = self._read("step", returned), self._read("step", reward)
                total, ended = total + float(reward), bool(terminated or truncated)
            returns.append(total)
        return float(np.mean(returns))
