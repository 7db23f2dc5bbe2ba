"""Run the command line in the process of the test, to avoid importing JAX again for each command."""

import contextlib
import io
import os
import subprocess
import sys
import warnings
from unittest import mock

import pytest

from adeu import cli


def run_here(*arguments):
    """Run `adeu` with these arguments and undo its changes to this process."""
    line, out, errors = ["adeu", *map(str, arguments)], io.StringIO(), io.StringIO()
    with (
        mock.patch.object(sys, "argv", line),
        mock.patch.object(sys, "path", list(sys.path)),
        mock.patch.object(cli, "_on_interrupt"),
        mock.patch.dict(os.environ),
        warnings.catch_warnings(action="default"),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(errors),
        pytest.raises(SystemExit) as ended,
    ):
        cli.main()
    return subprocess.CompletedProcess(line, ended.value.code or 0, out.getvalue(), errors.getvalue())
