"""Executes resumable runs in folders, and computes statistics over their results.

`spec` describes a run, and `trainers` train it. `work` executes one run in its `folder`, `sweep` executes many with
one of the `engines`. `load` reads results, `statistics` compares them.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
