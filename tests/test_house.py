"""What holds of the code as a whole: which way imports go, what importing costs, and what the wheel carries."""

import ast
import pathlib
import subprocess
import sys

import pytest

import adeu

ROOT = pathlib.Path(__file__).parents[1]
SOURCE = ROOT / "src" / "adeu"

# Each floor may import from the floors below it, and from its own.
FLOORS = [
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
    {"envs"},  # below all: environments import nothing of ours
]


def floor(module: str) -> int:
    room = "runs" if module == "adeu" else module.removeprefix("adeu.").split(".")[0]  # the highest public one
    return next(i for i, rooms in enumerate(FLOORS) if room in rooms)


def imports(tree: ast.AST):
    """Every adeu module that is imported, at the top of a file or inside a function."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == "adeu":
            yield from (f"adeu.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("adeu."):
            yield node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.split(".")[0] == "adeu")


@pytest.mark.parametrize("path", sorted(SOURCE.rglob("*.py")), ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_go_down_only(path):
    if path.parent == SOURCE and path.name == "__init__.py":
        return
    room = path.relative_to(SOURCE).parts[0].removesuffix(".py")
    for module in imports(ast.parse(path.read_text())):
        assert floor(module) >= floor(room), f"{path} imports {module}, which stands above it"


def run_python(script: str) -> str:
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.strip()


def test_importing_adeu_loads_no_engine_and_no_framework():
    heavy = ["numba", "torch", "ray", "jax", "gymnasium", "matplotlib"]
    assert run_python(f"import adeu, sys; print([name for name in {heavy} if name in sys.modules])") == "[]"
    parts = "adeu.Explorer, adeu.Behavior, adeu.Rnd"
    heavy = ["numba", "torch", "ray", "matplotlib"]
    assert run_python(f"import adeu, sys; {parts}; print([n for n in {heavy} if n in sys.modules])") == "[]"


def test_environments_import_nothing_else_of_ours():
    loaded = run_python("import adeu.envs, sys; print(*[name for name in sys.modules if name.startswith('adeu')])")
    assert {"adeu", "adeu.envs", "adeu.envs.gym_frozen_lake"} <= set(loaded.split())
    assert all(name == "adeu" or name.startswith("adeu.envs") for name in loaded.split())
    assert run_python("import adeu.envs, sys; print('jax' in sys.modules)") == "False"
    for path in (SOURCE / "envs").glob("*.py"):
        assert all(module.startswith("adeu.envs") for module in imports(ast.parse(path.read_text())))


def test_environments_are_loaded_when_first_used():
    script = "import adeu, sys; before = 'adeu.envs' in sys.modules; adeu.envs.FrozenLake; print(before)"
    assert run_python(script) == "False"


def test_every_public_name_can_be_loaded():
    assert len(adeu.__all__) > 30
    for name in adeu.__all__:
        assert getattr(adeu, name) is not None
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = adeu.no_such_name


def classes():
    """Every public class, with the file that defines it."""
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                yield node, path


def names(tree: ast.AST):
    """Every name that code uses, strings and comments apart."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.alias):
            yield from node.name.split(".")


def test_loops_know_no_agent_by_name():
    """Outside its own file an agent's name stands in the list of exports and in experiments alone."""
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
    for loop in ("gym_loop", "vector_loop", "jax_loop", "player", "compiling"):
        used = set(names(ast.parse((SOURCE / "agents" / f"{loop}.py").read_text())))
        assert not used & {path.stem for path in own.values()}, f"{loop} imports an agent's module"


def test_every_file_has_a_name_of_its_own():
    found = [path.name for path in SOURCE.rglob("*.py") if path.name != "__init__.py"]
    assert sorted({name for name in found if found.count(name) > 1}) == []


def test_every_public_class_has_a_name_of_its_own():
    found = [node.name for node, _ in classes()]
    assert sorted({name for name in found if found.count(name) > 1}) == []


def test_the_tabular_forms_of_parts_are_named_so():
    tree = ast.parse((SOURCE / "tabular" / "lower.py").read_text())
    made = [
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) in ("f_forms", "decision_forms")
    ]
    assert len(set(made)) > 20
    assert all(name.endswith("Form") for name in made)


def test_the_citation_has_the_version_of_the_package():
    assert f"\nversion: {adeu.__version__}\n" in (ROOT / "CITATION.cff").read_text()
