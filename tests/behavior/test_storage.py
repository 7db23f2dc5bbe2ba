"""Saved behaviors from untrusted sources: bad files are rejected by their headers, before any array is read."""

import io
import json
import os
import resource
import stat
import zipfile

import gymnasium
import numpy as np
import pytest

import adeu
from adeu.core import npz

EXPLORER = adeu.Explorer(f=adeu.Rnd(), g=adeu.Sigmoid(), D=adeu.Bernoulli())


@pytest.fixture(scope="module")
def behavior():
    return adeu.Behavior(EXPLORER, gymnasium.make("CartPole-v1"))


@pytest.fixture
def path(behavior, tmp_path):
    behavior.save(tmp_path / "behavior")
    return tmp_path / "behavior"


def changed(path, **arrays):
    """Replace arrays in the file."""
    path.write_bytes(npz.pack(npz.unpack(path.read_bytes()) | arrays))


def zipped(entries, compression):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as file:
        for name, content in entries.items():
            file.writestr(f"{name}.npy", content)
    return buffer.getvalue()


def entry(array):
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


def test_compressed_files_are_never_unpacked(behavior, path, monkeypatch):
    """200 MB of zeros in 200 kB: the memory of the process may not grow by that."""
    own = {name: entry(array) for name, array in npz.unpack(path.read_bytes()).items()}
    for large in ("header", "leaf_0", "other"):
        path.write_bytes(zipped(own | {large: entry(np.zeros(25_000_000))}, zipfile.ZIP_DEFLATED))
        assert path.stat().st_size < 2_000_000
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        with pytest.raises(ValueError, match="it is compressed"):
            behavior.load(path)
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000  # kilobytes


def test_a_larger_array_is_rejected_from_its_header(behavior, path, monkeypatch):
    changed(path, leaf_0=np.zeros((1000, 500)))
    read = npz.NpzReader.array
    monkeypatch.setattr(
        npz.NpzReader,
        "array",
        lambda self, name: read(self, name) if name == "header" else pytest.fail("an array was read"),
    )
    with pytest.raises(ValueError, match="is damaged: its arrays do not have the shapes of its parts"):
        behavior.load(path)
    with path.open("wb") as file:
        file.truncate(10**11)
    with pytest.raises(ValueError, match=r"damaged .*it has 100,000,000,000 bytes, expected at most"):
        behavior.load(path)


@pytest.mark.parametrize("place", [0, -1])
def test_a_negative_counter_is_rejected(behavior, path, place):
    counters = max(
        (name for name in npz.unpack(path.read_bytes()) if name != "header"), key=lambda name: int(name[5:])
    )
    array = npz.unpack(path.read_bytes())[counters].copy()
    array[place] = -1
    changed(path, **{counters: array})
    with pytest.raises(ValueError, match="is damaged: it has a negative counter"):
        behavior.load(path)
    assert behavior.step == 0


def test_other_than_regular_files_are_rejected(behavior, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "zero").symlink_to("/dev/zero")
    for name in ("pipe", "zero"):
        with pytest.raises(ValueError, match=f"{name} is not a regular file"):
            behavior.load(tmp_path / name)


def test_saving_follows_no_link_and_respects_the_umask(behavior, tmp_path):
    (tmp_path / "mine").write_text("mine")
    (tmp_path / "behavior").symlink_to(tmp_path / "mine")
    (tmp_path / f".behavior.{os.getpid()}").symlink_to(tmp_path / "mine")  # a guessable name
    before = os.umask(0o077)
    try:
        behavior.save(tmp_path / "behavior")
    finally:
        os.umask(before)
    assert (tmp_path / "mine").read_text() == "mine"
    assert stat.S_IMODE((tmp_path / "behavior").lstat().st_mode) == 0o600
    behavior.load(tmp_path / "behavior")


def test_another_format_is_rejected(behavior, path):
    changed(path, header=np.frombuffer(json.dumps({"format": "another"}).encode(), np.uint8))
    with pytest.raises(ValueError, match=r"was not written by adeu\.Behavior .* but by another"):
        behavior.load(path)
