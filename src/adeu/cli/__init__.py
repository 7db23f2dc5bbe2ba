"""The command line: `adeu list`, `adeu run`, `adeu train`, `adeu plot`, `adeu report`, `adeu suggest`.

It installs its Ctrl-C handler before most imports: an interrupted import would print a traceback.
"""

from __future__ import annotations

import functools
import importlib
import os
import signal
import sys
import warnings
from typing import Any

import adeu

INTERRUPTED = 130
NUMBA = ("NUMBA_CACHE_DIR", "NUMBA_CACHE_LOCATOR_CLASSES", "NUMBA_CHROME_TRACE", "NUMBA_CUDA_DRIVER")
"""Variables that numba would otherwise read from .numba_config.yaml in the working folder."""


def main() -> None:
    """Runs a command; exits with 0 on success, 1 after an error, 2 for bad arguments, 130 after Ctrl-C."""
    _on_interrupt(lambda *_: os._exit(INTERRUPTED))
    sys.path[:] = filter(None, sys.path)  # `python -c` would search the working folder
    os.environ |= {name: os.environ.get(name, "") for name in NUMBA}
    if sys.argv[1:] == ["--version"]:
        print(adeu.__version__)
        sys.exit()
    from rich.console import Console

    from adeu.cli.commands import read_command
    from adeu.runs.names import printable

    command, errors = read_command(), Console(stderr=True, highlight=False)
    module = importlib.import_module(command.module)

    @functools.cache  # print each warning once
    def warn(text: str) -> None:
        errors.print(printable(text), style="yellow", markup=False, soft_wrap=True)

    warnings.showwarning = lambda message, *_: warn(str(message))
    _on_interrupt(signal.default_int_handler)
    try:
        sys.exit(module.main(command))
    except (ValueError, TypeError, OSError) as error:
        errors.print(printable(f"adeu: {error}"), style="red", markup=False, soft_wrap=True)
        sys.exit(1)
    except KeyboardInterrupt:
        errors.print("\nInterrupted. Complete runs are kept; run the same command to resume.")
        sys.exit(INTERRUPTED)


def _on_interrupt(handler: Any) -> None:
    """Handles Ctrl-C and SIGTERM alike; an ignored signal stays ignored."""
    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, handler)
