from .load import load as load
from .spec import Setting as Setting
from .spec import Spec as Spec
from .sweep import sweep as sweep
from .trainers.trainer import Piece as Piece
from .trainers.trainer import Trainer as Trainer
