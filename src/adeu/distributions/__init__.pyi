from .bernoulli import Bernoulli as Bernoulli
from .categorical import Categorical as Categorical
from .gaussian import Gaussian as Gaussian
from .options import Options as Options
from .zeta import zeta_survival as zeta_survival
