from .treasure import Treasure as Treasure
from .treasure import treasure_probability as treasure_probability
