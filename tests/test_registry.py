"""Parts by name, and their conversion to and from JSON."""

import json
import pathlib
import pickle
import re
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import adeu
from adeu.registry import PARTS, read_part
from tests import functions


def test_every_part_is_found_by_its_name():
    for name, kind in PARTS.items():
        assert getattr(adeu, name) is kind
        assert adeu.find_part(name) is kind


def test_a_new_file_in_mechanisms_registers_itself(tmp_path):
    (tmp_path / "novelty.py").write_text("import adeu\n\nclass Novelty(adeu.Mechanism):\n    pass\n")
    script = (
        f"import adeu.mechanisms; adeu.mechanisms.__path__.append({str(tmp_path)!r})\n"
        "from adeu.registry import PARTS, read_part; print(PARTS['Novelty'].__module__, read_part('--f', 'novelty'))"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["adeu.mechanisms.novelty", "Novelty()"]


def test_a_users_part_is_named_by_its_import_path():
    text = adeu.to_json(adeu.Rollouts(functions.Distance(2.0), rho=0.1, c=0.2))
    assert json.loads(text)["f"] == {"part": "tests.functions:Distance", "scale": 2.0}
    script = f"import adeu; print(adeu.from_json({text!r}).f.scale)"
    root = pathlib.Path(__file__).parents[1]
    run = subprocess.run([sys.executable, "-c", script], cwd=root, capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "2.0"


def test_parts_that_cannot_be_imported_are_rejected():
    class Local(adeu.Mechanism):
        pass

    for part in (adeu.from_function(lambda obs: obs), Local(), adeu.Sum((Local(),))):
        with pytest.raises(ValueError, match="cannot be imported"):
            adeu.to_json(part)


def test_only_parts_convert_to_json():
    with pytest.raises(ValueError, match="to_json: part takes a part, got <class"):
        adeu.to_json(adeu.Rnd)


def test_parts_of_a_script_are_rejected():
    script = "import adeu; F = type('F', (adeu.Mechanism,), {}); adeu.to_json(F())"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert "__main__:F cannot be imported" in run.stderr


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"part": "Rdn"}', "unknown part 'Rdn'; did you mean 'Rnd'? Known: Bernoulli,"),
        ('{"part": "sigmoid"}', "did you mean 'Sigmoid'?"),
        ('{"part": "Sigmoid", "C": 1}', "Sigmoid has no field 'C'; did you mean 'c'?"),
        ('{"part": "Constant"}', "Constant: "),
        ('{"part": "Sigmoid", "c": -1}', "Sigmoid: c takes a finite number > 0, got -1"),
        ('{"part": "os:getcwd"}', "'os:getcwd' is not a part"),
        ('{"part": "nowhere.at.all:F"}', "'nowhere.at.all:F' cannot be imported"),
        ('{"part": ".relative:F"}', "'.relative:F' cannot be imported"),
        ('{"part": 3}', "no member 'part' with its name"),
        ('{"part": "Sum", "terms": [{"a": 1}]}', "no member 'part' with its name"),
        (
            '{"part": "FromFunction", "function": {"function": 3}}',
            "a function's path takes package.module:name, got 3",
        ),
        ("[1]", "not a part's JSON"),
        ("{", "not a part's JSON"),
    ],
)
def test_bad_json_is_rejected(text, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        adeu.from_json(text)


class TestInstances:
    """Parts given by the import path of an instance: their functions may be anonymous."""

    @pytest.mark.parametrize("name", ["LAMBDA", "HOSTED", "NESTED", "FAR"])
    def test_they_round_trip_through_json(self, name):
        part = read_part("--f", f"tests.functions:{name}")
        assert adeu.from_json(adeu.to_json(part)) == part
        assert pickle.loads(pickle.dumps(part)) == part
        assert hash(part) == hash(read_part("--f", f"tests.functions:{name}"))

    def test_named_functions_keep_their_names(self):
        part = read_part("--f", "tests.functions:NESTED")
        assert json.loads(adeu.to_json(part)) == {
            "part": "Rollouts",
            "f": {
                "part": "Sum",
                "terms": [
                    {"part": "FromFunction", "function": {"function": "tests.functions:NESTED.f.terms.0.function"}},
                    {"part": "FromFunction", "function": {"function": "tests.functions:first_entry"}},
                ],
            },
            "rho": 0.1,
            "c": 0.5,
        }

    def test_they_compute_the_same_values(self):
        obs = jnp.array([3.0, 4.0])
        part = read_part("--f", "tests.functions:LAMBDA")
        for each in (functions.LAMBDA, part):
            assert float(jax.jit(lambda obs, each=each: each.measure(None, (), (), obs)[0])(obs)) == 5.0
        assert read_part("--f", "tests.functions:HOSTED").compute(np.array([[3.0, 4.0]])) == [5.0]

    def test_a_function_is_rejected(self):
        with pytest.raises(
            ValueError, match=r"not a part.*a function becomes one by adeu.from_function or adeu.from_h"
        ):
            read_part("--f", "tests.functions:first_entry")
