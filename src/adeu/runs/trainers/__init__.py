"""What trains a run: `trainer` is the contract, the others are it for each engine."""
