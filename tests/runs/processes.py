"""The command line in a session of its own, as a terminal would start it, and what runs in that session."""

import os
import pathlib
import subprocess
import sys
import time


def start(*arguments, out, checkpoint_seconds=0.1):
    """Starts `adeu run`; `said` knows what it puts on the screen."""
    command = [sys.executable, "-c", "from adeu.cli import main; main()", "run", *arguments, "--out", str(out)]
    environment = os.environ | {"ADEU_CHECKPOINT_SECONDS": str(checkpoint_seconds), "COLUMNS": "200"}
    with open(screen(out), "wb") as file:
        return subprocess.Popen(command, env=environment, stdout=file, stderr=file, start_new_session=True)


def screen(out):
    return pathlib.Path(f"{out}.txt")


def said(out):
    return screen(out).read_text()


def members(session):
    """The processes of a session that have not ended, with their command lines."""
    found = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            stat = pathlib.Path("/proc", name, "stat").read_text()
            line = pathlib.Path("/proc", name, "cmdline").read_text()
        except (ProcessLookupError, FileNotFoundError):
            continue
        state, _, _, own = stat.rpartition(")")[2].split()[:4]
        if int(own) == session and state != "Z":
            found[int(name)] = line
    return found


def workers(process):
    return {pid for pid, line in members(process.pid).items() if "adeu.runs.engines.worker" in line}


def wait_until(condition, process=None):
    """Waits for what must come about, as long as the process runs."""
    while not (value := condition()):
        assert process is None or process.poll() is None, "it ended before"
        time.sleep(0.02)
    return value
