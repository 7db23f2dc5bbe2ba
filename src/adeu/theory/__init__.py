"""The games that Theorem 1 is about and what it claims of an agent in them; and Theorem 2.

`increasing` and `sparse` say whether a game is of that kind, `generate` draws games that are, `theorem` measures an
agent. `game` reads the arrays of any deterministic MDP; `returns` says where the best-paid action is also the best.
`treasure` is Theorem 2.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
