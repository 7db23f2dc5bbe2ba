"""Stored results, and the commands that add to them."""
