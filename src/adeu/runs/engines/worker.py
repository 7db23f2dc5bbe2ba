"""A worker process: reads runs from standard input, one at a time, and reports on standard output.

When standard input closes, for example because the parent process ended, the worker exits at once, even during a run.
"""

from __future__ import annotations

import json
import os
import pathlib
import pickle
import queue
import signal
import sys
import threading
import traceback
from typing import Any, BinaryIO

from adeu.runs.engines.worker_job import explain, perform
from adeu.runs.folder import Folder
from adeu.runs.work import Progress


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches every process of a terminal; the parent handles it
    out = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # print to stderr, because stdout is for messages
    tasks: queue.Queue[Any] = queue.Queue()
    threading.Thread(target=_listen, args=(sys.stdin.buffer, tasks), daemon=True).start()

    def tell(message: dict[str, Any]) -> None:
        out.write(json.dumps(message) + "\n")

    while True:
        folder, runs, job = tasks.get()
        try:
            store = Folder(pathlib.Path(folder), pathlib.Path(runs))
            perform(job, store, lambda progress: tell(_message(progress)))
        except BaseException as error:  # an environment may call sys.exit()
            tell({"failed": explain(error)})
        else:
            tell({"finished": True})


def _message(progress: Progress) -> dict[str, Any]:
    return progress._asdict() | {"row": dict(progress.row)}


def _listen(source: BinaryIO, tasks: queue.Queue[Any]) -> None:
    code = 1
    try:
        while True:
            tasks.put(pickle.load(source))
    except EOFError:
        code = 0
    except BaseException:  # a message that was truncated because the sender ended
        traceback.print_exc()
    finally:
        os._exit(code)  # even if stderr is closed


if __name__ == "__main__":
    main()
