"""Executes runs in worker processes on this machine, several at once.

Each worker has a thread in this process, which sends it one run at a time and forwards its messages. If a worker
dies, its run is tried once more in a new worker; other workers are not affected.
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
import threading
from collections import deque
from collections.abc import Generator, Iterable
from typing import IO, Any

from adeu.core.cores import cores
from adeu.runs.engines import threads as limits
from adeu.runs.engines.event import ATTEMPTS, Event
from adeu.runs.engines.search_path import search_path
from adeu.runs.engines.worker_job import explain
from adeu.runs.sources import job_of
from adeu.runs.spec import Spec
from adeu.runs.work import Progress

START = "import sys; sys.path[:] = sys.argv[1:]; from adeu.runs.engines.worker import main; main()"
"""Sets the search path after Python has started, so that no sitecustomize in these folders runs."""
PRINTED = 10_000
"""The most bytes kept of a worker's output."""
PATIENCE_SECONDS = 1.0
"""The time to wait for a dead worker's last output; its child processes may hold the pipe open."""


def run(
    specs: Iterable[Spec], out: pathlib.Path, jobs: int | None = None, keep_open: tuple[int, ...] = ()
) -> Generator[Event]:
    """Executes the runs, `jobs` at once, and yields events. Closing the generator stops the runs.

    Args:
        specs: the runs; each resumes from its folder's checkpoint.
        out: the root folder of all runs.
        jobs: the number of workers, which share the cores; the default is one per core. The number of threads per
            worker does not depend on the number of runs, because it affects the last digits of results: a resumed run
            gives the same result.
        keep_open: file descriptors that workers keep open.
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
            try:
                job = job_of(spec, out)
            except Exception as error:  # raised by its trainer or its source
                events.put(Event(spec, failed=explain(error)))
            else:
                _try(worker, spec, pickle.dumps((str(out / spec.name), str(out), job)), events)
                if job.alone:
                    worker.close()
        events.put(None)
    except BaseException as error:
        events.put(error)
    finally:
        worker.close()


def _try(worker: _Worker, spec: Spec, task: bytes, events: queue.Queue[Any]) -> None:
    """Retries a run if its worker dies."""
    for attempt in range(1, ATTEMPTS + 1):
        died = _converse(worker, spec, task, events)
        if not died or worker.stopped:
            break
        last = attempt == ATTEMPTS
        events.put(Event(spec, failed=f"{died}, {attempt} times") if last else Event(spec, retried=died))


def _converse(worker: _Worker, spec: Spec, task: bytes, events: queue.Queue[Any]) -> str:
    """Sends the run and forwards the worker's messages; returns the cause if the worker died, else ''."""
    with contextlib.suppress(BrokenPipeError):
        worker.send(task)
        while message := worker.receive():
            if "finished" in message:
                events.put(Event(spec, finished=True))
                return ""
            if "failed" in message:
                events.put(Event(spec, failed=message["failed"]))
                return ""
            events.put(Event(spec, Progress(**message)))
    return worker.cause_of_death()


class _Worker:
    """A process that is started on first use, and restarted after it died.

    Other threads than its own may only call `stop`.
    """

    def __init__(self, threads: int, keep_open: tuple[int, ...]) -> None:
        self.stopped = False
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._keep_open = keep_open
        self._environment = os.environ | limits.limit(threads)

    def send(self, task: bytes) -> None:
        with self._lock:
            if self._process is None and not self.stopped:
                self._process = subprocess.Popen(
                    [sys.executable, "-P", "-c", START, *search_path()],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    env=self._environment,
                    pass_fds=self._keep_open,
                )
                self._printed = _Tail(self._process.stderr)  # type: ignore[arg-type]
        if self._process is None:
            raise BrokenPipeError
        self._process.stdin.write(task)  # type: ignore[union-attr]
        self._process.stdin.flush()  # type: ignore[union-attr]

    def receive(self) -> dict[str, Any] | None:
        """Returns the next message, or None if the process has ended."""
        line = self._process.stdout.readline()  # type: ignore[union-attr]
        return json.loads(line) if line.endswith(b"\n") else None

    def cause_of_death(self) -> str:
        """Returns how the process ended, with the last line it printed."""
        if self._process is None:
            return "its worker was stopped"
        code = self._process.wait()
        words = self._printed.text().strip().splitlines()[-1:]
        self.close()
        how = f"ended with code {code}" if code >= 0 else f"was killed by {_signal_name(-code)}"
        return ": ".join([f"its worker {how}" + " (out of memory?)" * (code == -signal.SIGKILL), *words])

    def stop(self) -> None:
        """Kills the process and prevents a restart; a blocked `receive` returns None."""
        with self._lock:
            self.stopped = True
            if self._process:
                self._process.kill()

    def close(self) -> None:
        """Closes the process's input, which ends it, and waits for its end."""
        if self._process:
            with contextlib.suppress(BrokenPipeError):
                self._process.stdin.close()  # type: ignore[union-attr]
            self._process.stdout.close()  # type: ignore[union-attr]
            self._process.wait()
            self._process = None


class _Tail(threading.Thread):
    """Reads a stream to its end and keeps only the tail, so that output fills neither memory nor disk."""

    def __init__(self, stream: IO[bytes]) -> None:
        super().__init__(daemon=True)
        self._stream, self._kept = stream, b""
        self.start()

    def run(self) -> None:
        with self._stream:
            while chunk := os.read(self._stream.fileno(), PRINTED):
                self._kept = (self._kept + chunk)[-PRINTED:]

    def text(self) -> str:
        self.join(PATIENCE_SECONDS)
        return self._kept.decode(errors="replace")


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # a real-time signal has no name
        return f"signal {number}"
