"""Shared code of the experiments: their definition, settings, tables and plots."""
