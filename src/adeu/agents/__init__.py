"""Agents in JAX that explore by a ~ D(pi(s), g(f(s))), each read in one sitting.

`dqn` is the DQN family in a compiled loop; `host` is a loop for any agent on a Gymnasium environment, `dqn_host` that
family in it; `networks` and `replay` are what they are made of.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
