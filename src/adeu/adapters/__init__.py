"""adeu in other people's frameworks, one file each; each imports its own framework and no other.

`sb3` (Stable-Baselines3) and `sbx` share a callback, `torchrl` has a module, `tianshou` an algorithm's wrapper,
`pettingzoo` one behavior for many agents.
"""
