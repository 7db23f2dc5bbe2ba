"""Measure training steps per second of TD3 in adeu, Stable-Baselines3 and SBX, and the limit set by matrix products.

    python benchmarks/td3.py            # 7 rounds of 300 steps
    python benchmarks/td3.py --quick    # 3 rounds of 80 steps: about 5 minutes

Runs Hopper and Humanoid with one and two threads. Every contender has a separate process, pinned to as many cores as
it has threads. They take turns, a piece each; the results are medians over rounds of the ratios within a round. All
have two hidden layers of 256, minibatches of 256, an update per step, a replay of 100,000 and no evaluation.
Measurements start after the random actions and compilation. With one thread they use the CPU time of the process,
which other load affects little; with two they use wall-clock time, so the machine should be idle. "Overlapping" steps
the environment while the networks train, with a policy that is one update old.

The ceiling is the number of updates per second if only their matrix products took time, at the speed of a product of
256 x 256 x 256 in XLA or in PyTorch, whichever is faster.
"""

from __future__ import annotations

import argparse
import dataclasses
import itertools
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

ENVIRONMENTS = ("Hopper-v5", "Humanoid-v5")
BATCH, HIDDEN, CAPACITY, WARMUP = 256, 256, 100_000, 400
PEERS = ("SB3", "SBX")
PRODUCTS = ("product in XLA", "product in PyTorch")
MECHANISMS = ("rnd", "q-std")
OVERLAP = "overlap"
BARS = {
    ("Hopper-v5", 1): {"SBX": 1.1, "SB3": 1.4},
    ("Humanoid-v5", 1): {"the better": 1.1},
    ("Hopper-v5", 2): {"SBX": 1.3, "SB3": 1.8},
    ("Humanoid-v5", 2): {"the better": 1.5},
}
ENDLESS = 10**9
COST = {"rnd": 1.2, "q-std": 2.0}
Piece = Callable[[int], int]
"""Runs about the given number of steps (updates, products), and returns the actual number."""


def training(case: str, env_name: str, overlap: bool = False) -> Piece:
    """Return a piece that trains adeu's TD3 in a case of the main experiment."""
    import gymnasium

    from adeu.agents import GymLoop
    from adeu.experiments.mujoco import cases

    agent, env = cases(env_name, "td3")[case].agent, gymnasium.make(env_name)
    td3 = dataclasses.replace(agent, capacity=CAPACITY)
    loop = GymLoop(td3, env, env, ENDLESS, seed=0, warmup=WARMUP, evaluate_every=ENDLESS, overlap=overlap)

    def train(steps: int) -> int:
        before = loop.step
        while loop.step < before + steps:
            loop.advance()
        return loop.step - before

    return train


def peer(name: str, env_name: str) -> Piece:
    import gymnasium
    import numpy as np
    from stable_baselines3.common.noise import NormalActionNoise

    if name == "SB3":
        from stable_baselines3 import TD3
    else:
        from sbx import TD3  # type: ignore[assignment]
    env = gymnasium.make(env_name)
    size = env.action_space.shape[0]  # type: ignore[index]
    model = TD3(
        "MlpPolicy",
        env,
        buffer_size=CAPACITY,
        learning_starts=WARMUP,
        batch_size=BATCH,
        train_freq=1,
        gradient_steps=1,
        policy_delay=2,
        action_noise=NormalActionNoise(np.zeros(size), np.full(size, 0.2)),
        policy_kwargs={"net_arch": [HIDDEN, HIDDEN]},
        device="cpu",
        seed=0,
    )

    def train(steps: int) -> int:
        before = model.num_timesteps
        model.learn(steps, log_interval=ENDLESS, reset_num_timesteps=False)
        return int(model.num_timesteps) - before

    return train


def updates(env_name: str) -> Piece:
    """Return a piece that runs adeu's updates without an environment, on random transitions."""
    import gymnasium
    import jax
    import numpy as np

    import adeu
    from adeu.agents import Td3
    from adeu.agents.player import Player
    from adeu.agents.reading import Reader
    from adeu.core.contract import Decision, Transition

    env = gymnasium.make(env_name)
    spaces = env.observation_space, env.action_space
    explorer = adeu.Explorer(adeu.Constant(0.2), adeu.Identity(), adeu.Gaussian())
    td3, reader = Td3(explorer, capacity=CAPACITY).bind(*spaces), Reader(*spaces)
    player, rng, obs = Player(td3, reader, 0, WARMUP), np.random.default_rng(0), reader.zeros()
    player.begin(obs)
    step = 0

    def train(count: int) -> int:
        nonlocal step
        for _ in range(count):
            step += 1
            action, next_obs = reader.taken(env.action_space.sample()), reader.obs(rng.normal(size=obs.size))
            transition = Transition(obs, action, reader.number("reward", 0.0), next_obs, np.False_, np.False_)
            player.observe(transition, Decision(action, True, 0.0, 0.0), step)
        jax.block_until_ready(player.arrays())  # type: ignore[no-untyped-call]
        return count

    return train


def product(name: str, threads: int) -> Piece:
    """Return a piece that computes products of 256 x 256 x 256."""
    import numpy as np

    a, b = np.random.default_rng(0).normal(size=(2, BATCH, BATCH)).astype(np.float32)
    once: Callable[[], Any]
    if name == "product in XLA":
        import jax

        multiply, left, right = jax.jit(jax.numpy.matmul), jax.numpy.asarray(a), jax.numpy.asarray(b)
        once = lambda: multiply(left, right).block_until_ready()  # noqa: E731
    else:
        import torch

        torch.set_num_threads(threads)
        first, second, out = torch.from_numpy(a), torch.from_numpy(b), torch.empty(BATCH, BATCH)
        once = lambda: torch.mm(first, second, out=out)  # noqa: E731

    def multiply_often(count: int) -> int:
        for _ in range(count):
            once()
        return count

    return multiply_often


def operations(inputs: int, actions: int) -> float:
    """Return the floating-point operations of the products in one update: a critic step and half an actor step."""

    def layers(*sizes: int) -> int:
        return sum(2 * BATCH * size * after for size, after in itertools.pairwise(sizes))

    actor, critic = layers(inputs, HIDDEN, HIDDEN, actions), layers(inputs + actions, HIDDEN, HIDDEN, 1)
    # Backward pass: the gradient of the weights costs as much as the layer; so does that of the inputs, if needed.
    through_actor, through_critic = layers(HIDDEN, HIDDEN, actions), layers(HIDDEN, HIDDEN, 1)
    critic_step = actor + 2 * critic + 2 * (2 * critic + through_critic)
    actor_step = 2 * actor + through_actor + critic + through_critic + layers(actions, HIDDEN)
    return critic_step + actor_step / 2


def child(name: str, env_name: str, threads: int, number: int) -> None:
    """Run pieces of the sizes that the parent writes to standard input."""
    cores = sorted(os.sched_getaffinity(0)) * 2
    first = number % (len(cores) // 2)  # start processes on different cores, because they compile at the same time
    os.sched_setaffinity(0, cores[first : first + threads])
    if name in PEERS or "PyTorch" in name:
        import torch

        torch.set_num_threads(threads)
    if name in PEERS:
        piece = peer(name, env_name)
    elif name in PRODUCTS:
        piece = product(name, threads)
    elif name == "updates":
        piece = updates(env_name)
    else:
        piece = training("constant", env_name, overlap=True) if name == OVERLAP else training(name, env_name)
    piece(WARMUP + 50)
    print("ready", flush=True)
    for line in sys.stdin:
        wall, cpu = time.perf_counter(), time.process_time()
        done = piece(int(line))
        spent = {"CPU": time.process_time() - cpu, "wall": time.perf_counter() - wall}
        print(json.dumps({clock: done / seconds for clock, seconds in spent.items()}), flush=True)


def start(name: str, env_name: str, threads: int, number: int) -> subprocess.Popen[str]:
    count = str(threads)
    few = dict.fromkeys(("NPROC", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), count)
    eigen = f"--xla_cpu_multi_thread_eigen={'true' if threads > 1 else 'false'}"
    return subprocess.Popen(
        [sys.executable, __file__, "child", name, env_name, count, str(number)],
        env=os.environ | few | {"XLA_FLAGS": eigen},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def answer(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    line = process.stdout.readline()
    if not line:
        raise RuntimeError(f"a contender exited: {process.args!r}")
    return line


def rates(names: tuple[str, ...], env_name: str, threads: int, rounds: int, steps: int) -> dict[str, list[Any]]:
    """Return each contender's steps per second in each round, by CPU time and by wall-clock time."""
    processes = {name: start(name, env_name, threads, number) for number, name in enumerate(names)}
    found: dict[str, list[Any]] = {name: [] for name in names}
    try:
        for process in processes.values():
            answer(process)
        for _ in range(rounds):
            for name, process in processes.items():
                assert process.stdin is not None
                process.stdin.write(f"{2000 if name in PRODUCTS else steps}\n")
                process.stdin.flush()
                found[name].append(json.loads(answer(process)))
    finally:
        for process in processes.values():
            process.kill()
            process.wait()
    return found


def report(env_name: str, threads: int, found: dict[str, list[Any]]) -> None:
    import gymnasium

    clock = "CPU" if threads == 1 else "wall"
    speed = {name: [each[clock] for each in rounds] for name, rounds in found.items()}

    def ratio(name: str, other: str) -> float:
        return float(statistics.median(a / b for a, b in zip(speed[name], speed[other], strict=True)))

    ours = {name: title for name, title in (("constant", "adeu"), (OVERLAP, "adeu, overlapping")) if name in speed}
    middle = {name: statistics.median(values) for name, values in speed.items()}
    wall = {name: statistics.median(each["wall"] for each in rounds) for name, rounds in found.items()}
    print(f"\n{env_name}, {threads} thread{'s' * (threads > 1)}; steps/s by {clock} time (by wall time):")
    for name in (*ours, *PEERS):
        print(f"  {ours.get(name, name):18} {middle[name]:7.1f} ({wall[name]:.1f})")
    for own, title in ours.items():
        against = {name: ratio(own, name) for name in PEERS}
        against["the better"] = min(against.values())
        for name, value in against.items():
            bar = BARS[env_name, threads].get(name)
            print(f"  {title} / {name:10} {value:5.2f}" + (f"   bar {bar}: {verdict(value >= bar)}" if bar else ""))
    env = gymnasium.make(env_name)
    work = operations(env.observation_space.shape[0], env.action_space.shape[0])  # type: ignore[index]
    best = max(PRODUCTS, key=middle.__getitem__)
    per_second = 2 * BATCH**3 * middle[best]
    flops = ", ".join(f"{name} {2 * BATCH**3 * middle[name] / 1e9:.0f}" for name in PRODUCTS)
    share = ratio("updates", best) * work / (2 * BATCH**3)
    print(f"  updates/s {middle['updates']:.1f} of at most {per_second / work:.1f}: {share:.2f}   aim 0.65")
    print(f"  GFLOP/s: {flops}")
    for name in MECHANISMS:
        if name in speed:
            value = ratio("constant", name)
            print(f"  cost of {name:6} / f = c {value:5.2f}   bar {COST[name]}: {verdict(value <= COST[name])}")
    sys.stdout.flush()


def verdict(held: bool) -> str:
    return "holds" if held else "MISSED"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer rounds, shorter pieces")
    parser.add_argument("--env", choices=ENVIRONMENTS, help="run only this environment")
    parser.add_argument("--threads", type=int, choices=(1, 2), help="run only with this number of threads")
    options = parser.parse_args()
    rounds, steps = (3, 80) if options.quick else (7, 300)
    for env_name in (options.env,) if options.env else ENVIRONMENTS:
        for threads in (options.threads,) if options.threads else (1, 2):
            more = MECHANISMS if threads == 1 else (OVERLAP,)
            names = ("constant", *PEERS, *more, "updates", *PRODUCTS)
            report(env_name, threads, rates(names, env_name, threads, rounds, steps))
    print(f"\nload average: {', '.join(f'{value:.1f}' for value in os.getloadavg())}")


if __name__ == "__main__":
    child(sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5])) if sys.argv[1:2] == ["child"] else main()
