"""The memory that TD3 takes on the largest task, measured as the peak of a separate process."""

import subprocess
import sys

import pytest

SCRIPT = """
import dataclasses
import numpy as np
from adeu.agents.td3 import Td3Row
from adeu.experiments import mujoco
from adeu.core.npz import pack

setting = mujoco.cases("Humanoid-v5", "paper")["q-std"]
assert setting.agent.capacity == 100_000
setting = dataclasses.replace(setting, warmup=1_000, steps=1_200, evaluate_every=1_200, evaluate_episodes=1)
trainer = setting.trainer(0)
trainer.restore(trainer.arrays())
replay, rng = trainer._loop._player._replay, np.random.default_rng(0)
obs = rng.normal(size=348).astype(np.float32)
for step in range(100_000):
    next_obs = obs + 0.01
    ended = step % 25 == 24
    replay.add(Td3Row(obs, rng.uniform(-1, 1, 17), 1.0, next_obs, ended), ended)
    obs = next_obs if step % 25 < 24 else obs + 1.0
assert len(replay) == 100_000
while trainer.done < trainer.total:
    trainer.advance()
content = pack(trainer.arrays())  # a checkpoint
assert len(content) > 100e6
print(*(1024 * int(line.split()[1]) for line in open('/proc/self/status') if line.startswith('VmHWM')))
"""


@pytest.mark.slow
def test_humanoid_with_a_full_replay_takes_less_than_a_gigabyte_and_a_half():
    """With five critics: updates, an evaluation and a checkpoint."""
    pytest.importorskip("mujoco", reason="pip install 'adeu-rl[mujoco]'")
    run = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    peak = int(run.stdout.split()[-1])
    print(f"peak: {peak / 1e9:.2f} GB")
    assert peak < 1.5e9
