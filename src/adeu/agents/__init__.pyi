from .dqn import Dqn as Dqn
from .dqn import Piece as Piece
from .host import train_gymnasium as train_gymnasium
from .loop import compiled as compiled
from .loop import train as train
