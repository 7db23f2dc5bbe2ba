from .dqn import Dqn as Dqn
from .dqn import Piece as Piece
from .dqn import compiled as compiled
from .dqn import train as train
from .host import train_gymnasium as train_gymnasium
from .td3 import Td3 as Td3
from .td3_host import Td3Agent as Td3Agent
