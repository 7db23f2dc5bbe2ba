"""Attaches an explorer to a Stable-Baselines3 model, and detaches it.

For as long as it is attached, the model is of a subclass of its own class, made for it. So nothing is added to the
model's attributes, which `model.save` would pickle, and nothing changes for any other model.
"""

from __future__ import annotations

import copyreg
import pathlib
import weakref
from typing import Any, Protocol

_ORIGINAL, _LISTENER = "_adeu_original_class", "_adeu_listener"


class Listener(Protocol):
    """What the model calls while it is attached."""

    learns: bool

    def decide(self, model: Any) -> tuple[Any, Any]:
        """The actions for the environments, and the same as the replay stores them."""

    def learn_from(self, samples: Any) -> None:
        """A batch that the agent has just drawn."""

    def save(self, path: Any) -> None:
        """Writes the explorer's state beside the model that is saved at `path`."""


class Overheard:
    """A replay buffer whose batches a listener gets too."""

    def __init__(self, buffer: Any, listener: Listener) -> None:
        self._buffer, self._listener = buffer, listener

    def sample(self, *args: Any, **kwargs: Any) -> Any:
        samples = self._buffer.sample(*args, **kwargs)
        self._listener.learn_from(samples)
        return samples

    def __getattr__(self, name: str) -> Any:
        return getattr(self._buffer, name)


def attach(model: Any, listener: Listener) -> None:
    """Lets `listener` decide after the warm-up, hear each batch, and be saved with the model."""
    original: Any = type(model)
    owner = weakref.ref(model)

    def owned(self: Any) -> bool:
        """False for a model that was loaded by the class of this one."""
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
        self.replay_buffer = Overheard(buffer, listener)
        try:
            original.train(self, *args, **kwargs)
        finally:
            self.replay_buffer = buffer

    def save(self: Any, path: Any, *args: Any, **kwargs: Any) -> None:
        original.save(self, path, *args, **kwargs)
        if owned(self) and isinstance(path, str | pathlib.PurePath):
            listener.save(path)

    def _setup_learn(self: Any, *args: Any, **kwargs: Any) -> Any:
        # A call of learn() attaches only the callback it is given.
        detach(self)
        return original._setup_learn(self, *args, **kwargs)

    def reduce(self: Any, protocol: Any) -> Any:
        # A copy, pickled or not, is of the original class: it has no explorer, and pickle finds no other class.
        make, arguments, *rest = original.__reduce_ex__(self, protocol)
        if make is copyreg.__newobj__:  # type: ignore[attr-defined]  # which pickle takes for the object's own class only
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
    """The listener that is attached to the model, if any."""
    return getattr(model, _LISTENER, None)
