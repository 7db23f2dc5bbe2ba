from .dqn import Dqn as Dqn
from .dqn import Piece as Piece
from .dqn_host import DqnAgent as DqnAgent
from .host import HostAgent as HostAgent
from .host import HostLoop as HostLoop
from .loop import compiled as compiled
from .loop import train as train
