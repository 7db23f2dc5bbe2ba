"""Measure steps per second, with learning, of DQN in the deep sea: compiled, from Python, in PyTorch, over a table.

    python benchmarks/deep_sea.py

Each variant trains ez-greedy (PyTorch: epsilon-greedy) with two hidden layers of 50 and minibatches of 32. The
variants take turns, a piece at a time, on one thread; the result is the median by CPU time over rounds. "From Python"
is the same agent with dense Adam, whose two jitted functions (a step in the sea, an update) are called from a Python
loop. The PyTorch loop is a typical hand-written one: Gymnasium, cells in the replay, one-hot in the minibatch.
Finally, a separate process measures the peak memory of ten vmapped seeds at N = 100.
"""

from __future__ import annotations

import os

os.environ["NPROC"] = "1"  # JAX's number of threads; must be set before it is imported

import dataclasses
import functools
import itertools
import pathlib
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import gymnasium
import jax
import numpy as np

import adeu
import adeu.envs
from adeu import tabular
from adeu.agents import Dqn, JaxLoop
from adeu.agents.compiling import own
from adeu.agents.jax_player import JaxPlayer
from adeu.envs import JaxDeepSea, Sea, deep_sea_mdp

ROUNDS = 5
SEEDS = 8
Way = Callable[[], int]
"""Trains a piece and returns its number of steps."""


def agent(size: int, update_every: int) -> Dqn:
    explorer = adeu.Explorer(adeu.Constant(1 / (size + 1)), adeu.Identity(), adeu.Options(2.0, carried=True))
    return Dqn(explorer, update_every=update_every)


def by_scan(size: int, update_every: int, seeds: Any, steps: int = 3000) -> Way:
    dqn = agent(size, update_every)
    loop = JaxLoop(dqn, JaxDeepSea(Sea(size)))
    state = loop.init(seeds)

    def train() -> int:
        nonlocal state
        for _ in range(steps // loop.evaluate_every):
            state, _ = loop.advance(state)
        jax.block_until_ready(state)  # type: ignore[no-untyped-call]
        return steps * np.size(seeds)

    return train


def by_python(size: int, update_every: int, steps: int = 1000) -> Way:
    dqn = dataclasses.replace(agent(size, update_every), adam="dense")
    loop = JaxLoop(dqn, JaxDeepSea(Sea(size)))
    player = JaxPlayer(loop.agent, loop.env, Sea(size), loop.evaluate_steps)
    play = jax.jit(functools.partial(player.interact, False, {}, _=None), donate_argnums=0)
    learn, sync = jax.jit(player.learn, donate_argnums=0), jax.jit(loop.agent.sync)
    state = own(player.init(jax.numpy.uint32(0)))

    def train() -> int:
        nonlocal state
        for number in range(steps):
            if number % dqn.target_every == 0:
                state = state._replace(learned=own(sync(state.learned)))
            state, _ = play(state)
            if (number + 1) % update_every == 0:
                state = learn(state)
        jax.block_until_ready(state)  # type: ignore[no-untyped-call]
        return steps

    return train


def by_torch(size: int, update_every: int, steps: int = 300, capacity: int = 100_000) -> Way:
    import torch  # not at the top, so that the process that measures memory does not load it

    torch.set_num_threads(1)
    torch.manual_seed(0)
    env, rng, cells = gymnasium.make("adeu/DeepSea-v0", size=size), np.random.default_rng(0), size**2

    def network() -> torch.nn.Module:
        layers = torch.nn.Linear(cells, 50), torch.nn.Linear(50, 50), torch.nn.Linear(50, 2)
        return torch.nn.Sequential(layers[0], torch.nn.ReLU(), layers[1], torch.nn.ReLU(), layers[2])

    def one_hot(obs: Any) -> torch.Tensor:
        return torch.nn.functional.one_hot(torch.as_tensor(obs), cells).float()

    online, target = network(), network()
    target.load_state_dict(online.state_dict())
    optimizer = torch.optim.Adam(online.parameters(), lr=1e-3)
    kinds = np.int64, np.int64, np.float32, np.int64, np.float32
    store = [np.zeros(capacity, kind) for kind in kinds]
    obs, added = int(env.reset(seed=0)[0]), 0

    def learn() -> None:
        places = rng.integers(min(added, capacity), size=32)
        s, a, r, after, over = (torch.as_tensor(column[places]) for column in store)
        with torch.no_grad():
            y = r + 0.99 * (1 - over) * target(one_hot(after)).max(1).values
        q = online(one_hot(s)).gather(1, a[:, None])[:, 0]
        loss = torch.nn.functional.smooth_l1_loss(q, y)
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()

    def train() -> int:
        nonlocal obs, added
        for _ in range(steps):
            with torch.no_grad():
                best = int(online(one_hot(obs)).argmax())
            action = int(rng.integers(2)) if rng.random() < 1 / (size + 1) else best
            after, reward, terminated, truncated, _ = env.step(action)
            for column, value in zip(store, (obs, action, reward, after, terminated), strict=True):
                column[added % capacity] = value
            added += 1
            obs = int(env.reset()[0]) if terminated or truncated else int(after)
            if added % update_every == 0:
                learn()
            if added % 100 == 0:
                target.load_state_dict(online.state_dict())
        return steps

    return train


def by_table(size: int, update_every: int, steps: int = 200_000) -> Way:
    job = tabular.TableDqn(agent(size, update_every).explorer, update_every=update_every).job(
        tabular.from_mdp(deep_sea_mdp(Sea(size))),
        episodes=(ROUNDS + 1) * steps // size,
        max_steps=size,
        seed=0,
        evaluate_every=max(1, 1000 // size),
    )
    training = tabular.Training(job)

    def train() -> int:
        before = training.steps
        training.advance(steps // size)
        return training.steps - before

    return train


def speeds(ways: dict[str, Way]) -> dict[str, float]:
    """Return the median steps per second of CPU time; the first piece, which compiles, is not counted."""
    found: dict[str, list[float]] = {name: [] for name in ways}
    for number, (name, train) in itertools.product(range(ROUNDS + 1), ways.items()):
        begun = time.process_time()
        steps = train()
        if number:
            found[name].append(steps / (time.process_time() - begun))
    return {name: statistics.median(values) for name, values in found.items()}


def rows() -> Iterator[str]:
    for size, update_every in itertools.product((20, 80), (1, 4)):
        ways = {
            "compiled": by_scan(size, update_every, 0),
            "python": by_python(size, update_every),
            "torch": by_torch(size, update_every),
            "table": by_table(size, update_every),
            "seeds": by_scan(size, update_every, np.arange(SEEDS), 1000),
        }
        speed = speeds(ways)
        cells = (
            f"{size:4} {update_every:5} {speed['compiled']:10,.0f} {speed['python']:10,.0f} {speed['torch']:8,.0f} "
        )
        cells += f"{speed['table']:10,.0f} {speed['compiled'] / speed['python']:9.1f} "
        yield cells + f"{speed['compiled'] / speed['torch']:9.1f} {speed['compiled'] / speed['seeds']:9.2f}"


def memory() -> None:
    """Train ten seeds at once at N = 100 and print the peak memory of this process."""
    by_scan(100, 1, np.arange(10), 1000)()
    # ru_maxrss would include the parent's memory at the fork.
    lines = pathlib.Path("/proc/self/status").read_text().splitlines()
    peak = next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024
    print(f"10 vmapped seeds at N = 100: peak memory of the process {peak:,.0f} MB; bar: 1,000")


def main() -> None:
    print("steps per second of CPU time; bars at N = 80, every step: > 3, > 15, table > 300,000, 8 seeds < 1")
    print("   N every   compiled     python  PyTorch      table   /python  /PyTorch   8 seeds")
    for row in rows():
        print(row, flush=True)
    subprocess.run([sys.executable, __file__, "memory"], check=True)


if __name__ == "__main__":
    memory() if sys.argv[1:] == ["memory"] else main()
