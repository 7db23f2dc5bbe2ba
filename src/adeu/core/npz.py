"""Named arrays in one .npz file, neither pickled nor compressed, and not larger than the file when read."""

from __future__ import annotations

import io
import math
import zipfile
from collections.abc import Mapping
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.generic]
HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}


class Header(NamedTuple):
    """The header of an array in a file."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]


def pack(arrays: Mapping[str, Array]) -> bytes:
    """Return the bytes of a file with these arrays."""
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)  # type: ignore[arg-type]
    return buffer.getvalue()


def unpack(content: bytes) -> dict[str, Array]:
    """Return the arrays of a file written by `pack`; reject other files."""
    reader = NpzReader(io.BytesIO(content))
    return {name: reader.array(name) for name in reader.headers}


class NpzReader:
    """Reader of the headers of all arrays, then of single arrays.

    It rejects compressed entries, objects, and headers whose size is not that of the entry.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._zip = zipfile.ZipFile(file)
        members = self._zip.infolist()
        if any(member.compress_type != zipfile.ZIP_STORED for member in members):
            raise ValueError("it is compressed; adeu writes uncompressed files only")
        if sum(member.file_size for member in members) > file.seek(0, io.SEEK_END):
            raise ValueError("its entries are larger than the file")
        self._members = {member.filename.removesuffix(".npy"): member for member in members}
        if len(self._members) < len(members):
            raise ValueError("two of its entries have the same name")
        self.headers = {name: self._header(name) for name in self._members}

    def _header(self, name: str) -> Header:
        with self._zip.open(self._members[name]) as entry:
            version = np.lib.format.read_magic(entry)
            if version not in HEADERS:
                raise ValueError(f"{name} has a header of version {version}")
            shape, _, dtype = HEADERS[version](entry)
            size = self._members[name].file_size - entry.tell()
        wanted = math.prod(shape) * dtype.itemsize
        if dtype.hasobject or min(shape, default=0) < 0 or wanted != size:
            raise ValueError(f"the header of {name} declares {wanted:,} bytes of data, it has {size:,}")
        return Header(shape, dtype)

    def array(self, name: str) -> Array:
        with self._zip.open(self._members[name]) as entry:
            array: Array = np.lib.format.read_array(entry, allow_pickle=False)
            return array
