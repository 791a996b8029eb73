"""What a simulation's model is made from."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import mujoco

    Model = str | os.PathLike[str] | mujoco.MjModel | mujoco.MjSpec
else:
    Model = Any


@dataclass(frozen=True)
class ModelSource:
    """A path, MJCF text, or a compiled model in binary form; the others are empty."""

    name: str  #: in messages
    file: str = ""
    text: str = ""
    binary: bytes = b""
    fixes_memory: bool = False  #: of `binary`: whether the model contains <size memory=...>

    @classmethod
    def of(cls, model: Any) -> ModelSource:
        """Copies the model. Raises TypeError for other types, ValueError for a spec that does not
        compile."""
        if isinstance(model, cls):
            return model
        if isinstance(model, str) and model.lstrip().startswith("<"):
            return cls("text", text=model)
        try:
            path = os.fsdecode(os.fspath(model))
            return cls(Path(path).name, file=path)
        except TypeError:
            pass
        import mujoco

        if isinstance(model, mujoco.MjSpec):
            return cls(model.modelname, binary=_compiled(model), fixes_memory=model.memory >= 0)
        if isinstance(model, mujoco.MjModel):
            return cls("MjModel", binary=_binary(model))
        raise TypeError(
            "model: expected a path, MJCF text, mujoco.MjModel or mujoco.MjSpec, "
            f"got {type(model).__name__}"
        )


def _compiled(spec: mujoco.MjSpec) -> bytes:
    try:
        return _binary(spec.compile())
    except ValueError as error:
        raise ValueError(f"model: cannot compile the MjSpec: {error}") from None


def _binary(model: mujoco.MjModel) -> bytes:
    import mujoco

    buffer = np.empty(mujoco.mj_sizeModel(model), np.uint8)
    mujoco.mj_saveModel(model, None, buffer)
    return buffer.tobytes()
