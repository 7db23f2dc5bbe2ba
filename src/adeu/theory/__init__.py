"""The games of Theorem 1, tests of its claims about an agent, and Theorem 2.

`increasing` and `sparse` check whether a game has increasing rewards, `generate` samples such games, `theorem` and
`hyper` measure an agent. `game` reads the arrays of any deterministic MDP; `returns` checks whether the action with
the highest reward also has the highest return. `treasure` computes Theorem 2.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
