"""mujoco_warp steps whose constraints are solved by stickslip.

    import mujoco_warp as mjw
    from stickslip import mjwarp

    result = mjwarp.step(m, d, law="coulomb")  # in place of mjw.step(m, d)

m and d are mujoco_warp's own model and data. `result.status` has a verdict for each world.
docs/mjwarp.md says what differs from mujoco_warp's own step.
"""

from stickslip.mjwarp.constraint_solver import ConstraintSolver
from stickslip.mjwarp.contact_model import ContactModel
from stickslip.mjwarp.contact_sensors import ContactSensors
from stickslip.mjwarp.results import StepResult
from stickslip.mjwarp.stepping import forward, solver_of, step
from stickslip.mjwarp.versions import SUPPORTED

__all__ = [
    "SUPPORTED",
    "ConstraintSolver",
    "ContactModel",
    "ContactSensors",
    "StepResult",
    "forward",
    "solver_of",
    "step",
]
