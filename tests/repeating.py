"""Plain TempoRL and UTE over tables, after Biedenkapp et al., 2021, and Lee et al., 2024: the reference for
`LearnedLengths`.

Choices that the papers leave open: ties are broken at random; the standard deviation divides by the number of heads;
with one head a length is uniform with probability epsilon, with several it is never random. Skip values are learned
from single steps; `skip_values` computes the targets of the papers, over whole repetitions.
"""

import numpy as np


class Repeater:
    """Act and learn with given random numbers for each step.

    Args:
        values: initial values of (head, state, action, length).
    """

    def __init__(self, values, epsilon, lam, gamma, step_size):
        self.values, self.epsilon, self.lam = np.array(values, float), epsilon, lam
        self.gamma, self.step_size = gamma, step_size
        self.begin()

    def begin(self):
        self.left = 0

    def act(self, q, state, draws):
        """Return the action, and whether it or its length was random.

        `draws` are two uniform numbers, and a Gumbel number for each action and for each length.
        """
        coin, other, actions, lengths = draws
        if self.left == 0:
            drawn = coin < self.epsilon
            choices = range(len(q)) if drawn else np.flatnonzero(q == q.max())
            self.action = max(choices, key=lambda a: actions[a])
            estimates = self.values[:, state, self.action]
            score = estimates.mean(axis=0) + self.lam * estimates.std(axis=0)
            uniform = len(estimates) == 1 and other < self.epsilon
            choices = range(len(score)) if uniform else np.flatnonzero(score == score.max())
            self.left = 1 + max(choices, key=lambda j: lengths[j])
            self.explored = drawn or uniform
        self.left -= 1
        return self.action, self.explored

    def learn(self, state, action, reward, following, terminated, learns):
        """Update each head for which `learns` is true."""
        for head, moves in enumerate(learns):
            if moves:
                later = 0 * self.values[head, following] if terminated else self.values[head, following]
                after = np.concatenate([[later.max()], later[action, :-1]])
                old = self.values[head, state, action]
                old += self.step_size * (reward + self.gamma * after - old)


def skip_values(following, reward, terminal, gamma, longest, sweeps=2000):
    """Compute the targets of the papers with Q of value iteration: r_1 + gamma r_2 + ... + gamma^j max_a' Q(s_j, a').

    A repetition ends with its episode.
    """
    states, actions = reward.shape
    q = np.zeros((states, actions))
    for _ in range(sweeps):
        q = reward + gamma * ~terminal * q.max(axis=1)[following]
    values = np.zeros((states, actions, longest))
    for s, a, j in np.ndindex(values.shape):
        at, total, discount, ended = s, 0.0, 1.0, False
        for _ in range(j + 1):
            total += discount * reward[at, a]
            discount *= gamma
            ended = terminal[at, a]
            at = following[at, a]
            if ended:
                break
        values[s, a, j] = total + (0.0 if ended else discount * q[at].max())
    return values
