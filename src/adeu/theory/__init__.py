"""The games of Theorem 1, its claims about an agent in them, and Theorem 2.

`increasing` and `sparse` check whether a game is of that kind, `generate` draws such games, `theorem` measures an
agent. `game` reads the arrays of any deterministic MDP; `returns` says where the action with the highest
reward also has the highest return. `treasure` is Theorem 2.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
