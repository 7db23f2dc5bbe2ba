"""Agents in JAX that explore by a ~ D(pi(s), g(f(s))), and the loops that train them.

`agent` defines the interface; `dqn`, `td3` and `sac` implement it. `jax_loop` compiles an agent with a JAX
environment, `gym_loop` and `vector_loop` train it in Gymnasium environments.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
