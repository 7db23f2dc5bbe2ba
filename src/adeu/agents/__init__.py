"""Agents in JAX that explore by a ~ D(pi(s), g(f(s))), and the loops that train them.

`agent` is the contract; `dqn` and `td3` are agents. `jax_loop` compiles one with an environment in JAX, `gym_loop`
and `vector_loop` train one in Gymnasium environments. The rest is what they are made of.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
