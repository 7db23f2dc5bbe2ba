"""Atomic writes, and reading from untrusted folders."""

import os
import signal
import socket
import stat
import subprocess
import sys

import pytest

from adeu.core import files
from adeu.core.files import ASIDE

WRITER = """
import pathlib, sys
from adeu.core import files
path = pathlib.Path(sys.argv[1])
print("ready", flush=True)
while True:
    for byte in (b"a", b"b"):
        files.write(path, byte * 3_000_000)
"""


def names(folder):
    return sorted(path.name for path in folder.iterdir())


class TestWrite:
    def test_a_failed_write_keeps_the_old_file(self, tmp_path, monkeypatch):
        path = tmp_path / "a" / "file"
        files.write(path, b"old")

        def full(descriptor):
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(files.os, "fsync", full)
        with pytest.raises(OSError, match="No space"):
            files.write(path, b"new")
        assert path.read_bytes() == b"old"
        assert names(path.parent) == ["file"]

    def test_a_link_is_replaced_and_not_followed(self, tmp_path):
        (tmp_path / "mine").write_bytes(b"mine")
        for target in (tmp_path / "mine", tmp_path / "nowhere"):
            path = tmp_path / "link"
            path.unlink(missing_ok=True)
            path.symlink_to(target)
            files.write(path, b"new")
            assert not path.is_symlink()
            assert path.read_bytes() == b"new"
        assert (tmp_path / "mine").read_bytes() == b"mine"
        assert names(tmp_path) == ["link", "mine"]

    def test_a_linked_folder_is_not_entered(self, tmp_path):
        (tmp_path / "elsewhere").mkdir()
        (tmp_path / "root").mkdir()
        (tmp_path / "root" / "below").symlink_to(tmp_path / "elsewhere")
        for name in ("below/file", "below/deeper/file", "../file"):
            for use in (files.read, files.remove, lambda path, below: files.write(path, b"x", below)):
                with pytest.raises(ValueError, match="is not inside"):
                    use(tmp_path / "root" / name, tmp_path / "root")
        assert names(tmp_path / "elsewhere") == []
        assert names(tmp_path) == ["elsewhere", "root"]

    @pytest.mark.parametrize("mask", [0o022, 0o077, 0o002])
    def test_the_umask_is_respected(self, tmp_path, mask):
        before = os.umask(mask)
        try:
            files.write(tmp_path / "file", b"")
        finally:
            os.umask(before)
        assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o666 & ~mask

    def test_temporary_names_cannot_be_guessed(self, tmp_path, monkeypatch):
        seen = []
        replace = os.replace
        monkeypatch.setattr(files.os, "replace", lambda one, other: (seen.append(one.name), replace(one, other)))
        for _ in range(2):
            files.write(tmp_path / "file", b"")
        assert seen[0] != seen[1]
        assert all(name.startswith(ASIDE) and len(name) >= len(ASIDE) + 16 for name in seen)

    def test_killed_writers_leave_a_complete_file_and_the_next_cleans_up(self, tmp_path):
        path = tmp_path / "file"
        for _ in range(5):
            command = [sys.executable, "-c", WRITER, str(path)]
            with subprocess.Popen(command, stdout=subprocess.PIPE) as writer:
                assert writer.stdout.readline() == b"ready\n"
                while not any(name.startswith(ASIDE) for name in names(tmp_path)):
                    pass
                writer.send_signal(signal.SIGKILL)
            if path.exists():
                content = path.read_bytes()
                assert content in (b"a" * 3_000_000, b"b" * 3_000_000)
        files.write(path, b"last")
        assert names(tmp_path) == ["file"]

    def test_two_writers_do_not_remove_each_others_files(self, tmp_path):
        """Each write looks for leftover files, and finds the one that the other process is writing."""
        command = [sys.executable, "-c", WRITER]
        with subprocess.Popen([*command, str(tmp_path / "other")], stdout=subprocess.PIPE) as writer:
            assert writer.stdout.readline() == b"ready\n"
            for _ in range(200):
                files.write(tmp_path / "mine", b"x")
            assert writer.poll() is None
            writer.kill()

    def test_a_link_among_leftover_files_is_not_followed(self, tmp_path):
        (tmp_path / "mine").write_bytes(b"mine")
        (tmp_path / f"{ASIDE}link").symlink_to(tmp_path / "mine")
        os.mkfifo(tmp_path / f"{ASIDE}pipe")
        files.write(tmp_path / "file", b"")
        assert (tmp_path / "mine").read_bytes() == b"mine"


class TestRead:
    def test_a_file_is_read(self, tmp_path):
        (tmp_path / "file").write_bytes(b"content")
        assert files.read(tmp_path / "file") == b"content"
        assert files.read(tmp_path / "file", tmp_path.parent) == b"content"
        with pytest.raises(FileNotFoundError):
            files.read(tmp_path / "none")

    def test_other_than_regular_files_are_rejected_at_once(self, tmp_path):
        os.mkfifo(tmp_path / "pipe")
        (tmp_path / "file").write_bytes(b"")
        (tmp_path / "link").symlink_to(tmp_path / "file")
        (tmp_path / "zero").symlink_to("/dev/zero")
        (tmp_path / "folder").mkdir()
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(str(tmp_path / "socket"))
            for name in ("pipe", "link", "zero", "folder", "socket"):
                with pytest.raises(ValueError, match=f"{name} is not a regular file"):
                    files.read(tmp_path / name)

    def test_a_large_file_is_rejected_before_it_is_read(self, tmp_path):
        with (tmp_path / "sparse").open("wb") as file:
            file.truncate(2**40)
        with pytest.raises(ValueError, match=r"sparse is too large: 1,099,511,627,776 bytes"):
            files.read(tmp_path / "sparse")
        with pytest.raises(ValueError, match="too large"):
            files.read(tmp_path / "sparse", limit=files.largest_arrays())


def test_walk_is_bounded_and_follows_no_link(tmp_path):
    deep = tmp_path
    for _ in range(40):
        deep = deep / "d"
        deep.mkdir()
    (tmp_path / "d" / "loop").symlink_to(tmp_path)
    found = [folder for folder, _ in files.walk(tmp_path)]
    assert len(found) == files.DEEPEST + 1
    assert not any("loop" in folder.parts for folder in found)


def test_inside(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "file").write_bytes(b"")
    (tmp_path / "link").symlink_to(tmp_path / "a")
    assert files.inside(tmp_path, "a", "file") == tmp_path / "a" / "file"
    for names in (
        ("..",),
        ("a", "..", "a"),
        ("/etc",),
        ("link",),
        ("link", "file"),
        ("b",),
        (),
        ("nul\0",),
        ("x" * 300,),
    ):
        assert files.inside(tmp_path, *names) is None
