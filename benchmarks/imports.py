"""Measure the time of `import adeu` relative to its dependencies, and of the command line relative to `import jax`.

    python benchmarks/imports.py

Each statement runs in a new interpreter, in turns; the medians of CPU time are compared.
"""

from __future__ import annotations

import resource
import subprocess
import sys

import numpy as np

ROUNDS = 7
COMMAND = "import sys; sys.argv = ['adeu', {!r}]; from adeu.cli import main; main()"
STATEMENTS = {
    "import jax": "import jax",
    "import jax, equinox": "import jax, equinox",
    "import adeu": "import adeu",
    "adeu and its parts": "import adeu; adeu.Behavior, adeu.Explorer, adeu.Rnd, adeu.Gaussian",
    **{f"adeu {word}": COMMAND.format(word) for word in ("--help", "--version", "list")},
}
AIMS = {"adeu and its parts": ("import jax, equinox", 1.3)} | {
    f"adeu {word}": ("import jax", 0.4) for word in ("--help", "--version", "list")
}
"""By statement: the statement it is compared with, and the largest acceptable ratio."""


def cpu_seconds(statement: str) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", statement], check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    times: dict[str, list[float]] = {name: [] for name in STATEMENTS}
    for _ in range(ROUNDS):
        for name, statement in STATEMENTS.items():
            times[name].append(cpu_seconds(statement))
    medians = {name: float(np.median(values)) for name, values in times.items()}
    for name, seconds in medians.items():
        reference, aim = AIMS.get(name, ("", 0.0))
        ratio = f"   {seconds / medians[reference]:.2f} of {reference} (aim <= {aim})" if reference else ""
        print(f"{name:20s} {seconds:5.2f} s{ratio}")


if __name__ == "__main__":
    main()
