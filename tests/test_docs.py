"""Every Python snippet of the README and the docs runs, page by page, as a reader would run it."""

import pathlib
import re
import runpy

import pytest

ROOT = pathlib.Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


def snippets(page: pathlib.Path) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```$", page.read_text(), flags=re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", [page for page in PAGES if snippets(page)], ids=lambda page: page.name)
def test_snippets_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    script = tmp_path / f"{page.stem}.py"
    script.write_text("\n".join(snippets(page)))
    runpy.run_path(str(script))


def test_the_pages_have_snippets():
    assert sum(bool(snippets(page)) for page in PAGES) >= 6


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_examples_run(example, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(example), run_name="__main__")
    assert capsys.readouterr().out
    assert list(tmp_path.rglob("*.png"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for link in re.findall(r"\]\(([^)#\s]+)", page.read_text()):
        assert link.startswith("https://") or (page.parent / link).exists(), f"{page.name}: {link}"
