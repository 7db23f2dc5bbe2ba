"""Theorem 1 over hyper-states, and with the distance to the best action as f."""

import dataclasses

import numpy as np
import pytest

from adeu import tabular
from adeu.experiments import theorem_1
from adeu.theory import hyper_path, increasing_reward, random_game, random_sparse_game, sparse_increasing_reward

ENDS = [[False, False]] * 3 + [[False, True]]
CORRIDOR = tabular.from_arrays([[0, 1], [0, 2], [1, 3], [2, 3]], [[0, 0], [0, 1], [0, 0], [0, 2]], ENDS)


@pytest.mark.parametrize("seed", range(20))
def test_random_sparse_games_are_sparse_increasing_reward_games(seed):
    game = random_sparse_game(hyper_states=5, size=3, actions=3, seed=seed, hole=0.5)
    verdict = sparse_increasing_reward(game)
    assert verdict, verdict.why
    assert len(verdict.order) == 5
    assert not increasing_reward(game)
    assert np.count_nonzero((game.reward != 0).any(axis=1)) == 5


def test_a_hyper_action_is_preferred_if_greedy_steps_lead_to_the_reward():
    path = hyper_path(CORRIDOR)
    assert [states.tolist() for states in path.members] == [[0, 1], [2, 3]]
    q = np.array([[0.0, 1.0], [0.0, 1.0], [0.0, 1.0], [0.0, 1.0]])
    assert path.prefers(q).tolist() == [True, True]
    q[0] = 0.5  # a tie
    assert path.prefers(q).tolist() == [False, True]
    q[0], q[2] = [0.0, 1.0], [1.0, 0.0]  # back to the first hyper-state
    assert path.prefers(q).tolist() == [True, False]
    q[2], q[3] = [0.0, 1.0], [1.0, 0.0]
    assert path.prefers(q).tolist() == [True, False]
    assert path.frontier([q, 0 * q]).tolist() == [1, 0]


def test_the_exploration_of_a_hyper_state_is_the_mean_of_its_states():
    p = np.array([[0.5, 0.5], [0.1, 0.9], [0.0, 1.0], [0.2, 0.8]])
    np.testing.assert_allclose(hyper_path(CORRIDOR).exploration(p), [0.3, 0.1])


def test_the_claim_over_hyper_states_computed_by_hand():
    right = np.tile([0.0, 1.0], (4, 1))
    q = np.array([0 * right, 0 * right, 0 * right])
    q[1:, 1, 1] = 1.0  # the first reward is found at time 1
    q[2] = right  # the second at time 2
    p = np.array([0 * right + 0.5, 0 * right + 0.5, 0.9 * right + 0.1 * right[:, ::-1]])
    p[1, :2] = [0.4, 0.6]
    claim = hyper_path(CORRIDOR).claim(q, p)
    assert claim.found.tolist() == [1, 2]
    assert claim.reduced.tolist() == [True, False]  # the second is as high in the end as when found
    assert claim.focused.tolist() == [True]
    assert claim.frontier.tolist() == [0, 0, 2]
    p[1, 2:] = [0.1, 0.9]
    assert hyper_path(CORRIDOR).claim(q, p).focused.tolist() == [False]


def test_paths_agree_if_each_state_is_a_hyper_state():
    game = random_game(6, 3, 0, hole=1.0)
    path = hyper_path(game, np.arange(6))
    q = np.random.default_rng(0).normal(size=(4, 6, 3))
    q[1:, np.arange(6), game.reward.argmax(axis=1)] += 2.0
    plain = theorem_1.Path(game)
    p = np.exp(q) / np.exp(q).sum(axis=-1, keepdims=True)
    np.testing.assert_allclose(path.exploration(p), plain.exploration(p))
    for ours, theirs in zip(path.claim(q, p), plain.claim(q, p), strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_other_than_sparse_games_are_rejected():
    with pytest.raises(
        ValueError, match="hyper_path: mdp takes a Sparse Increasing-Reward Game, got 'In hyper-state 0"
    ):
        hyper_path(CORRIDOR, [0, 0, 0, 0])


def run(case, **changes):
    trainer = dataclasses.replace(case, **changes).trainer(1)
    pieces = [trainer.advance() for _ in range(trainer.total)]
    return pieces, trainer


def test_a_state_is_not_explored_once_its_known_best_action_is_preferred():
    pieces, trainer = run(theorem_1.METHODS["best-action"], states=8, episodes=100)
    claim = pieces[-1].traces["claim"]
    assert (claim["found"] >= 0).all()
    assert claim["reduced"].all()
    likely = trainer.chances(trainer._history["history.q"], trainer._history["history.visits"])
    explores = trainer.path.exploration(likely)
    known = np.arange(8) < trainer.path.frontier(trainer._history["history.q"])[:, None]
    assert not explores[known].any()
    assert explores[0].min() > 0.5


def test_counts_of_hyper_states_solve_a_sparse_game_before_counts_of_states():
    solved = {}
    for name in ("adeu-coin", "hyper-states"):
        pieces, trainer = run(theorem_1.SPARSE_METHODS[name], **theorem_1.SPARSE | {"states": 15, "episodes": 120})
        rows = [row for piece in pieces for row in piece.rows]
        solved[name] = next(row["episode"] for row in rows if row["solved"])
        assert pieces[-1].traces["claim"]["reduced"].all()
    assert trainer.path.length == 5
    assert solved["hyper-states"] < solved["adeu-coin"]


def test_the_computed_chance_equals_the_spread_of_the_agent():
    """Compare both at the first step of an episode."""
    trainer = dataclasses.replace(
        theorem_1.SPARSE_METHODS["hyper-states"], **theorem_1.SPARSE | {"states": 15, "episodes": 60}
    ).trainer(2)
    for _ in range(20):
        trainer.advance()
    result = trainer._training.result()
    trace = trainer._training.trace()
    first = trainer.chances._epsilon(np.ones(trainer.game.reward.shape), result.visits)
    assert trace.spread[0] == pytest.approx(first[trainer.game.start])
