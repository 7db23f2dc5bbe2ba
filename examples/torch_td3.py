"""Train TD3 in PyTorch on Pendulum-v1, in one file as in CleanRL, exploring by random network distillation.

    python examples/torch_td3.py --steps 8000

The three lines that adeu adds end in `# adeu`. CleanRL adds noise to the action; here `behavior.act` chooses it.
"""

from __future__ import annotations

import argparse
import copy
from typing import Any

import gymnasium
import numpy as np
import torch
from torch import nn
from torch.nn import functional

import adeu

GAMMA, TAU, BATCH, WARM_UP, RATE = 0.98, 0.005, 128, 1000, 1e-3
SMOOTHING, CLIP, DELAY = 0.2, 0.5, 2


def network(inputs: int, outputs: int, *last: nn.Module) -> nn.Sequential:
    return nn.Sequential(
        nn.Linear(inputs, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, outputs), *last
    )


class Replay:
    """A replay buffer of all transitions."""

    def __init__(self) -> None:
        self.rows: list[tuple[Any, ...]] = []

    def sample(self, random: np.random.Generator) -> list[torch.Tensor]:
        chosen = [self.rows[i] for i in random.integers(len(self.rows), size=BATCH)]
        return [torch.as_tensor(np.stack(column), dtype=torch.float32) for column in zip(*chosen, strict=True)]


def train(steps: int, seed: int) -> nn.Module:
    torch.manual_seed(seed)
    random = np.random.default_rng(seed)
    env = gymnasium.make("Pendulum-v1")
    env.action_space.seed(seed)
    observations, actions, high = 3, 1, 2.0
    actor = network(observations, actions, nn.Tanh())
    critics = nn.ModuleList(network(observations + actions, 1) for _ in range(2))
    actor_target, critics_target = copy.deepcopy(actor), copy.deepcopy(critics)
    actor_optimizer = torch.optim.Adam(actor.parameters(), lr=RATE)
    critic_optimizer = torch.optim.Adam(critics.parameters(), lr=RATE)
    replay = Replay()

    explorer = adeu.Explorer(f=adeu.Rollouts(adeu.Rnd(), rho=0.3, c=0.2), g=adeu.Sigmoid(c=0.2), D=adeu.Gaussian())
    behavior = adeu.Behavior(explorer, env, seed)  # adeu

    obs, _ = env.reset(seed=seed)
    total = 0.0
    for step in range(steps):
        if step < WARM_UP:
            action = env.action_space.sample()
        else:
            with torch.no_grad():
                mean = high * actor(torch.as_tensor(obs))
            action = behavior.act(obs, center=mean).action
        following, reward, terminated, truncated, info = env.step(action)
        replay.rows.append((obs, action, [reward], following, [terminated], [truncated]))
        behavior.observe(adeu.Transition(obs, action, reward, following, terminated, truncated), info)  # adeu
        obs, total = following, total + float(reward)
        if terminated or truncated:
            spread = behavior.history[-200:].mean() if step >= WARM_UP else float("nan")
            print(f"step {step + 1:6d}  return {total:7.1f}  spread {spread:.3f}")
            obs, total = env.reset()[0], 0.0
        if step < WARM_UP:
            continue

        s, a, r, s2, d, cut = replay.sample(random)
        batch = adeu.Transition(s, a, r[:, 0], s2, d[:, 0], cut[:, 0])
        behavior.update(batch)  # adeu
        with torch.no_grad():
            noise = (SMOOTHING * torch.randn_like(a)).clamp(-CLIP, CLIP)
            a2 = high * (actor_target(s2) + noise).clamp(-1, 1)
            least = torch.min(*(critic(torch.cat([s2, a2], 1)) for critic in critics_target))
            target = r + GAMMA * (1 - d) * least
        values = [critic(torch.cat([s, a], 1)) for critic in critics]
        critic_optimizer.zero_grad()
        sum(functional.mse_loss(value, target) for value in values).backward()  # type: ignore[union-attr]
        critic_optimizer.step()
        if step % DELAY == 0:
            actor_optimizer.zero_grad()
            (-critics[0](torch.cat([s, high * actor(s)], 1)).mean()).backward()
            actor_optimizer.step()
            for online, slow in ((actor, actor_target), (critics, critics_target)):
                for new, old in zip(online.parameters(), slow.parameters(), strict=True):
                    old.data.lerp_(new.data, TAU)
    return actor


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=8000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    train(arguments.steps, arguments.seed)


if __name__ == "__main__":
    main()
