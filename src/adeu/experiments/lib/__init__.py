"""What the experiments share: what an experiment is, settings, tables and pictures."""
