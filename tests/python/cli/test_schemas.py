"""The JSON schemas of the package describe what the commands write, key by key."""

import importlib.resources
import json
from typing import get_args

import numpy as np
import pytest
from command_line import call
from file_problems import contact_problem
from jsonschema import Draft202012Validator, ValidationError

import stickslip
from stickslip import files
from stickslip._src import aliases
from stickslip._src.run import QUANTILES, STAGES
from stickslip.files import judge

pytestmark = pytest.mark.usefixtures("elsewhere")
SCHEMAS = importlib.resources.files("stickslip") / "schemas"
BALL = """<mujoco><worldbody><geom type="plane" size="5 5 .1"/>
  <body pos="0 0 .1"><freejoint/><geom size=".1"/></body></worldbody></mujoco>"""
NAN = BALL.replace("0 0 .1", "0 0 nan")


def schema(name):
    return json.loads((SCHEMAS / f"{name}.schema.json").read_text(encoding="utf-8"))


def complete(part):
    """The schema with every key refused that it does not describe."""
    if isinstance(part, list):
        return [complete(each) for each in part]
    if not isinstance(part, dict):
        return part
    closed = {"additionalProperties": False} if isinstance(part.get("properties"), dict) else {}
    return closed | {key: complete(value) for key, value in part.items()}


def assert_describes(name, record):
    Draft202012Validator(complete(schema(name))).validate(record)


@pytest.mark.parametrize("name", ["run", "solve", "check"])
def test_they_are_schemas(name):
    assert {path.name for path in SCHEMAS.iterdir()} == {
        f"{each}.schema.json" for each in ("run", "solve", "check")
    }
    Draft202012Validator.check_schema(schema(name))


@pytest.mark.parametrize(
    ("model", "options"),
    [
        (BALL, ["--frames", "1"]),
        (BALL, ["--no-picture", "--law", "mujoco", "--control", "zero"]),
        (BALL, ["--no-picture", "--law", "convex", "--tol", "1e-6", "--control", "sine"]),
        (NAN, ["--no-picture"]),
    ],
)
def test_run(model, options, tmp_path):
    (tmp_path / "ball.xml").write_text(model)
    arguments = ["--envs", 2, "--steps", 3, "--out", tmp_path, *options]
    shown = call("run", tmp_path / "ball.xml", *arguments)
    assert shown.exit_code == 0, shown.output
    assert_describes("run", json.loads((tmp_path / "run.json").read_text()))


@pytest.fixture
def problems(tmp_path):
    """A file of every kind of answer: solved, bad input, infeasible, and complementarity."""
    W = np.diag([0.0, 1.0, 1.0])
    some = [
        contact_problem(1, "solved", (3,)),
        contact_problem(3, "bad", (3,), mu=np.array([-1.0, -1.0])),
        files.ContactProblem("none", W, np.array([-1.0, 0, 0]), np.ones(2), np.array([3])),
        files.ComplementarityProblem("pair", np.eye(2), np.array([-5.0, 6.0])),
    ]
    files.write(tmp_path / "some.h5", some)
    return tmp_path / "some.h5"


def test_solve_and_check(problems):
    record = json.loads(call("solve", problems, "--json", "--out", problems).stdout)
    assert record["status"] == {"solved": 2, "bad_input": 1, "infeasible": 1}
    assert_describes("solve", record)
    record = json.loads(call("check", problems, "--json").stdout)
    assert {s["certificate"] for s in record["solutions"]} == {"missing", "proves", None}
    assert_describes("check", record)


def test_a_report_that_is_not_one_is_refused(problems):
    record = json.loads(call("solve", problems, "--json").stdout)
    for key, value in {"status": "done", "residual": -1.0, "rows": 1.5, "law": "mujoco"}.items():
        broken = record | {"problems": [record["problems"][0] | {key: value}]}
        with pytest.raises(ValidationError):
            assert_describes("solve", broken)
    del record["file"]
    with pytest.raises(ValidationError):
        assert_describes("solve", record)


def test_names_are_those_of_the_library():
    run, solve, check = (schema(name) for name in ("run", "solve", "check"))
    statuses = [status.name for status in stickslip.Status]
    assert run["properties"]["status"]["required"] == statuses
    assert run["$defs"]["worst"]["properties"]["status"]["enum"] == statuses
    assert solve["$defs"]["status"]["enum"] == statuses
    settings = run["$defs"]["settings"]["properties"]
    for key, names in {
        "law": aliases.SimLawName,
        "solver": aliases.SolverName,
        "precision": aliases.PrecisionName,
        "backend": aliases.Backend,
        "control": aliases.Control,
    }.items():
        assert settings[key]["enum"] == [*get_args(names)], key
    assert {*settings["integrator"]["enum"]} == {*get_args(aliases.Integrator)} - {"model"}
    parts = run["properties"]
    assert parts["solver"]["propertyNames"]["enum"] == [*get_args(aliases.SolverName)]
    assert parts["stage_seconds"]["required"] == [*STAGES, "other"]
    assert parts["residual_quantiles"]["required"] == [str(q) for q in QUANTILES]
    laws = [*get_args(aliases.LawName)]
    problem = solve["properties"]["problems"]["items"]["properties"]
    assert problem["law"]["enum"] == [*laws, None]
    solution = check["properties"]["solutions"]["items"]["properties"]
    assert solution["law"]["enum"][: len(laws)] == laws
    assert {*judge.Check.__dataclass_fields__, "solved", "wrong"} == {*solution}
