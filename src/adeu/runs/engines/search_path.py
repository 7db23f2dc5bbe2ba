"""Where workers look for modules."""

from __future__ import annotations

import os
import sys


def search_path() -> list[str]:
    """The folders that this process searches, for its workers.

    An empty entry, which an interactive Python has, is the working folder. It comes last, so that no file in it can
    shadow a module of Python or of a package.
    """
    return [*filter(None, sys.path), *([os.getcwd()] if "" in sys.path else [])]


def own_folders() -> list[str]:
    """The folders except those of Python and its packages, which a node of a cluster has itself."""
    installed = tuple(os.path.join(prefix, "") for prefix in (sys.prefix, sys.base_prefix))
    return [folder for folder in search_path() if not folder.startswith(installed)]
