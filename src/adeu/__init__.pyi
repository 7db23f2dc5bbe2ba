from . import agents as agents
from . import envs as envs
from . import recipes as recipes
from . import runs as runs
from . import tabular as tabular
from . import theory as theory
from .behavior.behavior import Behavior as Behavior
from .behavior.bonus import Bonus as Bonus
from .behavior.bonus import VectorBonus as VectorBonus
from .core.contract import (
    Decision as Decision,
)
from .core.contract import (
    Distribution as Distribution,
)
from .core.contract import (
    Guard as Guard,
)
from .core.contract import (
    Mechanism as Mechanism,
)
from .core.contract import (
    Normalizer as Normalizer,
)
from .core.contract import (
    Part as Part,
)
from .core.contract import (
    Transition as Transition,
)
from .core.explorer import Explorer as Explorer
from .distributions import (
    Bernoulli as Bernoulli,
)
from .distributions import (
    BoxOptions as BoxOptions,
)
from .distributions import (
    BoxSticky as BoxSticky,
)
from .distributions import (
    Categorical as Categorical,
)
from .distributions import (
    Colored as Colored,
)
from .distributions import (
    Gaussian as Gaussian,
)
from .distributions import (
    LearnedLengths as LearnedLengths,
)
from .distributions import (
    Options as Options,
)
from .distributions import (
    OrnsteinUhlenbeck as OrnsteinUhlenbeck,
)
from .distributions import (
    Sticky as Sticky,
)
from .guards import (
    KnownUnsafe as KnownUnsafe,
)
from .guards import (
    Returning as Returning,
)
from .mechanisms.bandit import ReturnBandit as ReturnBandit
from .mechanisms.best_action import BestActionGap as BestActionGap
from .mechanisms.cells import Cells as Cells
from .mechanisms.combine import (
    Calibrated as Calibrated,
)
from .mechanisms.combine import (
    Inverse as Inverse,
)
from .mechanisms.combine import (
    Product as Product,
)
from .mechanisms.combine import (
    Ratio as Ratio,
)
from .mechanisms.combine import (
    Rollouts as Rollouts,
)
from .mechanisms.combine import (
    Sum as Sum,
)
from .mechanisms.constant import (
    Constant as Constant,
)
from .mechanisms.constant import (
    Recorded as Recorded,
)
from .mechanisms.constant import (
    Schedule as Schedule,
)
from .mechanisms.cost import ExpectedCost as ExpectedCost
from .mechanisms.counts import Counts as Counts
from .mechanisms.custom import (
    FromFunction as FromFunction,
)
from .mechanisms.custom import (
    FromHost as FromHost,
)
from .mechanisms.custom import (
    from_function as from_function,
)
from .mechanisms.custom import (
    from_host as from_host,
)
from .mechanisms.ensemble import EnsembleStd as EnsembleStd
from .mechanisms.first_return import FirstReturn as FirstReturn
from .mechanisms.hash_counts import HashCounts as HashCounts
from .mechanisms.hyper_states import HyperStates as HyperStates
from .mechanisms.rnd import Rnd as Rnd
from .mechanisms.stakes import Stakes as Stakes
from .mechanisms.td_error import TdError as TdError
from .mechanisms.triggers import (
    Every as Every,
)
from .mechanisms.triggers import (
    Homeostasis as Homeostasis,
)
from .mechanisms.triggers import (
    Triggered as Triggered,
)
from .mechanisms.value_promise import ValuePromise as ValuePromise
from .normalizers import (
    Clip as Clip,
)
from .normalizers import (
    Identity as Identity,
)
from .normalizers import (
    Saturating as Saturating,
)
from .normalizers import (
    ShiftedSigmoid as ShiftedSigmoid,
)
from .normalizers import (
    Sigmoid as Sigmoid,
)
from .registry import (
    find_part as find_part,
)
from .registry import (
    from_json as from_json,
)
from .registry import (
    to_json as to_json,
)

__version__: str
