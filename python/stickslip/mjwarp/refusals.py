"""What a step with stickslip's solve cannot do is refused here, by the name of the option."""

from __future__ import annotations

from typing import Any

import mujoco_warp as mjw

from stickslip._core import Law

Integrator = mjw.IntegratorType
_OF_RIGID_LAWS = (Integrator.EULER, Integrator.IMPLICITFAST)
_OF_CONVEX = (*_OF_RIGID_LAWS, Integrator.IMPLICIT)
_WHY = {
    Integrator.RK4: "its stages solve several times per step",
    Integrator.IMPLICIT: "its matrix is not symmetric",
    Integrator.DISCRETE: "it solves for contacts inside mujoco_warp",
}


def require_types(m: Any, d: Any) -> None:
    """Refuses arguments that are not mujoco_warp's, such as a mujoco.MjModel."""
    for name, value, kind in (("m", m, mjw.Model), ("d", d, mjw.Data)):
        if not isinstance(value, kind):
            got = f"{type(value).__module__}.{type(value).__name__}"
            raise TypeError(f"{name}: expected mujoco_warp.{kind.__name__}, got {got}")


def require_steppable(m: Any, law: Law) -> None:
    """Refuses options of the model. They may change between steps, so each step calls this."""
    accepted = _OF_CONVEX if law == Law.convex else _OF_RIGID_LAWS
    integrator, flags = Integrator(int(m.opt.integrator)), int(m.opt.enableflags)
    if integrator not in accepted:
        names = " or ".join(each.name for each in accepted)
        raise ValueError(
            f"m.opt.integrator: expected {names} for law {law.name!r}, got {integrator.name}: "
            f"{_WHY[integrator]}"
        )
    if law != Law.convex and int(m.opt.cone) != int(mjw.ConeType.ELLIPTIC):
        raise ValueError(
            f"m.opt.cone: expected ELLIPTIC for law {law.name!r}, got PYRAMIDAL: the edges of a "
            "pyramid are rows of their own, from which no circular cone can be made"
        )
    if flags & int(mjw.EnableBit.SLEEP):
        raise ValueError("m.opt.enableflags: expected no SLEEP, got SLEEP: all bodies are solved")
    if getattr(m, "flg_adhesion", False):
        raise ValueError("adhesion: expected 0 for all geoms, pairs and actuators, got another")
    if int(m.opt.noslip_iterations):
        raise ValueError(
            f"m.opt.noslip_iterations: expected 0, got {m.opt.noslip_iterations}: this solve "
            "leaves no slip to remove"
        )
    if m.nflex:
        raise ValueError(f"m.nflex: expected 0, got {m.nflex}: flexes are not supported")
    if not getattr(m.opt, "run_qacc_smooth", True):
        raise ValueError(
            "m.opt.run_qacc_smooth: expected True, got False: the solve starts from qacc_smooth"
        )


def require_room(m: Any, d: Any) -> None:
    """Refuses data without room for any contact of a model whose geoms may touch: mujoco_warp does
    not look for contacts then."""
    contacts = not int(m.opt.disableflags) & int(mjw.DisableBit.CONTACT)
    if d.naconmax == 0 and contacts and m.nxn_geom_pair_filtered.size:
        raise ValueError(
            "d.naconmax: expected more than 0, because geoms of the model may touch, got 0"
        )


def require_no_capture(device: Any) -> None:
    """Refuses to allocate and compile while a CUDA graph is captured: neither can be replayed."""
    if device.is_capturing:
        raise RuntimeError(
            f"ConstraintSolver: expected to be made before a graph capture, got a capture under "
            f"way on {device}: call mjwarp.step(m, d) once, or make the solver, before the capture"
        )
