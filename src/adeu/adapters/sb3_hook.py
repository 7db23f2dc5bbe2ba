"""Attaches an explorer to a Stable-Baselines3 model, and detaches it.

While attached, the model's class is replaced by a subclass created for it. This adds no attributes to the model,
which `model.save` would pickle, and does not affect other models.
"""

from __future__ import annotations

import copyreg
import pathlib
import weakref
from typing import Any, Protocol

_ORIGINAL, _LISTENER = "_adeu_original_class", "_adeu_listener"


class Listener(Protocol):
    """The interface that an attached model calls."""

    learns: bool

    def decide(self, model: Any) -> tuple[Any, Any]:
        """Returns the actions for the environments, and the same actions as the replay buffer stores them."""

    def learn_from(self, samples: Any) -> None:
        """Trains f on a batch that the model has just sampled."""

    def save(self, path: Any) -> None:
        """Saves the explorer's state beside the model file at `path`."""


class ObservedBuffer:
    """A replay buffer that also passes its batches to a listener."""

    def __init__(self, buffer: Any, listener: Listener) -> None:
        self._buffer, self._listener = buffer, listener

    def sample(self, *args: Any, **kwargs: Any) -> Any:
        samples = self._buffer.sample(*args, **kwargs)
        self._listener.learn_from(samples)
        return samples

    def __getattr__(self, name: str) -> Any:
        return getattr(self._buffer, name)


def attach(model: Any, listener: Listener) -> None:
    """Makes `listener` choose actions after the warm-up, get each sampled batch, and be saved with the model."""
    original: Any = type(model)
    owner = weakref.ref(model)

    def owned(self: Any) -> bool:
        """Returns False for another model of this subclass, such as one loaded with it."""
        return owner() is self

    def _sample_action(self: Any, learning_starts: int, action_noise: Any = None, n_envs: int = 1) -> Any:
        if not owned(self) or self.num_timesteps < learning_starts:
            return original._sample_action(self, learning_starts, action_noise, n_envs)
        return listener.decide(self)

    def train(self: Any, *args: Any, **kwargs: Any) -> None:
        if not owned(self) or not listener.learns:
            original.train(self, *args, **kwargs)
            return
        buffer = self.replay_buffer
        self.replay_buffer = ObservedBuffer(buffer, listener)
        try:
            original.train(self, *args, **kwargs)
        finally:
            self.replay_buffer = buffer

    def save(self: Any, path: Any, *args: Any, **kwargs: Any) -> None:
        original.save(self, path, *args, **kwargs)
        if owned(self) and isinstance(path, str | pathlib.PurePath):
            listener.save(path)

    def _setup_learn(self: Any, *args: Any, **kwargs: Any) -> Any:
        # learn() attaches only the callback that is passed to it.
        detach(self)
        return original._setup_learn(self, *args, **kwargs)

    def reduce(self: Any, protocol: Any) -> Any:
        # A copy has the original class and no explorer: pickle cannot import the subclass.
        make, arguments, *rest = original.__reduce_ex__(self, protocol)
        if make is copyreg.__newobj__:  # type: ignore[attr-defined]  # pickle accepts it only with the object's own class
            make = object.__new__
        return make, tuple(original if each is type(self) else each for each in arguments), *rest

    methods = (_sample_action, train, save, _setup_learn)
    body = {method.__name__: method for method in methods} | {
        "__reduce_ex__": reduce,
        "__module__": original.__module__,
    }
    model.__class__ = type(original.__name__, (original,), body | {_ORIGINAL: original, _LISTENER: listener})


def detach(model: Any) -> None:
    """Restores the model; does nothing if no listener is attached."""
    if listener_of(model) is not None:
        model.__class__ = getattr(model, _ORIGINAL)


def listener_of(model: Any) -> Listener | None:
    """Returns the listener attached to the model, or None."""
    return getattr(model, _LISTENER, None)
