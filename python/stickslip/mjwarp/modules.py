"""Compilation of Warp's modules before it is needed."""

from __future__ import annotations

from typing import Any

import warp as wp


def compile_modules(device: Any, *names: str) -> None:
    """Compiles them now. Warp would at their first launch, which a CUDA graph may capture."""
    for name in names:
        wp.load_module(name, device=device, block_dim=256 if device.is_cuda else 1)
