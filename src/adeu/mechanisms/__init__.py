"""f: measures of uncertainty, one idea a file; `combine` makes mechanisms of mechanisms."""
