"""Where workers look for modules."""

from __future__ import annotations

import os
import sys


def search_path(installed: bool = True) -> str:
    """The folders that this process searches, for a worker's PYTHONPATH.

    An empty entry, which an interactive Python has, is the working folder. It comes last: no file in it can stand in
    for a module of Python or of a package.

    Args:
        installed: whether the folders of Python and its packages are among them; a node of a cluster has its own.
    """
    folders = [folder for folder in sys.path if folder and os.pathsep not in folder]
    if not installed:
        roots = tuple(os.path.join(prefix, "") for prefix in (sys.prefix, sys.base_prefix))
        folders = [folder for folder in folders if not folder.startswith(roots)]
    return os.pathsep.join([*folders, *([os.getcwd()] if "" in sys.path else [])])
