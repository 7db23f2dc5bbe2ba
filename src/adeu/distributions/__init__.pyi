from .bernoulli import Bernoulli as Bernoulli
from .box_options import BoxOptions as BoxOptions
from .categorical import Categorical as Categorical
from .colored import Colored as Colored
from .gaussian import Gaussian as Gaussian
from .options import Options as Options
from .ornstein_uhlenbeck import OrnsteinUhlenbeck as OrnsteinUhlenbeck
from .zeta import zeta_survival as zeta_survival
