"""Q-learning and DQN over finite MDPs at native speed, with the same parts as the other agents.

`from_tables` builds a `model`, the agents `q_learning` and `table_dqn` build a `job`, `job_training` runs it; `lower`
converts parts to the NamedTuples of `f_forms` and `decision_forms`, whose types select the rules that `kernels`
compiles. Only the agents and `lower` import JAX; a worker that runs jobs does not.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
