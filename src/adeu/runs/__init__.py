"""Runs in folders: specs as data, resumable runs, engines that run them, statistics.

`spec` says what to run and `trainer` what a run needs of an agent; `work` does one run in its `folder`, `sweep` does
many of them with one of the `engines`; `load` reads them back and `statistics` compares them.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
