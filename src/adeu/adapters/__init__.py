"""Adapters to other frameworks, one file each; each imports only its own framework.

`sb3` (Stable-Baselines3) and `sbx` share a callback, `torchrl` has a module, `tianshou` an algorithm's wrapper,
`pettingzoo` one behavior for many agents.
"""
