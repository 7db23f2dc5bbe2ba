"""Compiled programs take about 2 MB each, and nobody calls most of them again: from time to time they are dropped."""

import gc

import jax
import pytest

MOST = 400
compiled = 0


@pytest.fixture(autouse=True)
def _few_programs():
    yield
    global compiled
    if compiled > MOST:
        jax.clear_caches()
        gc.collect()
        compiled = 0


def count(event, seconds, **_):
    global compiled
    compiled += event == "/jax/core/compile/backend_compile_duration"


jax.monitoring.register_event_duration_secs_listener(count)
