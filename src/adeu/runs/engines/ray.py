"""Executes runs as tasks on a Ray cluster, or on a temporary one started on this machine.

The cluster's nodes need not share a disk with the caller: tasks send their files to an inbox on the caller's node,
and only the caller writes to the run folders. When a node dies, another node resumes its runs from the last
checkpoint in these folders.
"""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import logging
import pathlib
import signal
import threading
from collections import deque
from collections.abc import Generator, Iterable, Iterator
from typing import Any

import ray
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from adeu.core.cores import cores
from adeu.runs.engines import threads
from adeu.runs.engines.event import ATTEMPTS, Event
from adeu.runs.engines.search_path import own_folders
from adeu.runs.engines.task import Inbox, Message, task
from adeu.runs.engines.worker_job import explain
from adeu.runs.folder import CHECKPOINT, Folder
from adeu.runs.sources import job_of
from adeu.runs.spec import Spec

PATIENCE_SECONDS = 0.5
"""The time to wait for messages before checking for tasks that ended without one."""


def run(
    specs: Iterable[Spec],
    out: pathlib.Path,
    jobs: int | None = None,
    keep_open: tuple[int, ...] = (),
    address: str | None = None,
) -> Generator[Event]:
    """Executes the runs, `jobs` at once, and yields events. Closing the generator stops the runs.

    Args:
        specs: the runs; each resumes from its folder's checkpoint.
        out: the root folder of all runs, on the caller's disk.
        jobs: the number of parallel runs; the default is the number of the cluster's processors.
        keep_open: unused, because no other process writes to the folders.
        address: the address of the cluster for `ray.init`; by default a cluster is started on this machine.
    """
    waiting = deque(_Run(spec, out, Folder(out / spec.name, out)) for spec in specs)
    if not waiting:
        return
    with _cluster(address, jobs):
        tasks = _Tasks()
        try:
            while waiting or tasks.under_way:
                while waiting and len(tasks.under_way) < (jobs or _processors()):
                    one = waiting.popleft()
                    try:
                        tasks.start(one)
                    except Exception as error:  # raised by its trainer, its source or its checkpoint
                        yield Event(one.spec, failed=explain(error))
                for one, event in tasks.listen() if tasks.under_way else ():
                    if event.retried:
                        waiting.append(one)
                    yield event
        finally:
            tasks.stop()


@dataclasses.dataclass
class _Run:
    spec: Spec
    out: pathlib.Path
    folder: Folder
    deaths: int = 0
    """The number of its workers that died since its last checkpoint."""


class _Tasks:
    """The runs in progress on the cluster, by attempt; messages of abandoned attempts are ignored."""

    def __init__(self) -> None:
        self.under_way: dict[int, tuple[_Run, Any]] = {}
        self._attempts = itertools.count()
        here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
        self._inbox: Any = ray.remote(num_cpus=0)(Inbox).options(scheduling_strategy=here).remote()
        environment = {"env_vars": threads.limit(1)}
        options: Any = {"num_cpus": 1, "max_retries": 0, "runtime_env": environment}
        self._tasks = {alone: ray.remote(**options, max_calls=int(alone))(task) for alone in (False, True)}

    def start(self, one: _Run) -> None:
        job, checkpoint = job_of(one.spec, one.out), one.folder.read(CHECKPOINT)
        files = {} if checkpoint is None else {CHECKPOINT: checkpoint}
        attempt = next(self._attempts)
        self.under_way[attempt] = one, self._tasks[job.alone].remote(self._inbox, attempt, job, files, own_folders())

    def listen(self) -> Iterator[tuple[_Run, Event]]:
        """Yields the events since the last call; waits briefly for the first."""
        attempts = {end: attempt for attempt, (_, end) in self.under_way.items()}
        ended, _ = ray.wait(list(attempts), num_returns=len(attempts), timeout=0)
        for message in ray.get(self._inbox.take.remote(0.0 if ended else PATIENCE_SECONDS)):
            if message.attempt in self.under_way:
                yield from self._read(message)
        for end in ended:  # all their messages have arrived
            if attempts[end] in self.under_way:
                one, _ = self.under_way.pop(attempts[end])
                yield one, _outcome(one, end)

    def _read(self, message: Message) -> Iterator[tuple[_Run, Event]]:
        one, end = self.under_way[message.attempt]
        if message.progress:
            yield one, Event(one.spec, message.progress)
            return
        try:
            if message.content is None:
                one.folder.remove(message.name)
            else:
                one.folder.write(message.name, message.content)
        except (OSError, ValueError) as error:
            del self.under_way[message.attempt]
            ray.cancel(end, force=True)
            yield one, Event(one.spec, failed=f"{type(error).__name__}: {error}")
        if message.name == CHECKPOINT:
            one.deaths = 0

    def stop(self) -> None:
        for _, end in self.under_way.values():
            ray.cancel(end, force=True)
        ray.kill(self._inbox)


def _outcome(one: _Run, end: Any) -> Event:
    """Returns the event for a task that ended."""
    try:
        failed = ray.get(end)
    except ray.exceptions.RayTaskError as error:
        failed = explain(error)
    except ray.exceptions.RayError as error:
        one.deaths += 1
        died = f"its worker died ({type(error).__name__}: {str(error).strip().splitlines()[0]})"
        if one.deaths < ATTEMPTS:
            return Event(one.spec, retried=died)
        failed = f"{died}, {one.deaths} times"
    return Event(one.spec, failed=failed) if failed else Event(one.spec, finished=True)


def _processors() -> int:
    return max(1, int(ray.cluster_resources().get("CPU", 0)))  # type: ignore[no-untyped-call]


@contextlib.contextmanager
def _cluster(address: str | None, jobs: int | None) -> Iterator[None]:
    """Uses the cluster that this process is already connected to, or connects temporarily."""
    if ray.is_initialized():
        yield
        return
    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
    main = threading.current_thread() is threading.main_thread()
    terminate = signal.getsignal(signal.SIGTERM)
    try:
        with contextlib.chdir("/"):  # Ray puts the working folder first on the search path of its workers
            if address is None:
                ray.init("local", num_cpus=jobs or cores(), include_dashboard=False, **quiet)
            else:
                ray.init(address, **quiet)
        if main:
            signal.signal(signal.SIGTERM, terminate)  # Ray's own handler would exit without stopping the runs
        ray._private.worker._worker_logs_enabled = False  # else a dying node prints to stdout, even with --json
        yield
    except ConnectionError as error:
        raise ValueError(
            f"the ray engine: --address takes the address of a running cluster, got {address!r}: {error}"
        ) from None
    finally:
        ray.shutdown()
