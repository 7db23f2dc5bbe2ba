"""Runs as tasks on a Ray cluster, or on one that is started here and ends with the runs.

The cluster's nodes need not share a disk with the caller: tasks post their files to a mailbox beside the caller, who
alone writes to the run folders. So when a node dies, the last checkpoint is here, and another node goes on from it.
"""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import logging
import pathlib
import pickle
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
from adeu.runs.engines.task import Letter, Mailbox, task
from adeu.runs.folder import CHECKPOINT, Folder
from adeu.runs.sources import trainer_of
from adeu.runs.spec import Spec
from adeu.runs.work import checkpoint_seconds

PATIENCE_SECONDS = 0.5
"""How long to wait for letters before looking whether a task ended without one."""


def run(
    specs: Iterable[Spec],
    out: pathlib.Path,
    jobs: int | None = None,
    keep_open: tuple[int, ...] = (),
    address: str | None = None,
) -> Generator[Event]:
    """Works on the runs, `jobs` at once, and yields what happens. Closing the iterator stops them where they are.

    Args:
        specs: the runs; each goes on from its folder's checkpoint.
        out: the folder of all runs, on the caller's disk.
        jobs: how many at once; None: as many as the cluster has processors.
        keep_open: nothing here: no other process writes to the folders.
        address: of the cluster, as `ray.init` takes it; None: one is started here.
    """
    waiting = deque(_Run(spec, out, Folder(out / spec.name)) for spec in specs)
    if not waiting:
        return
    with _cluster(address, jobs):
        tasks = _Tasks()
        try:
            while waiting or tasks.under_way:
                while waiting and len(tasks.under_way) < (jobs or _processors()):
                    tasks.start(waiting.popleft())
                for one, event in tasks.listen():
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
    """Of its workers, since its last checkpoint."""


class _Tasks:
    """The runs that the cluster works on, by ticket: one for each attempt, so that the dead are not listened to."""

    def __init__(self) -> None:
        self.under_way: dict[int, tuple[_Run, Any]] = {}
        self._tickets = itertools.count()
        here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
        self._mailbox: Any = ray.remote(num_cpus=0)(Mailbox).options(scheduling_strategy=here).remote()
        environment = {"env_vars": threads.limit(1)}
        self._task = ray.remote(num_cpus=1, max_retries=0, max_calls=0, runtime_env=environment)(task)

    def start(self, one: _Run) -> None:
        ticket = next(self._tickets)
        trainer = pickle.dumps(trainer_of(one.spec, one.out))
        checkpoint = one.folder.read(CHECKPOINT)
        files = {} if checkpoint is None else {CHECKPOINT: checkpoint}
        end = self._task.remote(self._mailbox, ticket, trainer, files, checkpoint_seconds())
        self.under_way[ticket] = one, end

    def listen(self) -> Iterator[tuple[_Run, Event]]:
        """What happened since, or within a moment."""
        tickets = {end: ticket for ticket, (_, end) in self.under_way.items()}
        ended, _ = ray.wait(list(tickets), num_returns=len(tickets), timeout=0)
        letters = ray.get(self._mailbox.take.remote(0.0 if ended else PATIENCE_SECONDS))
        for letter in letters:
            if letter.ticket in self.under_way:
                yield from self._read(letter)
        for end in ended:  # all that these tasks posted was among the letters
            if tickets[end] in self.under_way:
                one, _ = self.under_way.pop(tickets[end])
                yield one, _outcome(one, end)

    def _read(self, letter: Letter) -> Iterator[tuple[_Run, Event]]:
        one, end = self.under_way[letter.ticket]
        if letter.progress:
            yield one, Event(one.spec, letter.progress)
            return
        try:
            if letter.content is None:
                one.folder.remove(letter.name)
            else:
                one.folder.write(letter.name, letter.content)
        except OSError as error:
            del self.under_way[letter.ticket]
            ray.cancel(end, force=True)
            yield one, Event(one.spec, failed=f"{type(error).__name__}: {error}")
        if letter.name == CHECKPOINT:
            one.deaths = 0

    def stop(self) -> None:
        for _, end in self.under_way.values():
            ray.cancel(end, force=True)
        ray.kill(self._mailbox)


def _outcome(one: _Run, end: Any) -> Event:
    """How a task ended."""
    try:
        failed = ray.get(end)
    except ray.exceptions.RayTaskError as error:
        failed = str(error).strip().splitlines()[-1]
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
    """The cluster that this process is connected to already, or a connection for the time being."""
    if ray.is_initialized():
        yield
        return
    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
    main = threading.current_thread() is threading.main_thread()
    terminate = signal.getsignal(signal.SIGTERM)
    try:
        if address is None:
            ray.init("local", num_cpus=jobs or cores(), include_dashboard=False, **quiet)
        else:
            ray.init(address, **quiet)
        if main:
            signal.signal(signal.SIGTERM, terminate)  # Ray has its own way to end, without stopping the runs
        ray._private.worker._worker_logs_enabled = False  # else a node's end fills standard output, --json's too
        yield
    except ConnectionError as error:
        raise ValueError(f"the ray engine: --address takes a running cluster's, got {address!r}: {error}") from None
    finally:
        ray.shutdown()
