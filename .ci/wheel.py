"""Test the installed wheel in an environment that contains only the wheel and its dependencies."""

import gymnasium
import numpy as np

import adeu
from adeu.report.page import render

env = gymnasium.make("Pendulum-v1")
explorer = adeu.Explorer(f=adeu.Rollouts(adeu.Rnd.paper(), rho=0.3, c=0.2), g=adeu.Sigmoid(c=0.2), D=adeu.Gaussian())
behavior = adeu.Behavior(explorer, env, seed=0)
obs, _ = env.reset(seed=0)
assert env.action_space.contains(behavior.act(obs, center=np.zeros(1)).action)
assert "site-packages" in adeu.__file__
assert all(getattr(adeu, name) is not None for name in adeu.__all__)
assert "</html>" in render({"colors": [], "experiments": []})
print(f"adeu {adeu.__version__} works from the wheel")
