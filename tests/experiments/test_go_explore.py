"""Go-Explore compared with ADEU, on small tasks."""

import dataclasses
import itertools

import adeu
from adeu.envs import Lake
from adeu.envs.point_maze_jax import HALF, SIDE, STEP
from adeu.experiments import explore, go_explore


def solved(setting, episodes):
    trainer = dataclasses.replace(setting, episodes=episodes).trainer(0)
    rows = [row for _ in range(episodes // 10) for row in trainer.advance().rows]
    return next((row["episode"] for row in rows if row["solved"]), None)


def test_go_explore_solves_a_shuffled_sea_and_epsilon_greedy_does_not():
    cases = go_explore.in_sea(8)
    assert solved(cases["go-explore"], 1_000) is not None
    assert solved(cases["eps-greedy"], 1_000) is None


def test_repeating_actions_helps_on_a_lake_with_straight_parts():
    cases = go_explore.on_lake(Lake(20))
    assert solved(cases["go-explore"], 2_000) < solved(cases["go-explore mean=1"], 2_000)


def test_the_members():
    names = [member.name for member in go_explore.EXPERIMENT.members]
    assert names == [f"go-explore/{name}" for name in ("lake", "staircase", "sea-10", "sea-20", "sea-30", "maze")]
    assert all(len(member.cases) == 5 for member in go_explore.EXPERIMENT.members)


def test_the_maze_has_the_cases_of_the_exploration_tasks_and_their_td3():
    cases, theirs = go_explore.in_maze(), explore.cases("PointMaze")
    for name in ("rnd", "options", "white"):
        assert cases[name] == dataclasses.replace(theirs[name], recorded=False)
    for name, mean in {"go-explore": 20.0, "go-explore mean=1": 1.0}.items():
        explorer = adeu.recipes.go_explore(bins=10, longest=100, mean=mean)
        agent = dataclasses.replace(theirs["white"].agent, explorer=explorer)
        assert cases[name] == dataclasses.replace(theirs["white"], agent=agent)
    edges = [-SIDE + 2 * SIDE * number / go_explore.BINS for number in range(go_explore.BINS + 1)]
    assert not any(low < -HALF < HALF < high for low, high in itertools.pairwise(edges))
    assert edges[1] - edges[0] > STEP
