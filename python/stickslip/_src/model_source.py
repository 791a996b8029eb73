"""What a simulation's model is made from."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from stickslip import models
from stickslip._src.mujoco_part import mujoco_part

if TYPE_CHECKING:
    import mujoco

    Model: TypeAlias = str | os.PathLike[str] | mujoco.MjModel | mujoco.MjSpec
else:
    Model = Any


def is_name(model: Any) -> bool:
    """Whether it can only be a short name of `stickslip.models`."""
    return isinstance(model, str) and not Path(model).suffix and not os.path.exists(model)


@dataclass(frozen=True)
class ModelSource:
    """A compiled model in MuJoCo's binary form."""

    name: str  #: in messages
    binary: bytes
    fixes_memory: bool = False  #: whether it contains <size memory=...>

    @classmethod
    def of(cls, model: Any) -> ModelSource:
        """Copies the model. Raises TypeError for other types, ValueError for what does not
        compile."""
        if isinstance(model, cls):
            return model
        compile_model = mujoco_part().compile_model
        if isinstance(model, str) and model.lstrip("\ufeff \t\r\n").startswith("<"):
            return cls("text", *compile_model("", model.lstrip("\ufeff")))
        try:
            path = os.fsdecode(os.fspath(models.find(model) if is_name(model) else model))
        except TypeError:
            return cls._of_mujoco(model)
        return cls(Path(path).name, *compile_model(path, ""))

    @classmethod
    def _of_mujoco(cls, model: Any) -> ModelSource:
        import mujoco

        if isinstance(model, mujoco.MjSpec):
            try:
                compiled = model.compile()
            except ValueError as error:
                raise ValueError(f"model: cannot compile the MjSpec: {error}") from None
            return cls(model.modelname, _binary(compiled), model.memory >= 0)
        if isinstance(model, mujoco.MjModel):
            return cls("MjModel", _binary(model))
        raise TypeError(
            "model: expected a path, MJCF text, mujoco.MjModel or mujoco.MjSpec, "
            f"got {type(model).__name__}"
        )


def _binary(model: mujoco.MjModel) -> bytes:
    import mujoco

    buffer = np.empty(mujoco.mj_sizeModel(model), np.uint8)
    mujoco.mj_saveModel(model, None, buffer)
    return buffer.tobytes()
