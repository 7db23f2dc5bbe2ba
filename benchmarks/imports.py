"""What `import adeu` costs, beside what it stands on.

    python benchmarks/imports.py

Each line is timed in a fresh interpreter, in turn, and the medians are compared.
"""

from __future__ import annotations

import subprocess
import sys
import time

import numpy as np

ROUNDS = 7
STATEMENTS = {
    "jax, equinox": "import jax, equinox",
    "adeu": "import adeu",
    "adeu and its parts": "import adeu; adeu.Behavior, adeu.Explorer, adeu.Rnd, adeu.Gaussian",
}


def main() -> None:
    times: dict[str, list[float]] = {name: [] for name in STATEMENTS}
    for _ in range(ROUNDS):
        for name, statement in STATEMENTS.items():
            start = time.perf_counter()
            subprocess.run([sys.executable, "-c", statement], check=True)
            times[name].append(time.perf_counter() - start)
    reference = np.median(times["jax, equinox"])
    for name, values in times.items():
        print(
            f"import {name:20s} {np.median(values):5.2f} s   ratio {np.median(values) / reference:.2f}   (aim <= 1.3)"
        )


if __name__ == "__main__":
    main()
