"""Adapters for other frameworks; each module imports only the framework it is for.

`sb3` (Stable-Baselines3) and `sbx` provide a callback, `torchrl` a module, `tianshou` a wrapper for a collector,
`pettingzoo` a behavior for several agents.
"""
