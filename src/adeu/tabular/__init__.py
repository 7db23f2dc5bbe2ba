"""Q-learning and DQN over finite MDPs at native speed, with the same parts as everywhere.

`from_tables` makes a `model`, the agents `q_learning` and `table_dqn` make a `job`, `job_training` runs it; `lower`
turns parts into the NamedTuples of `f_forms` and `decision_forms`, whose types select what `kernels` compiles. Only
the agents and `lower` load JAX: a worker that runs jobs does not.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
