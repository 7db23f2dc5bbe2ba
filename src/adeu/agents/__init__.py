"""Agents in JAX that explore by a ~ D(pi(s), g(f(s))), each read in one sitting.

`dqn` and `td3` are agents as pure functions. `loop` compiles one with an environment in JAX; `host` is a loop for
Gymnasium's, with `dqn_host` and `td3_host` for it, and `td3_vector` one for a vector of them. The rest is what they
are made of.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
