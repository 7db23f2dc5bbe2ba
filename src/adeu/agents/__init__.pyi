from .agent import Agent as Agent
from .dqn import Dqn as Dqn
from .gym_loop import GymLoop as GymLoop
from .jax_loop import JaxLoop as JaxLoop
from .jax_loop import LoopPiece as LoopPiece
from .jax_loop import train as train
from .td3 import Td3 as Td3
from .vector_loop import VectorLoop as VectorLoop
