from .dqn import Dqn as Dqn
from .dqn import Piece as Piece
from .dqn import compiled as compiled
from .dqn import train as train
from .dqn_host import DqnAgent as DqnAgent
from .host import HostAgent as HostAgent
from .host import HostLoop as HostLoop
