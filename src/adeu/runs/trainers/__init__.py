"""Trainers of runs: `trainer` defines the interface, the other modules implement it for each kind of loop."""
