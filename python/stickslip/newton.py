"""Newton simulations whose constraints are solved by stickslip.

    from stickslip.newton import SolverStickslip

    solver = SolverStickslip(model, law="coulomb")  # in place of newton.solvers.SolverMuJoCo(model)
    solver.step(state_in, state_out, control, contacts, dt)

docs/newton.md says what differs from SolverMuJoCo.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import newton
import warp as wp
from newton.solvers import SolverMuJoCo

from stickslip._core import Law, Precision
from stickslip._src.aliases import LawName, PrecisionName
from stickslip._src.options import SolveOptions
from stickslip.mjwarp import ConstraintSolver, ContactModel, StepResult, step

#: Leading numbers of the version of Newton whose step was read and tested.
SUPPORTED = "1.8"


def require_supported(version: str) -> None:
    """Raises ImportError for another version, with the command that installs the right one."""
    if not version.startswith(SUPPORTED + "."):
        raise ImportError(
            f"newton: expected version {SUPPORTED}.*, got {version}: "
            f'pip install "newton=={SUPPORTED}.*"'
        )


require_supported(newton.__version__)
WORLD = newton.Model.AttributeFrequency.WORLD
field = SolverMuJoCo.Observables.field  # makes a dataclass's field
# Options of SolverMuJoCo that leave nothing for this solve, or that are another solve.
_REFUSED = {
    "use_mujoco_cpu": "MuJoCo's C code solves its constraints itself",
    "use_speculative_contacts": "contacts are found before they close anyway",
    "enable_sleeping": "all bodies are solved",
}


class SolverStickslip(SolverMuJoCo):
    """Newton's SolverMuJoCo with the constraint solve of stickslip and a verdict for each world.

    Args:
        model: Newton's model.
        law, precision, contact, warm_start, tol, options, threads: as in
            `stickslip.mjwarp.ConstraintSolver`.
        others: those of SolverMuJoCo. The defaults differ in the cone: "elliptic" with the rigid
            laws. `iterations`, `tolerance` and the other options of MuJoCo's solver have no effect.

    Raises:
        ValueError: naming the argument that is refused.
    """

    class ObservableKind(SolverMuJoCo.ObservableKind):
        """Names of what `observables` can allocate."""

        STATUS = "stickslip_status"
        RESIDUAL = "stickslip_residual"

    @dataclass(eq=False)
    class Observables(SolverMuJoCo.Observables):
        """SolverMuJoCo's, and the verdicts."""

        #: (world_count,) int32, members of `stickslip.Status`
        stickslip_status: Any = field(dtype=wp.int32, frequency=WORLD)  # noqa: RUF009
        #: (world_count,) float64, m/s
        stickslip_residual: Any = field(dtype=wp.float64, frequency=WORLD)  # noqa: RUF009

    SUPPORTED_OBSERVABLES = SolverMuJoCo.SUPPORTED_OBSERVABLES | {
        ObservableKind.STATUS,
        ObservableKind.RESIDUAL,
    }

    def __init__(
        self,
        model: Any,
        *,
        law: LawName | Law = "coulomb",
        precision: PrecisionName | Precision = "float64",
        contact: ContactModel | None = None,
        warm_start: bool = True,
        tol: float | None = None,
        options: SolveOptions | None = None,
        threads: int | None = None,
        **others: Any,
    ) -> None:
        for name, why in _REFUSED.items():
            if others.get(name):
                raise ValueError(f"{name}: expected False, got {others[name]!r}: {why}")
        if law not in ("convex", Law.convex) and others.get("cone") is None:
            others["cone"] = "elliptic"
        super().__init__(model, **others)
        with wp.ScopedDevice(model.device):
            # Here and not in the first step, which a CUDA graph may capture.
            self.constraint_solver = ConstraintSolver(
                self.mjw_model, self.mjw_data, law, precision, contact,
                warm_start=warm_start, tol=tol, options=options, threads=threads,
            )  # fmt: skip

    @property
    def result(self) -> StepResult:
        """Results of the latest step: status, residual, ... of each world."""
        return self.constraint_solver.result

    def step(
        self,
        state_in: Any,
        state_out: Any,
        control: Any,
        contacts: Any,
        dt: float,
        *,
        observables: Any = None,
    ) -> None:
        """As SolverMuJoCo.step. `observables` may also have the verdicts."""
        super().step(state_in, state_out, control, contacts, dt, observables=observables)
        if observables is None:
            return
        if observables.is_requested(self.ObservableKind.STATUS):
            wp.copy(observables.stickslip_status, self.result.status)
        if observables.is_requested(self.ObservableKind.RESIDUAL):
            wp.copy(observables.stickslip_residual, self.result.residual)

    def reset(self, state: Any, world_mask: Any = None, flags: Any = None) -> None:
        """As SolverMuJoCo.reset; the worlds' next solves start from rest."""
        super().reset(state, world_mask, flags)
        self.constraint_solver.reset(world_mask)

    def _mujoco_warp_step(self) -> None:
        # The margins that find contacts before they close are added in each step, so they also
        # follow changes of the model (`notify_model_changed`).
        step(self.mjw_model, self.mjw_data, self.constraint_solver)
