"""The search path for modules in workers."""

from __future__ import annotations

import os
import sys


def search_path() -> list[str]:
    """Returns the search path of this process, for its workers.

    An empty entry, as in an interactive Python, means the working folder. It is moved to the end, so that files in it
    cannot shadow modules of Python or of packages.
    """
    return [*filter(None, sys.path), *([os.getcwd()] if "" in sys.path else [])]


def own_folders() -> list[str]:
    """Returns the search path without the folders of Python and its packages, which cluster nodes have themselves."""
    installed = tuple(os.path.join(prefix, "") for prefix in (sys.prefix, sys.base_prefix))
    return [folder for folder in search_path() if not folder.startswith(installed)]
