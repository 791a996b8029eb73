"""Simulations of one MuJoCo model that step together under a chosen friction law."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_args

import numpy as np
from numpy.typing import ArrayLike

from stickslip._core import Law, Precision, Solver, Status
from stickslip._src import arrays as check
from stickslip._src import sim_arguments as given
from stickslip._src.aliases import (
    Backend,
    Int32,
    Integrator,
    LawName,
    PrecisionName,
    SimLawName,
    Softness,
    SolverName,
)
from stickslip._src.model_source import Model, ModelSource
from stickslip._src.mujoco_part import mujoco_part
from stickslip._src.options import SolveOptions, make_options, use_cuda
from stickslip._src.sim_copies import SimCopies
from stickslip._src.sim_gradients import SimGradients

_NAMES: dict[Law, LawName] = {Law[name]: name for name in get_args(LawName)}


_NUMBERS = ("restitution", "v_rest", "v_max", "compliance", "position_tolerance")
_INTEGRATORS = ("euler", "rk4", "implicit", "implicitfast", "discrete")  # as MuJoCo numbers them


class IgnoredFieldWarning(UserWarning):
    """The model sets fields of contacts that the law does not use."""


class BatchSim(SimGradients, SimCopies):
    """N environments of one model. MuJoCo does what comes before and after the contact solve, on
    its own thread pool; between these, all contact problems are formed and solved as one batch.

    Laws:
        "coulomb", "pyramid", "box", "frictionless": rigid contacts at velocity level. A contact
            closes exactly within the step, or bounces; joint limits, equalities, friction loss are
            MuJoCo's.
        "convex": MuJoCo's own soft problem, to the solver's tolerance. RK4 models take four solves
            a step.
        "mujoco": mj_step, bit for bit.

    An environment whose numbers become non-finite (or exceed MuJoCo's 1e10) does not advance: its
    status is `bad_input`, and it is reset to the model's initial state (or left unchanged, if the
    model switches `autoreset` off). Where the model's memory (`<size memory=...>`) has no room
    for all contacts, MuJoCo leaves some out: `over_capacity`. The others are not affected. The
    bits of an environment depend on its state and controls alone, not on `num_envs`, `threads` or
    its neighbours. A call during another thread's call raises RuntimeError.

    `copy.deepcopy` and pickling give a simulation in the same state, which steps to the same bits.
    Results of steps (`status`, `contacts`, `field`, `statistics`, ...) are not copied: until its
    first step, those of the copy are as in a new simulation.

    Args:
        model: path of an MJCF or URDF file or a compiled .mjb, MJCF text (it begins with "<"), a
            mujoco.MjModel, or a mujoco.MjSpec. The bits are the same for each. A model or spec is
            copied: later changes to it have no effect. Or a short name of `stickslip.models`.
        num_envs: number of environments.
        law: see above.
        solver, precision, tol, backend: as in `stickslip.solve`. The tolerance is in m/s, with
            "convex" in m/s².
        options: tolerances and budgets. Default: SolveOptions(thorough=False), which gives up early
            where a solution is unlikely, so that one environment does not delay the others.
        threads: CPU threads of MuJoCo and of the solver; default all cores.
        integrator: default the model's. The rigid laws step RK4 models with implicitfast, with a
            warning; they refuse "implicit".
        timestep: s; default the model's.
        restitution, v_rest: impact law of the rigid contacts; approaches slower than v_rest (m/s)
            do not bounce. Geoms may have their own, and be springs: docs/tuning.md.
        v_max: fastest recovery from penetration, m/s.
        compliance: of the rigid contacts' normals, 1/kg.
        softness: "rigid", or "model": normals of the rigid laws' contacts are as soft as MuJoCo's
            (solref, solimp), while friction remains exact.
        contact_margin: rigid contacts are found from this gap on, m. Default: for each pair the
            distance by which it may approach in a step, from its speed.
        warm_start: solves of the rigid laws start from the impulses of the previous step, contact
            by contact (pair of geoms and nearest position). They are part of `state`, after the
            model's own userdata; a reset environment starts from zero impulses.
        position_iterations, position_tolerance: penetration beyond the tolerance, m, is recovered
            in the positions alone, at most at v_max, and not in the velocities. 0: with gaps that
            are linear within the step; else with at most this many more solves per step, until
            every gap of the step's contacts, measured at its end, is large enough: see
            `penetration` and `position_rounds`. The tolerance's default is the accuracy of
            MuJoCo's gaps between convex geoms.
        fields: names of arrays of MuJoCo's mjData to keep for all environments: `field` has them.
        contact_sensors: pairs of names of bodies or geoms ("body:NAME" or "geom:NAME" where a name
            is both), or (name, None) for contacts with everything else: see `contact_force`.

    Raises:
        TypeError, ValueError: for wrong arguments, models that do not load, and models that the law
            cannot step (option flag sleep, integrator discrete).
    """

    def __init__(
        self,
        model: Model,
        num_envs: int = 1,
        *,
        law: SimLawName | Law = "coulomb",
        solver: SolverName | Solver = "auto",
        precision: PrecisionName | Precision = "float64",
        tol: float | None = None,
        options: SolveOptions | None = None,
        backend: Backend = "auto",
        threads: int | None = None,
        integrator: Integrator = "model",
        timestep: float | None = None,
        restitution: float = 0.0,
        v_rest: float = 0.01,
        v_max: float = 1.0,
        compliance: float = 0.0,
        softness: Softness = "rigid",
        contact_margin: float | None = None,
        warm_start: bool = True,
        position_iterations: int = 0,
        position_tolerance: float = 1e-6,
        fields: Sequence[str] = (),
        contact_sensors: Sequence[tuple[str, str | None]] = (),
    ) -> None:
        arguments = {name: value for name, value in locals().items() if name != "self"}
        self._arguments = {**arguments, "model": (source := ModelSource.of(model))}
        self._varied, self._models = {}, {}
        mujoco_law = law == "mujoco"
        if not isinstance(law, Law):
            check.one_of("law", law, (*Law.__members__, "mujoco"))
        own_law: LawName | Law = "convex" if law == "mujoco" else law
        budgets = SolveOptions(thorough=False) if options is None else options
        self._options = make_options(own_law, solver, precision, tol, budgets)
        self._core = mujoco_part().BatchSim(
            source.binary,
            source.fixes_memory,
            num_envs=check.count("num_envs", num_envs, low=1),
            mujoco_law=mujoco_law,
            options=self._options,
            threads=check.thread_count(threads),
            cuda=use_cuda(backend),
            integrator=given.word("integrator", integrator),
            timestep=given.timestep("timestep", timestep),
            **{name: check.number(name, arguments[name]) for name in _NUMBERS},
            contact_margin=given.margin("contact_margin", contact_margin),
            warm_start=check.flag("warm_start", warm_start),
            position_iterations=check.count("position_iterations", position_iterations),
            model_softness=check.one_of("softness", softness, ("rigid", "model")) == "model",
            fields=given.words("fields", fields),
            contact_sensors=check.name_pairs("contact_sensors", contact_sensors),
        )
        self.law: SimLawName = law if isinstance(law, str) else _NAMES[law]
        self._views = {}
        self._warned = False  # of failures
        self._own = frozenset((*vars(self), "_own"))
        self._warn_of_model()

    def __setattr__(self, name: str, value: Any) -> None:
        """AttributeError for names that a BatchSim does not have, as of a misspelled view; classes
        derived from it may have attributes of their own."""
        known = name in vars(self).get("_own", (name,)) or hasattr(type(self), name)
        if type(self) is BatchSim and not known:
            raise AttributeError(f"BatchSim has no attribute {name!r}")
        super().__setattr__(name, value)

    def _warn_of_model(self) -> None:
        for message in self._core.warnings:
            warnings.warn(message, stacklevel=3)
        if self.ignored_fields:
            rigid = self.law not in ("convex", "mujoco") and self._arguments["softness"] == "rigid"
            warnings.warn(
                f"the contacts of law {self.law!r} do not use what the model sets: "
                f"{', '.join(self.ignored_fields)}. See 'Which fields of a model are used' in "
                f"docs/mathematics.md{'; softness=model uses solref and solimp' * rigid}",
                IgnoredFieldWarning,
                stacklevel=3,
            )

    def __repr__(self) -> str:
        name, law = self._arguments["model"].name, self.law
        integrator = _INTEGRATORS[self._core.integrator]
        return f"BatchSim({name}, num_envs={self.num_envs}, law={law!r}, integrator={integrator!r})"

    def step(self, ctrl: ArrayLike | None = None, substeps: int = 1) -> Int32:
        """Advances all environments by `substeps` time steps; returns `status`.

        ctrl: (N, nu) controls, or (nu,) for all; None keeps those of the last step. Several steps
        in one call give the same bits as single steps; their verdict is the worst, `iterations` are
        added up. Ctrl-C ends a long call with KeyboardInterrupt: each environment is then at the
        end of one of the substeps (see `time`).
        """
        if ctrl is not None:
            target = self._core.ctrl
            values = check.as_array("ctrl", ctrl)
            if values.dtype.kind not in "biuf":
                raise TypeError(f"ctrl: expected an array of numbers, got {values.dtype}")
            check.require_shape("ctrl", values, target.shape, target.shape[1:])
            self._core.require_idle()
            target[...] = values
        self._core.step(check.count("substeps", substeps, low=1))
        if not self._warned and self._core.fails_often:
            self._warned = True
            self._warn_of_failures()
        return self._core.status

    def _warn_of_failures(self) -> None:
        counts = self.statistics
        steps = {status.name: counts[status.name] for status in Status}
        failures = {name: count for name, count in steps.items() if name != "solved"}
        most = max(failures, key=failures.__getitem__)
        share = sum(failures.values()) / sum(steps.values())
        warnings.warn(
            f"{share:.1%} of the steps so far were not solved, most of those {most}: "
            "`BatchSim.status` tells which, docs/statuses.md what to do",
            stacklevel=3,
        )

    def reset(self, mask: ArrayLike | None = None, *, key: int | None = None) -> None:
        """Resets the environments where mask (N,) is true, or whose indices it holds (None: all),
        to the model's initial state, or to its keyframe `key`."""
        number = -1 if key is None else check.count("key", key)
        self._core.reset(given.mask(mask, self.num_envs).view(np.uint8), number)

    def forward(self, mask: ArrayLike | None = None) -> None:
        """Updates `field` and `sensordata` to the environments' present state, without a step
        (mask: as in `reset`). Sensors of accelerations and forces are 0: nothing was solved. With
        the law "mujoco" this is mj_forward, warm start and all sensors included."""
        self._core.forward(given.mask(mask, self.num_envs).view(np.uint8))

    def vary(self, field: str, values: ArrayLike) -> None:
        """Gives each environment its own values of a field of MuJoCo's model: values (N, ...), as
        many for each as the field has, in its order: (N, ngeom, 3) for "geom_friction", (N, nbody)
        for "body_mass". Constants that MuJoCo derives from the field are updated. Also restitution,
        springs and friction of geoms and pairs: "geom_restitution", ... of docs/tuning.md.
        """
        numbers = np.ascontiguousarray(check.float64("values", values))
        if numbers.ndim == 0 or len(numbers) != self.num_envs:
            raise ValueError(
                f"values: expected shape ({self.num_envs}, ...), got {np.shape(values)}"
            )
        numbers = numbers.reshape(self.num_envs, -1)
        self._core.vary(given.word("field", field), numbers)
        self._varied[field] = numbers.copy()

    def problem(self, env: int) -> dict[str, Any]:
        """The latest solve's problem of one environment: arguments of `stickslip.solve` (W, b, mu,
        R, dims, n_free, n_nonneg, lo, hi), n_box, the solution (impulse), and the data it was made
        from: J, M (the matrix of the integrator), a_free, efc_of (MuJoCo's constraint row of each);
        also the verdict on that solve (status, residual, iterations, solver, selected) and its
        warm_start.
        RK4 models have four solves a step; this is the last."""
        return self._core.problem(check.count("env", env))

    def dump(
        self,
        env: int,
        path: str | os.PathLike[str] | None = None,
        name: str | None = None,
    ) -> Path:
        """Writes the latest solve's problem of one environment, its impulse and verdict, into a
        problem file (docs/files.md), which `stickslip solve` solves again: to the same bits, if
        the simulation is `thorough` or the problem is solved.

        path: default problems.h5 in the current folder; a file of this layout keeps its other
        problems. name: default env<env>_step<steps so far>. Returns the path.
        """
        from stickslip.files import from_simulation, write

        target = "problems.h5" if path is None else path
        write(target, [from_simulation(self, env, name)], append=True)
        return Path(target)

    @property
    def ignored_fields(self) -> tuple[str, ...]:
        """What the model sets and its contacts do not use: `solref` and `solimp` where they are
        rigid, each with the number of elements and the first of them; else the tuples of
        docs/tuning.md."""
        return tuple(self._core.ignored_fields)
