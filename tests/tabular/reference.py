"""A reference Q-learning in plain Python, with the same random stream."""

import math

MASK = 2**64 - 1


class Stream:
    """The generator xoshiro256++, seeded by splitmix64."""

    def __init__(self, seed, skip=0):
        words = []
        for _ in range(skip + 4):
            seed = (seed + 0x9E3779B97F4A7C15) & MASK
            z = ((seed ^ (seed >> 30)) * 0xBF58476D1CE4E5B9) & MASK
            z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
            words.append(z ^ (z >> 31))
        self.words = words[skip:]

    def uniform(self):
        def rotate(x, bits):
            return ((x << bits) | (x >> (64 - bits))) & MASK

        s = self.words
        result = (rotate((s[0] + s[3]) & MASK, 23) + s[0]) & MASK
        shifted = (s[1] << 17) & MASK
        s[2] ^= s[0]
        s[3] ^= s[1]
        s[1] ^= s[2]
        s[0] ^= s[3]
        s[2] ^= shifted
        s[3] = rotate(s[3], 45)
        return (result >> 11) / 2**53


def q_learning(
    mdp, *, episodes, max_steps, seed, gamma=0.99, alpha=1.0, beta=0.9, shift=2.0, epsilon=None, sigma=None
):
    """Train with ADEU by counts, epsilon-greedy (`epsilon`) or VDBE (`sigma`); return the Q table and the visits."""
    states, actions = mdp.next_state.shape
    q = [[0.0] * actions for _ in range(states)]
    visits = [0] * states
    adaptive = [1.0] * states
    rng = Stream(seed)
    for _ in range(episodes):
        rng.uniform()  # draws the start state, of which there is only one
        s = mdp.start
        for _ in range(max_steps):
            if sigma is not None:
                epsilon = adaptive[s]
            a = softmax(q[s], visits[s], beta, shift, rng) if epsilon is None else coin(q[s], epsilon, rng)
            visits[s] += 1
            reward, to = float(mdp.reward[s, a]), int(mdp.next_state[s, a])
            ends = bool(mdp.terminal[s, a])
            target = reward if ends else reward + gamma * max(q[to])
            old = q[s][a]
            q[s][a] += alpha * (target - q[s][a])
            if sigma is not None:
                adaptive[s] = vdbe(adaptive[s], abs(q[s][a] - old), sigma, 1 / actions)
            s = to
            if ends:
                break
    return q, visits


def softmax(q, visits, beta, shift, rng):
    x = shift - 1 / (1 / (beta * math.sqrt(visits + 1)))
    spread = 1 / (1 + math.exp(-x)) if x >= 0 else math.exp(x) / (1 + math.exp(x))
    weights = [math.exp((1 - spread) * (value - max(q))) for value in q]
    total = 0.0
    for weight in weights:
        total += weight
    point = rng.uniform() * total
    for a, weight in enumerate(weights):
        point -= weight
        if point < 0:
            return a
    return len(q) - 1


def vdbe(epsilon, change, sigma, delta):
    """Return the epsilon of a state after a change of its value, after Tokic."""
    boltzmann = math.exp(-change / sigma)
    return delta * (1 - boltzmann) / (1 + boltzmann) + (1 - delta) * epsilon


def coin(q, epsilon, rng):
    explored = rng.uniform() < epsilon
    choices = [a for a in range(len(q)) if explored or q[a] == max(q)]
    return choices[0] if len(choices) == 1 else choices[int(rng.uniform() * len(choices))]
