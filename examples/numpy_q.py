"""Train a Q-learner in plain numpy on Gymnasium's frozen lake, exploring by visit counts.

    python examples/numpy_q.py

The three lines that adeu adds end in `# adeu`. An epsilon-greedy agent would choose its action instead of calling
`behavior.act`.
"""

from __future__ import annotations

import argparse

import gymnasium
import numpy as np

import adeu

GAMMA, ALPHA = 0.99, 0.5


def greedy_return(env: gymnasium.Env[int, int], q: np.ndarray) -> float:
    state, _ = env.reset(seed=0)
    total, ended = 0.0, False
    while not ended:
        state, reward, terminated, truncated, _ = env.step(int(np.argmax(q[state])))
        total, ended = total + float(reward), terminated or truncated
    return total


def train(episodes: int, seed: int) -> np.ndarray:
    env: gymnasium.Env[int, int] = gymnasium.make("FrozenLake-v1", is_slippery=False)
    evaluation: gymnasium.Env[int, int] = gymnasium.make("FrozenLake-v1", is_slippery=False)
    q = np.zeros((16, 4))
    explorer = adeu.Explorer(f=adeu.Counts(beta=0.3), g=adeu.ShiftedSigmoid(2.0), D=adeu.Bernoulli())
    behavior = adeu.Behavior(explorer, env, seed)  # adeu
    solved = 0
    for episode in range(episodes):
        state, _ = env.reset(seed=seed if episode == 0 else None)
        ended, spreads = False, []
        while not ended:
            decision = behavior.act(state, center=q[state])  # adeu
            action = int(decision.action)
            following, reward, terminated, truncated, info = env.step(action)
            transition = adeu.Transition(state, action, reward, following, terminated, truncated)
            behavior.observe(transition, info)  # adeu
            best = 0.0 if terminated else q[following].max()
            q[state, action] += ALPHA * (float(reward) + GAMMA * best - q[state, action])
            state, ended = following, terminated or truncated
            spreads.append(float(decision.spread))
            solved += reward == 1
        if (episode + 1) % max(1, episodes // 10) == 0:
            greedy = greedy_return(evaluation, q)
            print(f"episode {episode + 1:5d}  greedy {greedy:.0f}  solved {solved:4d}  spread {np.mean(spreads):.2f}")
    return q


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--episodes", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    train(arguments.episodes, arguments.seed)


if __name__ == "__main__":
    main()
