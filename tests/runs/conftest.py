"""An engine without workers that a test can interrupt."""

import importlib

import pytest

from adeu.runs.engines.event import Event
from adeu.runs.engines.worker_job import explain, perform
from adeu.runs.folder import Folder
from adeu.runs.sources import job_of


class StoppedError(Exception):
    pass


@pytest.fixture
def in_process(monkeypatch):
    """Run without workers; return options, of which `stop` is the number of reports before a run is interrupted."""
    options = {"stop": None}

    def run(specs, out, jobs, locks):
        for spec in specs:
            told = []

            def tell(progress, told=told):
                told.append(progress)
                if options["stop"] is not None and len(told) > options["stop"]:
                    raise StoppedError

            try:
                perform(job_of(spec, out), Folder(out / spec.name, out), tell)
                yield Event(spec, finished=True)
            except Exception as error:
                yield Event(spec, failed=explain(error))

    monkeypatch.setattr(importlib.import_module("adeu.runs.sweep"), "_engine", lambda name, address: run)
    monkeypatch.setenv("ADEU_CHECKPOINT_SECONDS", "0")
    monkeypatch.setattr("adeu.runs.work.TELL_SECONDS", 0)
    return options
