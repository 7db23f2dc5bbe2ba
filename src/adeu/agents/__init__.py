"""Agents in JAX that explore by a ~ D(pi(s), g(f(s))), each read in one sitting.

`dqn` and `td3` are agents as pure functions. `scan` is a compiled loop for environments in JAX, `host` a loop for
Gymnasium's, with `dqn_host` and `td3_host` for it; `networks`, `actor_critic`, `replay` and `memory` are what
they are made of.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
