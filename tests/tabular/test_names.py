"""Names in `adeu.tabular` are not used elsewhere in `adeu`."""

import ast
import pathlib

import adeu

SOURCE = pathlib.Path(adeu.__file__).parent
OURS = set((SOURCE / "tabular").glob("*.py"))
OTHERS = set(SOURCE.rglob("*.py")) - OURS


def classes(paths):
    nodes = (node for path in paths for node in ast.parse(path.read_text()).body)
    return {node.name for node in nodes if isinstance(node, ast.ClassDef)}


def test_names_of_classes_are_unique():
    assert len(classes(OURS)) > 30
    assert classes(OURS).isdisjoint(classes(OTHERS))


def test_names_of_files_are_unique():
    names = {path.stem for path in OURS} - {"__init__"}
    places = {part for path in OTHERS for part in path.relative_to(SOURCE).with_suffix("").parts}
    assert names.isdisjoint(places)
