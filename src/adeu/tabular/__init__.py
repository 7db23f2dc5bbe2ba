"""Q-learning over finite MDPs at native speed, with the parts that users compose.

`tables` makes a `model`, `learn` a `job`, `training` carries it out; `lower` turns parts into the NamedTuples of
`mechanisms` and `decisions`, whose types select what `kernels` compiles. Only `learn` and `lower` load JAX: a worker
that runs jobs has none.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
