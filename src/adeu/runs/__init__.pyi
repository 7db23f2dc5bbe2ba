from .load import load as load
from .spec import Setting as Setting
from .spec import Spec as Spec
from .sweep import sweep as sweep
from .trainer import Piece as Piece
from .trainer import Trainer as Trainer
