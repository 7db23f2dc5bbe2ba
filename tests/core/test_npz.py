"""Arrays in npz files, and invalid files."""

import io
import zipfile

import numpy as np
import pytest

from adeu.core import npz


def entry(array, **options):
    buffer = io.BytesIO()
    np.save(buffer, array, **options)
    return buffer.getvalue()


def header(shape, descr="<f8"):
    buffer = io.BytesIO()
    np.lib.format.write_array_header_1_0(buffer, {"descr": descr, "fortran_order": False, "shape": shape})
    return buffer.getvalue()


def zipped(entries, compression=zipfile.ZIP_STORED):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as file:
        for name, content in entries:
            file.writestr(name, content)
    return buffer.getvalue()


def test_arrays_round_trip():
    arrays = {
        "a": np.arange(6.0).reshape(2, 3),
        "b/c": np.asfortranarray(np.arange(6).reshape(2, 3)),
        "empty": np.zeros((0, 3), np.float32),
        "scalar": np.array(True),
        "pairs": np.zeros(2, [("x", "f4"), ("y", "i8")]),
    }
    found = npz.unpack(npz.pack(arrays))
    assert found.keys() == arrays.keys()
    for name, array in arrays.items():
        assert found[name].dtype == array.dtype
        np.testing.assert_array_equal(found[name], array)
        found[name][...] = found[name]  # writable


HOSTILE = {
    "compressed": (zipped([("a.npy", entry(np.zeros(10**6)))], zipfile.ZIP_DEFLATED), "it is compressed"),
    "an object": (
        zipped([("a.npy", entry(np.array([{}], object), allow_pickle=True))]),
        "a declares .* bytes of data",
    ),
    "huge": (zipped([("a.npy", header((2**40,)))]), "a declares 8,796,093,022,208 bytes .*, it has 0"),
    "negative": (zipped([("a.npy", header((-3,)))]), "a declares -24 bytes"),
    "twice negative": (zipped([("a.npy", header((-3, -1)) + bytes(24))]), "a declares 24 bytes"),
    "longer than its header says": (
        zipped([("a.npy", header((1,)) + bytes(16))]),
        "a declares 8 bytes .*, it has 16",
    ),
    "no array": (zipped([("a.npy", b"hello world, which is no array")]), "magic"),
    "no zip": (b"hello", "not a zip file"),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_file_is_rejected_from_its_headers(kind, monkeypatch):
    content, message = HOSTILE[kind]
    monkeypatch.setattr(np.lib.format, "read_array", lambda *_, **__: pytest.fail("an array was read"))
    with pytest.raises(Exception, match=message):
        npz.unpack(content)


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_entries_that_share_their_bytes_or_their_name_are_rejected():
    one = zipped([("a.npy", entry(np.zeros(1000)))])
    with pytest.raises(ValueError, match="the same name"):
        npz.unpack(zipped([("a.npy", entry(np.zeros(3)))] * 2))
    buffer = io.BytesIO(one)
    with zipfile.ZipFile(buffer, "a") as file:
        (member,) = file.infolist()
        for number in range(50):
            again = zipfile.ZipInfo(f"{number}.npy")
            for name in ("compress_size", "file_size", "CRC", "header_offset"):
                setattr(again, name, getattr(member, name))
            file.filelist.append(again)
        file._didModify = True
    with pytest.raises(ValueError, match="its entries are larger than the file"):
        npz.unpack(buffer.getvalue())
