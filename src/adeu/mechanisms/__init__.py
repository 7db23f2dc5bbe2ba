"""f: measures of uncertainty, one idea per file; `combine` has mechanisms made of others."""
