"""Rendering of the lakes as images and text."""

import numpy as np
import pytest

from adeu.envs import FrozenLake, SafeFrozenLake, picture


def colors(image, tile, cell, size):
    """Return all colors in the tile of a cell."""
    row, column = (tile * place for place in divmod(cell, size))
    return {tuple(color) for color in image[row : row + tile, column : column + tile].reshape(-1, 3).tolist()}


def middle(image, tile, cell, size):
    row, column = (tile * place + tile // 2 for place in divmod(cell, size))
    return tuple(image[row, column].tolist())


@pytest.fixture
def lake():
    env = SafeFrozenLake(size=10, render_mode="rgb_array")
    env.reset()
    env.step(1)
    return env


def test_every_kind_of_cell_has_its_colors(lake):
    image = lake.render()
    assert image.shape == (320, 320, 3)
    assert image.dtype == np.uint8
    assert colors(image, 32, 5, 10) == {picture.HOLE, picture.LINE}
    assert colors(image, 32, 21, 10) == {picture.ICE, picture.LINE}
    assert colors(image, 32, 0, 10) == {picture.START, picture.INK, picture.LINE}
    assert colors(image, 32, 99, 10) == {picture.GOAL, picture.INK, picture.LINE}
    assert colors(image, 32, 32, 10) == {picture.HOLE, picture.UNSAFE, picture.WHITE, picture.LINE}
    assert middle(image, 32, 32, 10) == picture.UNSAFE
    assert colors(image, 32, 1, 10) == {picture.ICE, picture.AGENT, picture.WHITE, picture.LINE}
    assert middle(image, 32, 1, 10) == picture.AGENT


def test_the_agent_is_drawn_in_place_of_the_letter():
    env = FrozenLake(size=10, render_mode="rgb_array")
    env.reset()
    assert colors(env.render(), 32, 0, 10) == {picture.START, picture.AGENT, picture.WHITE, picture.LINE}


def test_the_agent_is_drawn_in_a_hole(lake):
    lake.step(1)
    image = lake.render()
    assert middle(image, 32, 1, 10) == picture.ICE
    assert middle(image, 32, 2, 10) == picture.AGENT


def test_a_heat_map_covers_only_path_and_unsafe_cells(lake):
    plain, values = lake.render(), np.zeros((10, 10))
    values[2, 1], values[3, 1], values[3, 2], values[5, 5] = 1.0, 0.5, 1.0, 1.0
    lake.show(values)
    image = lake.render()
    hot, warm, cold = (tuple(int(part) for part in picture.HEAT[stop]) for stop in (4, 2, 0))
    assert middle(image, 32, 21, 10) == hot
    assert middle(image, 32, 31, 10) == warm
    assert middle(image, 32, 41, 10) == cold == picture.ICE
    assert {hot, picture.UNSAFE} < colors(image, 32, 32, 10)
    assert middle(image, 32, 55, 10) == picture.HOLE
    lake.show(None)
    assert (lake.render() == plain).all()


@pytest.mark.parametrize(("size", "tile"), [(3, 32), (23, 32), (30, 25), (90, 8), (100, 7), (750, 1)])
def test_tiles_shrink_with_the_lake(size, tile):
    env = SafeFrozenLake(size=size, render_mode="rgb_array")
    env.reset()
    assert env.render().shape == (size * tile, size * tile, 3)


def test_small_tiles_have_plain_colors():
    env = SafeFrozenLake(size=100, render_mode="rgb_array")
    env.reset()
    image = env.render()
    assert colors(image, 7, 301, 100) == {picture.ICE}
    assert colors(image, 7, 302, 100) == {picture.UNSAFE}
    assert colors(image, 7, 550, 100) == {picture.HOLE}
    assert {picture.AGENT, picture.WHITE} <= colors(image, 7, 0, 100)
    assert picture.GOAL in colors(image, 7, 9999, 100)


def test_the_lake_of_the_paper_fits_a_screen_and_its_path_is_unbroken():
    env = FrozenLake(render_mode="rgb_array")
    env.reset()
    image = env.render()
    assert image.shape == (750, 750, 3)
    dot, goal = ((image == color).all(axis=-1).nonzero() for color in (picture.AGENT, picture.GOAL))
    assert min(len(dot[0]), len(goal[0])) > 40  # whole discs, even in a corner
    assert max(dot[0].max(), dot[1].max()) < 10
    assert min(goal[0].min(), goal[1].min()) >= 740
    assert (image[20:750, 0] == picture.ICE).all()
    assert (image[749, 10:730] == picture.ICE).all()
    assert (image[20:700, 20:] == picture.HOLE).all()


def test_rendering_as_text():
    env = SafeFrozenLake(size=9, render_mode="ansi")
    env.reset()
    for action in (1, 2):
        env.step(action)
    assert env.render().splitlines() == [
        "S.#######",
        "#@#######",
        "#.#######",
        "#.x######",
        "#.#######",
        "#.#######",
        "#.###x###",
        "#........",
        "########G",
    ]
    env.show(np.linspace(0, 1, 81))
    assert env.render().splitlines()[3:9] == [
        "#33######",
        "#4#######",
        "#5#######",
        "#6###7###",
        "#88888888",
        "########G",
    ]
    env.show(np.ones(81))
    assert env.render().splitlines()[7] == "#99999999"


def test_the_text_of_a_large_lake_is_a_window_around_the_agent():
    env = FrozenLake(size=1500, render_mode="ansi")
    env.reset()
    lines = env.render().splitlines()
    assert lines[0] == "rows 0-30, columns 0-30 of 1500"
    assert lines[1] == "@." + "#" * 29
    for action in [1] + [2] * 100:
        env.step(action)
    lines = env.render().splitlines()
    assert lines[0] == "rows 85-115, columns 0-30 of 1500"
    assert [len(line) for line in lines[1:]] == [31] * 31
    assert lines[16] == "#@" + "#" * 29
    assert lines[1] == "#." + "#" * 29
