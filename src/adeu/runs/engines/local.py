"""Runs in worker processes of this machine, several at once.

Each worker is served by a thread here, which hands it one run after the other and passes on what it tells. A worker
that dies takes nobody with it: its run is tried once more, in a new one.
"""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import pickle
import queue
import signal
import subprocess
import sys
import tempfile
import threading
from collections import deque
from collections.abc import Generator, Iterable
from typing import Any

from adeu.core.cores import cores
from adeu.runs.engines import threads as limits
from adeu.runs.engines.event import ATTEMPTS, Event
from adeu.runs.sources import trainer_of
from adeu.runs.spec import Spec
from adeu.runs.work import Progress, checkpoint_seconds


def run(
    specs: Iterable[Spec], out: pathlib.Path, jobs: int | None = None, keep_open: tuple[int, ...] = ()
) -> Generator[Event]:
    """Works on the runs, `jobs` at once, and yields what happens. Closing the iterator stops them where they are.

    Args:
        specs: the runs; each goes on from its folder's checkpoint.
        out: the folder of all runs.
        jobs: how many workers, which share the cores; None: one per core. A worker's threads do not depend on how
            many runs there are, since a run's last digits depend on them: the last to go on ends as it would have.
        keep_open: file descriptors that live as long as any worker does.
    """
    waiting, events = deque(specs), queue.Queue[Event | BaseException | None]()
    jobs = jobs or cores()
    share = max(1, cores() // jobs)
    workers = [_Worker(share, keep_open) for _ in range(min(jobs, len(waiting)))]
    threads = [
        threading.Thread(target=_serve, args=(worker, waiting, out, events), daemon=True) for worker in workers
    ]
    for thread in threads:
        thread.start()
    try:
        serving = len(workers)
        while serving:
            event = events.get()
            if isinstance(event, BaseException):
                raise event
            if event is None:
                serving -= 1
            else:
                yield event
    finally:
        waiting.clear()
        for worker in workers:
            worker.stop()
        for thread in threads:
            thread.join()


def _serve(worker: _Worker, waiting: deque[Spec], out: pathlib.Path, events: queue.Queue[Any]) -> None:
    try:
        while waiting:
            try:
                spec = waiting.popleft()
            except IndexError:
                break
            for attempt in range(1, ATTEMPTS + 1):
                died = _converse(worker, spec, out, events)
                if not died or worker.stopped:
                    break
                last = attempt == ATTEMPTS
                events.put(Event(spec, failed=f"{died}, {attempt} times") if last else Event(spec, retried=died))
        events.put(None)
    except BaseException as error:
        events.put(error)
    finally:
        worker.close()


def _converse(worker: _Worker, spec: Spec, out: pathlib.Path, events: queue.Queue[Any]) -> str:
    """Hands the run over and passes on what the worker tells; returns how the worker died, if it did."""
    try:
        worker.send((str(out / spec.name), trainer_of(spec, out), checkpoint_seconds()))
        while message := worker.receive():
            if "finished" in message:
                events.put(Event(spec, finished=True))
                return ""
            if "failed" in message:
                events.put(Event(spec, failed=message["failed"]))
                return ""
            events.put(Event(spec, Progress(**message)))
    except BrokenPipeError:
        pass
    return worker.obituary()


class _Worker:
    """A process that is started when it is first needed, and again after it died.

    All but `stop` is for the one thread that serves it.
    """

    def __init__(self, threads: int, keep_open: tuple[int, ...]) -> None:
        self.stopped = False
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._keep_open = keep_open
        search = {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        self._environment = os.environ | limits.limit(threads) | search

    def send(self, task: Any) -> None:
        with self._lock:
            if self._process is None and not self.stopped:
                self._errors = tempfile.TemporaryFile()  # noqa: SIM115
                self._process = subprocess.Popen(
                    [sys.executable, "-m", "adeu.runs.engines.worker"],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=self._errors,
                    env=self._environment,
                    pass_fds=self._keep_open,
                )
        if self._process is None:
            raise BrokenPipeError
        pickle.dump(task, self._process.stdin)  # type: ignore[arg-type]
        self._process.stdin.flush()  # type: ignore[union-attr]

    def receive(self) -> dict[str, Any] | None:
        """The next message, None when the process is gone."""
        line = self._process.stdout.readline()  # type: ignore[union-attr]
        return json.loads(line) if line.endswith(b"\n") else None

    def obituary(self) -> str:
        """How the process died, and the last it said."""
        if self._process is None:
            return "its worker was stopped"
        code = self._process.wait()
        self._errors.seek(0)
        words = self._errors.read().decode(errors="replace").strip().splitlines()[-1:]
        self.close()
        how = f"ended with code {code}" if code >= 0 else f"was killed by {signal.Signals(-code).name}"
        return ": ".join([f"its worker {how}" + " (out of memory?)" * (code == -signal.SIGKILL), *words])

    def stop(self) -> None:
        """Ends the process, for good: whoever listens to it hears the end."""
        with self._lock:
            self.stopped = True
            if self._process:
                self._process.kill()

    def close(self) -> None:
        """Lets the process end: it does when its input closes."""
        if self._process:
            with contextlib.suppress(BrokenPipeError):
                self._process.stdin.close()  # type: ignore[union-attr]
            self._process.stdout.close()  # type: ignore[union-attr]
            self._process.wait()
            self._errors.close()
            self._process = None
