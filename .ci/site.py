"""Build the documentation in site/, with warnings as errors.

The pages in docs/ are also readable as plain files on a code host. For the site, names in reference pages are
replaced by their docstrings, and notebooks are converted to Markdown pages.
"""

import base64
import json
import pathlib
import re
import shutil
import subprocess
import sys

PAGES = pathlib.Path("build/docs")


def main() -> None:
    shutil.rmtree(PAGES, ignore_errors=True)
    shutil.copytree("docs", PAGES)
    for notebook in PAGES.rglob("*.ipynb"):
        notebook.with_suffix(".md").write_text(as_page(notebook))
    for page in PAGES.rglob("*.md"):
        text = re.sub(r"^- \[`(adeu[\w.]+)`\]\(.*\)$", as_docstring, page.read_text(), flags=re.MULTILINE)
        page.write_text(re.sub(r"\.ipynb\)", ".md)", text))
    build = [pathlib.Path(sys.executable).with_name("zensical"), "build", "--strict", "--clean"]
    built = subprocess.run(build, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if built.returncode or "griffe:" in built.stdout:  # strict mode ignores griffe's warnings about docstrings
        sys.exit(built.stdout)


def as_docstring(name: re.Match[str]) -> str:
    """Return the mkdocstrings directive for a name; if a module and its function share it, use the function."""
    path = name[1]
    hidden = pathlib.Path("src", *path.split(".")).with_suffix(".py").exists()
    return f"::: {path}.{path.rpartition('.')[2]}" if hidden else f"::: {path}"


def as_page(notebook: pathlib.Path) -> str:
    """Return a notebook's Markdown, code and outputs; write its images to files beside it."""
    blocks = []
    for number, cell in enumerate(json.loads(notebook.read_text())["cells"]):
        source = "".join(cell["source"])
        blocks.append(source if cell["cell_type"] == "markdown" else f"```python\n{source}\n```")
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            if "image/png" in data:
                picture = notebook.with_name(f"{notebook.stem}-{number}.png")
                picture.write_bytes(base64.b64decode(data["image/png"]))
                blocks.append(f"![Output of the cell]({picture.name})")
            else:
                text = "".join(output.get("text", data.get("text/plain", [])))
                blocks.append(f"```text\n{text.rstrip()}\n```")
    return "\n\n".join(blocks) + "\n"


if __name__ == "__main__":
    main()
