"""f: measures of uncertainty, one idea per file; `combine` has combinations of mechanisms."""
