"""Every Python snippet in the README and the docs runs, and links and lists of pages and names are complete."""

import importlib
import pathlib
import re
import runpy
import sys

import pytest
import yaml

ROOT = pathlib.Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
SHORT = {
    "stuck_sb3.py": ["--seeds", "0", "--steps", "600"],
    "torch_td3.py": ["--steps", "1210"],
}
LONG = ["stuck_sb3.py"]


def snippets(page: pathlib.Path) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```$", page.read_text(), flags=re.MULTILINE | re.DOTALL)


@pytest.mark.docs
@pytest.mark.parametrize("page", [page for page in PAGES[1:] if snippets(page)], ids=lambda page: page.name)
def test_snippets_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    script = tmp_path / f"{page.stem}.py"
    script.write_text("\n".join(snippets(page)))
    runpy.run_path(str(script))


def test_the_readme_shows_a_low_spread_in_visited_states_and_a_high_one_in_others(tmp_path, capsys):
    readme = ROOT / "README.md"
    (tmp_path / "readme.py").write_text("\n".join(snippets(readme)))
    runpy.run_path(str(tmp_path / "readme.py"))
    printed = re.findall(r"(in the valley|on the hill) +(\d\.\d\d)", capsys.readouterr().out)
    assert [place for place, _ in printed] == ["in the valley", "on the hill"]
    valley, hill = (float(spread) for _, spread in printed)
    assert valley < 0.3 < 0.45 < hill < 0.5
    for place, spread in printed:
        assert f"    {place:13} {spread}\n" in readme.read_text()


def test_the_pages_have_snippets():
    assert sum(bool(snippets(page)) for page in PAGES) >= 6


@pytest.mark.docs
@pytest.mark.parametrize(
    "example",
    [pytest.param(path, id=path.name, marks=[pytest.mark.slow] * (path.name in LONG)) for path in EXAMPLES],
)
def test_examples_run(example, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [str(example), *SHORT.get(example.name, [])])
    runpy.run_path(str(example), run_name="__main__")
    assert capsys.readouterr().out
    if example.name in ("stuck_sb3.py", "tiny_lake.py"):
        assert list(tmp_path.rglob("*.png"))


@pytest.mark.parametrize("name", ["numpy_q.py", "torch_td3.py"])
def test_complete_agents_are_short_with_three_marked_lines(name):
    text = (ROOT / "examples" / name).read_text()
    assert len(text.splitlines()) < 120
    assert text.count("  # adeu\n") == 3


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_are_valid(page):
    for link in re.findall(r"\]\(([^)#\s]+)", page.read_text()):
        assert link.startswith("https://") or (page.parent / link).exists(), f"{page.name}: {link}"


def places(entry):
    """Return every page below an entry of the navigation."""
    if isinstance(entry, str):
        return [entry]
    return [place for each in (entry.values() if isinstance(entry, dict) else entry) for place in places(each)]


def test_the_navigation_has_every_page_and_notebook_once():
    pages = [
        path.relative_to(DOCS).with_suffix(".md") for path in DOCS.rglob("*") if path.suffix in (".md", ".ipynb")
    ]
    assert sorted(places(yaml.safe_load((ROOT / "mkdocs.yml").read_text())["nav"])) == sorted(map(str, pages))


def test_pages_have_no_directives():
    assert [page.name for page in PAGES if re.search("^:::", page.read_text(), flags=re.MULTILINE)] == []


@pytest.mark.parametrize("package", ["adeu", "adeu.agents", "adeu.runs", "adeu.tabular", "adeu.theory"])
def test_the_reference_has_every_public_name_once(package):
    listed = re.findall(
        r"^- \[`([\w.]+)`\]", "".join(page.read_text() for page in DOCS.glob("reference/*.md")), re.MULTILINE
    )
    module = importlib.import_module(package)
    names = [f"{package}.{name}" for name in module.__all__ if not isinstance(getattr(module, name), type(module))]
    assert [name for name in names if listed.count(name) != 1] == []
