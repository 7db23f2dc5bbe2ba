"""adeu: adaptive exploration via uncertainty, a ~ D(pi(s), g(f(s))).

The public names are listed in `__init__.pyi`, and loaded on first use.
"""

import lazy_loader

__version__ = "0.1.0"
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
