"""Files of a run folder: metrics, checkpoints and JSON."""

import numpy as np
import pytest

from adeu.runs.folder import CHECKPOINT, Folder, Metrics, load_checkpoint, read_json, save_checkpoint, to_csv
from adeu.runs.load import read_metrics


def test_numbers_round_trip_through_csv(tmp_path):
    rng = np.random.default_rng(0)
    columns = {
        "a": rng.integers(-(10**12), 10**12, 50),
        "b": rng.standard_normal(50) * 10.0 ** rng.integers(-300, 300, 50),
    }
    (tmp_path / "x.csv").write_text(to_csv(columns))
    found = read_metrics(tmp_path / "x.csv")
    np.testing.assert_array_equal(found["a"], columns["a"])
    np.testing.assert_array_equal(found["b"], columns["b"])


def test_rows_are_written_as_csv():
    metrics = Metrics()
    metrics.add([{"step": 1, "return": 0.1}])
    metrics.add([{"step": 2, "return": -3.0}])
    assert metrics.text == "step,return\n1,0.1\n2,-3.0\n"


def test_nan_is_written_as_an_empty_field(tmp_path):
    metrics = Metrics()
    metrics.add([{"step": 0, "spread": np.nan}, {"step": 5, "spread": 0.25}])
    assert metrics.text == "step,spread\n0,\n5,0.25\n"
    (tmp_path / "metrics.csv").write_text(metrics.text)
    assert np.array_equal(read_metrics(tmp_path / "metrics.csv")["spread"], [np.nan, 0.25], equal_nan=True)


def test_a_checkpoint_holds_arrays_and_metrics(tmp_path):
    store = Folder(tmp_path)
    assert load_checkpoint(store) is None
    save_checkpoint(store, {"learner.q": np.arange(6.0).reshape(2, 3)}, "step\n1\n")
    arrays, text = load_checkpoint(store)
    np.testing.assert_array_equal(arrays["learner.q"], [[0, 1, 2], [3, 4, 5]])
    assert (list(arrays), text) == (["learner.q"], "step\n1\n")


def test_a_corrupt_checkpoint_is_rejected(tmp_path):
    store = Folder(tmp_path)
    save_checkpoint(store, {"q": np.zeros(100)}, "")
    whole = (tmp_path / CHECKPOINT).read_bytes()
    for broken in (b"", whole[:100], b"\0" * len(whole)):
        (tmp_path / CHECKPOINT).write_bytes(broken)
        with pytest.raises(ValueError, match=r"state\.npz is corrupt"):
            load_checkpoint(store)


def test_corrupt_json_is_rejected(tmp_path):
    assert read_json(tmp_path / "none.json") is None
    (tmp_path / "spec.json").write_text('{"a": ')
    with pytest.raises(ValueError, match=r"spec.json is corrupt .* delete its folder"):
        read_json(tmp_path / "spec.json")
