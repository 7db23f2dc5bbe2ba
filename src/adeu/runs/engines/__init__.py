"""Engines that execute runs: `local` in processes on this machine, `ray` on a cluster."""
