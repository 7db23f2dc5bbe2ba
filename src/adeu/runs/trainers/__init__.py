"""What trains a run: `trainer` is the contract, the others implement it for each loop."""
