"""Rules for the code as a whole: the direction and cost of imports, and unique names."""

import ast
import pathlib
import subprocess
import sys

import pytest

import adeu

ROOT = pathlib.Path(__file__).parents[1]
SOURCE = ROOT / "src" / "adeu"

# Each layer may import from itself and the layers below it.
LAYERS = [
    {"cli"},
    {"report"},
    {"experiments"},
    {"runs"},
    {"agents", "tabular", "theory", "adapters"},
    {"behavior"},
    {"suggestions"},
    {"registry", "recipes"},
    {"mechanisms", "normalizers", "distributions", "guards"},
    {"core"},
    {"envs"},  # environments import nothing else of adeu
]


def layer(module: str) -> int:
    # `adeu` itself counts as runs, the highest package it exports from.
    package = "runs" if module == "adeu" else module.removeprefix("adeu.").split(".")[0]
    return next(i for i, packages in enumerate(LAYERS) if package in packages)


def imports(tree: ast.AST):
    """Yield every adeu module that is imported, at the top of a file or inside a function."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == "adeu":
            yield from (f"adeu.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("adeu."):
            yield node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.split(".")[0] == "adeu")


@pytest.mark.parametrize("path", sorted(SOURCE.rglob("*.py")), ids=lambda path: str(path.relative_to(SOURCE)))
def test_modules_import_only_from_their_layer_or_lower(path):
    if path.parent == SOURCE and path.name == "__init__.py":
        return
    package = path.relative_to(SOURCE).parts[0].removesuffix(".py")
    for module in imports(ast.parse(path.read_text())):
        assert layer(module) >= layer(package), f"{path} imports {module}, which is in a higher layer"


def run_python(script: str) -> str:
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.strip()


def test_importing_adeu_imports_no_engine_or_framework():
    heavy = ["numba", "torch", "ray", "jax", "gymnasium", "matplotlib"]
    assert run_python(f"import adeu, sys; print([name for name in {heavy} if name in sys.modules])") == "[]"
    parts = "adeu.Explorer, adeu.Behavior, adeu.Rnd"
    heavy = ["numba", "torch", "ray", "matplotlib"]
    assert run_python(f"import adeu, sys; {parts}; print([n for n in {heavy} if n in sys.modules])") == "[]"


def test_environments_import_nothing_else_of_adeu():
    loaded = run_python("import adeu.envs, sys; print(*[name for name in sys.modules if name.startswith('adeu')])")
    assert {"adeu", "adeu.envs", "adeu.envs.gym_frozen_lake"} <= set(loaded.split())
    assert all(name == "adeu" or name.startswith("adeu.envs") for name in loaded.split())
    assert run_python("import adeu.envs, sys; print('jax' in sys.modules)") == "False"
    for path in (SOURCE / "envs").glob("*.py"):
        assert all(module.startswith("adeu.envs") for module in imports(ast.parse(path.read_text())))


def test_environments_are_imported_at_first_use():
    script = "import adeu, sys; before = 'adeu.envs' in sys.modules; adeu.envs.FrozenLake; print(before)"
    assert run_python(script) == "False"


def test_every_public_name_can_be_loaded():
    assert len(adeu.__all__) > 30
    for name in adeu.__all__:
        assert getattr(adeu, name) is not None
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = adeu.no_such_name


def classes():
    """Yield every public class, with the file that defines it."""
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                yield node, path


def names(tree: ast.AST):
    """Yield every name that the code uses, except in strings and comments."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.alias):
            yield from node.name.split(".")


def test_loops_do_not_refer_to_agents():
    """The name of an agent is used only in its file, in the exports and in experiments."""
    own = {
        node.name: path
        for node, path in classes()
        if any(isinstance(base, ast.Subscript) and ast.unparse(base.value) == "Agent" for base in node.bases)
    }
    assert {"Dqn", "Td3"} <= own.keys()
    known = [SOURCE / "agents" / "__init__.py", *own.values()]
    for path in sorted(SOURCE.rglob("*.py")):
        if path not in known and path.relative_to(SOURCE).parts[0] != "experiments":
            assert not own.keys() & set(names(ast.parse(path.read_text()))), path
    for loop in ("gym_loop", "vector_loop", "jax_loop", "jax_player", "player", "compiling"):
        used = set(names(ast.parse((SOURCE / "agents" / f"{loop}.py").read_text())))
        assert not used & {path.stem for path in own.values()}, f"{loop} imports an agent's module"


def test_file_names_are_unique():
    found = [path.name for path in SOURCE.rglob("*.py") if path.name != "__init__.py"]
    assert sorted({name for name in found if found.count(name) > 1}) == []


def test_names_of_public_classes_are_unique():
    found = [node.name for node, _ in classes()]
    assert sorted({name for name in found if found.count(name) > 1}) == []


def test_names_of_tabular_forms_end_with_form():
    tree = ast.parse((SOURCE / "tabular" / "lower.py").read_text())
    made = [
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and ast.unparse(node.value).endswith(("_form", "_forms"))
    ]
    assert len(set(made)) > 20
    assert all(name.endswith("Form") for name in made)


def test_the_citation_has_the_version_of_the_package():
    assert f"\nversion: {adeu.__version__}\n" in (ROOT / "CITATION.cff").read_text()
