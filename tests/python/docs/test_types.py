"""Types: what mypy accepts of the package, and of programs that use it."""

import re
import shutil
import subprocess
import sys
from inspect import signature
from pathlib import Path
from typing import get_args

import pytest

import stickslip
from stickslip import _core
from stickslip._src import aliases, keywords
from stickslip._src.solution import Solution

NAMES = {
    "LawName": _core.Law,
    "SolverName": _core.Solver,
    "PrecisionName": _core.Precision,
    "LcpMethodName": _core.LcpMethod,
}
SETTINGS = """
[mypy]
strict = True
warn_return_any = False
mypy_path = {folder}
cache_dir = {folder}/cache
[mypy-stickslip._core,stickslip.envs.*,stickslip.rl.*,stickslip.newton,\
stickslip.mjwarp.contact_sensors,stickslip.mjwarp.integrator,stickslip.mjwarp.look_ahead,\
stickslip.mjwarp.problem_kernels,stickslip.mjwarp.recovery_kernels,stickslip.mjwarp.row_kernels,\
stickslip.mjwarp.surfaces,\
stickslip.mjwarp.warm_start_kernels]
ignore_errors = True
[mypy-stickslip._src.torch_gradient,stickslip._src.jax_op]
# Classes and decorators of torch and JAX have no types where these are not installed.
disallow_subclassing_any = False
disallow_untyped_decorators = False
warn_unused_ignores = False
[mypy-h5py.*,jax.*,latex2mathml.*,mdit_py_plugins.*,mjviser.*,mujoco.*,rsl_rl.*,scipy.*,tensordict.*,\
torch.*,trimesh.*,viser.*]
ignore_missing_imports = True
[mypy-mujoco_warp.*,newton.*,warp.*]
ignore_missing_imports = True
follow_imports = skip
"""
HEADER = """
import numpy as np
import stickslip
from numpy.typing import NDArray
from stickslip import BatchSim, BoundSolver, LcpOptions, SolveOptions, Solution, Status

W: NDArray[np.float64] = np.eye(3)
b = np.array([-1.0, 0.0, 0.0])
sim = BatchSim("model.xml", num_envs=4)
"""
# A program's line, and what mypy must say about it; "" if it is right.
LINES = {
    'stickslip.solve(W, b, 0.5, law="cuolomb")': "No overload variant",
    'stickslip.solve(W, b, 0.5, solver="simplex")': "No overload variant",
    'stickslip.solve(W, b, 0.5, precision="half")': "No overload variant",
    'stickslip.solve(W, b, 0.5, backend="gpu")': "No overload variant",
    'stickslip.solve(W, b, 0.5, tol="1e-9")': "No overload variant",
    "stickslip.solve(W, b, 0.5, lam=3)": "No overload variant",
    "stickslip.solve(W, b)": "No overload variant",
    'stickslip.residual(W, b, 0.5, b, law="cuolomb")': "No overload variant",
    'stickslip.certificate_holds(W, b, 0.5, b, law="mujoco")': 'Argument "law"',
    'stickslip.solve_lcp(W, b, method="simplex")': 'Argument "method"',
    'stickslip.solve_lcp(W, b, precision="mixed")': 'Argument "precision"',
    'BatchSim("model.xml", law="cuolomb")': 'Argument "law"',
    'BatchSim("model.xml", solver="simplex")': 'Argument "solver"',
    'BatchSim("model.xml", integrator="verlet")': 'Argument "integrator"',
    'BatchSim("model.xml", softness="soft")': 'Argument "softness"',
    'BatchSim("model.xml", num_envs="4")': 'Argument "num_envs"',
    'BoundSolver(W=W, b=b, mu=0.5, law="cuolomb")': "No overload variant",
    "BoundSolver(W=W, b=b)": "No overload variant",
    "SolveOptions(directions=5)": 'Argument "directions"',
    "SolveOptions(max_newton=1.5)": 'Argument "max_newton"',
    "LcpOptions(tol=1e-9)": "Unexpected keyword argument",
    "sim.qpos = W": "read-only",
    "sim.qpos.shap": 'has no attribute "shap"',
    "stickslip.solve(W, b, 0.5).certificate.shape": '"None" has no attribute "shape"',
    'stickslip.solve(W, b, 0.5, law="coulomb", solver="newton", threads=2)': "",
    "stickslip.solve([[2.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]], [-1, 0, 0], 0.5)": "",
    "stickslip.solve(W, b, 0.5, law=stickslip.Law.convex)": "",
    "stickslip.solve(W, b, 0.5, counts=[1], dims=[3], R=b, warm_start=b)": "",
    "stickslip.solve(W, b, 0.5, certificates=True).certificate.shape": "",
    'BatchSim("model.xml", law="mujoco", integrator="euler", threads=1)': "",
    "SolveOptions(directions=8, max_work=1e9)": "",
    "sim.step(np.zeros(3), substeps=5)": "",
    "sim.step([0.0, 1.0]) == Status.solved": "",
    "sim.reset(mask=sim.status == Status.bad_input)": "",
    "BoundSolver(W=W[None], b=b, mu=0.5, precision='mixed')().impulse.shape": "",
    "BoundSolver(M=W, J=W[None], b=b, mu=0.5, v_free=b)": "",
    "stickslip.stewart_trinkle(W, b, W, W, 0.5, dt=0.01).split(b)['f_n'].max()": "",
}
FLOATS, INTEGERS = "numpy.float64", "_32Bit"
REVEALED = {
    "sim.qpos": FLOATS,
    "sim.mocap_quat": FLOATS,
    "sim.field('xipos')": FLOATS,
    "sim.status": INTEGERS,
    "sim.step()": INTEGERS,
    "stickslip.solve(W, b, 0.5)": "Solution[None]",
    "stickslip.solve(W, b, 0.5, certificates=True).certificate": FLOATS,
    "stickslip.solve(W, b, 0.5, certificates=bool(b[0])).certificate": "| None",
    "stickslip.solve(W, b, 0.5).impulse": "ndarray[",
    "stickslip.solve(W, b, 0.5).ok": "dtype[numpy.bool",
    "stickslip.residual(W, b, 0.5, b)": FLOATS,
    "stickslip.residual(W, b, 0.5, b, details=True)": "Measures",
    "stickslip.delassus(W, W)": "ndarray[",
    "stickslip.solve_lcp(W, b).method": INTEGERS,
    "BoundSolver(W=W, b=b, mu=0.5).out.impulse": "ndarray[",
    "BoundSolver(W=object(), b=b, mu=0.5).out.impulse": '"Any"',
    "BoundSolver(W=W, b=b, mu=0.5).vjp(d_impulse=b).kink_distance": "ndarray[",
    "BoundSolver(W=object(), b=b, mu=0.5).vjp(d_impulse=b).b": '"Any"',
}
PROGRAM = """
from collections.abc import Iterator


def worst(solution: Solution) -> int:  # a result needs no parameter
    return solution.worst


def steps(count: int) -> Iterator[NDArray[np.float64]]:
    law: stickslip.Law = stickslip.Law.coulomb
    sim = BatchSim("model.xml", num_envs=8, law=law)
    for _ in range(count):
        status: NDArray[np.int32] = sim.step()
        sim.reset(mask=status == Status.bad_input)
        sim.qpos[:] = 0.0
        yield sim.qpos.copy()


print(worst(stickslip.solve(W, b, 0.5)), [qpos.shape for qpos in steps(3)])
"""


pytestmark = pytest.mark.xdist_group("types")  # one process runs mypy


@pytest.fixture(scope="module")
def messages(tmp_path_factory):
    """What mypy says about each file: the package as it is installed, with its stubs, strictly,
    and programs that use it."""
    pytest.importorskip("mypy", reason="mypy is in the extra `test`")
    folder = tmp_path_factory.mktemp("types")
    package, programs = folder / "stickslip", folder / "programs"
    ignored = shutil.ignore_patterns("*.so", "__pycache__", "pages", "peers")
    shutil.copytree(Path(stickslip.__file__).parent, package, ignore=ignored)
    for stub in Path(_core.__file__).parent.glob("*.pyi"):
        shutil.copy(stub, package)
    programs.mkdir()
    (programs / "__init__.py").touch()
    (programs / "program.py").write_text(HEADER + PROGRAM)
    for number, line in enumerate(LINES):
        (programs / f"line{number}.py").write_text(HEADER + line + "\n")
    revealed = "".join(f"reveal_type({each})\n" for each in REVEALED)
    (programs / "revealed.py").write_text(HEADER + revealed)
    (folder / "mypy.ini").write_text(SETTINGS.format(folder=folder))
    command = [sys.executable, "-m", "mypy", "--config-file", "mypy.ini", "-p", "stickslip"]
    told = subprocess.run(
        [*command, "-p", "programs"], cwd=folder, capture_output=True, text=True, timeout=500
    )
    assert told.returncode in (0, 1), told.stdout + told.stderr
    found = {}
    for line in told.stdout.splitlines():
        if match := re.match(r"(\S+\.pyi?):(\d+): (?:error|note): (.*)", line):
            found.setdefault(match[1], []).append((int(match[2]), match[3]))
    return found


def test_the_package_is_strictly_typed(messages):
    found = [(file, *told) for file, told in messages.items() if file.startswith("stickslip/")]
    assert not found


def test_a_program_passes_strictly(messages):
    assert "programs/program.py" not in messages


@pytest.mark.parametrize("line", LINES)
def test_lines_of_programs(line, messages):
    told = messages.get(f"programs/line{list(LINES).index(line)}.py", [])
    if not LINES[line]:
        assert not told
    else:
        assert any(LINES[line] in text for _, text in told), told


def test_results_have_precise_types(messages):
    first = HEADER.count("\n") + 1
    told = {number - first: text for number, text in messages["programs/revealed.py"]}
    for place, (each, expected) in enumerate(REVEALED.items()):
        assert expected in told[place], (each, told[place])


@pytest.mark.parametrize("name", NAMES)
def test_names_are_those_of_the_library(name):
    assert list(get_args(getattr(aliases, name))) == [member.name for member in NAMES[name]]


def test_other_names_are_those_that_are_accepted():
    laws, own = get_args(aliases.SimLawName), get_args(aliases.LawName)
    assert laws == (*own, "mujoco")
    assert set(get_args(aliases.LcpPrecisionName)) < set(get_args(aliases.PrecisionName))
    for argument, names in (
        ("law", laws),
        ("integrator", get_args(aliases.Integrator)),
        ("softness", get_args(aliases.Softness)),
    ):
        with pytest.raises(ValueError, match=f"{argument}: expected") as caught:
            stickslip.BatchSim("<mujoco/>", **{argument: "no such name"})
        for name in names:
            assert name in str(caught.value)


@pytest.mark.parametrize(
    ("function", "keywords", "others"),
    [
        (stickslip.solve, keywords.SolveKeywords, {"W", "b", "mu", "certificates"}),
        (
            stickslip.residual,
            keywords.ProblemKeywords,
            {"W", "b", "mu", "r", "directions", "details"},
        ),
        (stickslip.BoundSolver, keywords.BoundKeywords, {"W", "M", "J", "engine"}),
    ],
)
def test_overloads_have_the_keywords_of_the_function(function, keywords, others):
    assert set(keywords.__annotations__) | others == set(signature(function).parameters)


def test_a_result_with_a_parameter_is_the_same_class():
    assert isinstance(stickslip.solve([[1.0]], [-1.0], [], dims=[], n_nonneg=1), Solution)


def test_the_installed_package_has_its_types(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(HEADER + 'stickslip.solve(W, b, 0.5, law="cuolomb")\n')
    command = [sys.executable, "-m", "mypy", "--cache-dir", str(tmp_path / "cache"), str(program)]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "No overload variant" in ran.stdout, ran.stdout + ran.stderr
