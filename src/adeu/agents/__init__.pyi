from .dqn import Dqn as Dqn
from .dqn import Piece as Piece
from .dqn import compiled as compiled
from .dqn import train as train
from .host import train_gymnasium as train_gymnasium
