"""bench/compare: profiles, verdicts, the command line, and the compiled adapters."""

import json

import h5py
import numpy as np
import pytest
from command import app
from comparison import OURS, PEERS, Comparison, find_modules, joined, summary
from comparisons import PROBLEMS, compiled, sticking
from profiles import performance_profile, performance_ratios, ratios_per_round
from typer.testing import CliRunner

from stickslip import Law, Solver, _compare, _core


@pytest.fixture
def file(tmp_path):
    return sticking(tmp_path)


@pytest.fixture(scope="module")
def deceivers(tmp_path_factory):
    return compiled("lying", tmp_path_factory.mktemp("peers"))


def call(*arguments):
    return CliRunner().invoke(app, [str(a) for a in arguments])


def test_profile_by_hand():
    inf = np.inf
    times = np.array([[1.0, 4.0, inf, inf], [2.0, 1.0, 3.0, inf]])
    expected = np.array([[1.0, 4.0, inf, inf], [2.0, 1.0, 1.0, inf]])
    assert (performance_ratios(times) == expected).all()
    profile = performance_profile(times, np.array([1.0, 2.0, 3.9, 4.0, 1e9]))
    assert (profile == [[0.25, 0.25, 0.25, 0.5, 0.5], [0.5, 0.75, 0.75, 0.75, 0.75]]).all()


def test_ratios_are_of_medians_within_a_round():
    ours = np.array([[1.0, 2.0], [1.0, 2.0], [9.0, 9.0]])
    theirs = np.array([[3.0, 2.0], [3.0, 2.0], [0.1, 0.1]])
    assert (ratios_per_round(theirs, ours) == [3.0, 1.0]).all()


def test_command(file, tmp_path):
    out = tmp_path / "out"
    shown = call(file, "--no-peers", "--rounds", 3, "--out", out)
    assert shown.exit_code == 0, shown.output
    assert "2 problems left out" in shown.output
    assert (out / "compare.png").read_bytes().startswith(b"\x89PNG")
    report = json.loads((out / "compare.json").read_text())
    ours = [s for s in OURS if _core.supports(Solver[s.partition(":")[0]], Law.coulomb)]
    assert [row["solver"] for row in report["results"]] == ours
    assert report["problems"] == [f"sticking/{i}" for i in range(PROBLEMS)]
    for row in report["results"]:
        assert row["problems"] == PROBLEMS
        assert row["solved"] == 1.0
        assert 0 < row["us_median"] <= row["us_p95"] <= row["us_p99.9"] <= row["us_max"]
        for wrong in ("claimed_not_solved", "solved_not_claimed", "not_finite"):
            assert row[wrong] == 0
    first = report["results"][0]
    assert first["ratio_min"] == first["ratio_median"] == 1.0
    assert len(report["each"]["auto"]["us"]) == PROBLEMS


def test_command_on_a_family(tmp_path):
    arguments = ["--family", "stack", "--contacts", 4, "--count", 3, "--solvers", "newton,auto"]
    shown = call(*arguments, "--no-peers", "--rounds", 1, "--no-json", "--out", tmp_path)
    assert shown.exit_code == 0, shown.output
    assert "3 problems, law coulomb" in shown.output
    assert not (tmp_path / "compare.json").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "expected a FILE or --family"),
        (["--family", "stack", "--contacts", 3], "stack has no problems of 3"),
        (["--family", "box", "--contacts", 10**8], "contacts, count: expected sizes that fit"),
        (["--family", "box", "--count", 2 * 10**9], "contacts, count: expected sizes that fit"),
        (["--family", "box", "--count", 2**31], "--count"),
        (["--family", "box", "--rounds", 2 * 10**9], "rounds: expected sizes that fit"),
        (["--family", "box", "--solvers", "magic"], "solver: expected"),
        (["--family", "box", "--law", "box", "--solvers", "lemke"], "law: expected"),
    ],
)
def test_misuse(arguments, message, tmp_path):
    shown = call(*arguments, "--no-peers", "--out", tmp_path)
    assert shown.exit_code == 2
    assert message in shown.stderr


def test_file_without_problems_of_the_law(file, tmp_path):
    shown = call(file, "--law", "frictionless", "--no-peers", "--out", tmp_path)
    assert shown.exit_code == 0  # those for no particular law
    with h5py.File(file, "a") as open_file:
        for name in "12345":
            del open_file["problems"][name]
    shown = call(file, "--law", "frictionless", "--no-peers", "--out", tmp_path)
    assert shown.exit_code == 2
    assert "no contact problems of law frictionless" in shown.stderr


def test_law_that_nobody_takes(file, tmp_path, monkeypatch):
    monkeypatch.setenv("STICKSLIP_COMPARE", str(tmp_path))
    shown = call(file, "--law", "pyramid", "--out", tmp_path)
    ours = _core.supports(Solver.auto, Law.pyramid)
    assert shown.exit_code == (0 if ours else 2)
    assert ours or "no solver takes these problems under law pyramid" in shown.stderr


def test_deceivers_are_caught(file, deceivers):
    contest = Comparison(modules=[deceivers])
    contest.add_file(file)
    entries = contest.run(rounds=2)
    rows = {entry.name: summary(entry, entries[0]) for entry in entries}
    wrong = {
        name: (row["solved"], row["claimed_not_solved"], row["solved_not_claimed"])
        for name, row in rows.items()
    }
    assert wrong["auto"] == wrong["honest"] == (1.0, 0, 0)
    assert wrong["liar"] == wrong["garbler"] == (0.0, PROBLEMS, 0)
    assert wrong["modest"] == (1.0, 0, PROBLEMS)
    assert "choosy" not in rows
    assert rows["garbler"]["not_finite"] == PROBLEMS
    assert rows["garbler"]["worst_claimed"] == np.inf
    assert rows["liar"]["worst_claimed"] > 0.8  # m/s; the boxes still fall at 1
    assert rows["liar"]["not_finite"] == 0


def test_deceivers_in_the_report(file, deceivers, tmp_path, monkeypatch):
    monkeypatch.setenv("STICKSLIP_COMPARE", str(deceivers.parent))
    shown = call(file, "--rounds", 1, "--out", tmp_path)
    assert shown.exit_code == 0, shown.output
    assert "not installed: mujoco, pinocchio, siconos" in shown.output
    report = json.loads((tmp_path / "compare.json").read_text())
    garbler = next(row for row in report["results"] if row["solver"] == "garbler")
    assert garbler["worst_claimed"] == "inf"
    assert set(report["not_installed"]) == set(PEERS)


def test_problems_one_by_one_give_the_same_verdicts(file, deceivers):
    contest = Comparison(modules=[deceivers])
    contest.add_file(file)
    parts = list(contest.run_each(rounds=2))
    assert [len(part[0].able) for part in parts] == [1] * PROBLEMS
    together = {entry.name: entry for entry in contest.run(rounds=2)}
    for entry in joined(parts):
        other = together.pop(entry.name)
        for name in ("able", "claimed", "solved", "finite", "residual"):
            assert (getattr(entry, name) == getattr(other, name)).all()
        assert entry.us.shape == other.us.shape
    assert not together


def test_module_that_cannot_be_loaded(tmp_path):
    broken = tmp_path / "stickslip_peer_siconos.so"
    broken.write_text("not a library")
    contest = Comparison(modules=[broken])
    assert "siconos" in contest.missing
    with pytest.raises(RuntimeError, match="no function stickslip_peers"):
        _compare.Contest(_core.Law.coulomb, 1e-9, 1e-9).enter_module("libm.so.6")


def adapter(peer):
    modules, _ = find_modules()
    found = [file for file in modules if file.stem == f"stickslip_peer_{peer}"]
    if not found:
        pytest.skip(f"no adapter to {peer} was built")
    return found


@pytest.mark.parametrize(
    ("peer", "law", "solver"),
    [
        ("siconos", "coulomb", "siconos_nsgs"),
        ("siconos", "pyramid", "siconos_lemke"),
        ("pinocchio", "coulomb", "pinocchio_admm_aa"),
        ("pinocchio", "convex", "pinocchio_admm_aa"),
    ],
)
def test_adapter_states_the_same_problem(peer, law, solver):
    """What a peer returns solves our problem, up to the accuracy of the peer's own measure."""
    contest = Comparison(law=law, tol=1e-6, peer_tol=1e-9, modules=adapter(peer))
    contest.add_family("box", contacts=2, count=20)
    entry = next(e for e in contest.run(rounds=1) if e.name == solver)
    assert entry.able.all()
    assert entry.solved[entry.claimed].all()
    assert entry.claimed.mean() > 0.5  # by its own measure


def test_mujoco_states_the_same_problem():
    """All kinds of rows, with compliance as MuJoCo's cones require it."""
    contest = Comparison(law="convex", tol=1e-6, peer_tol=1e-9, modules=adapter("mujoco"))
    rng = np.random.default_rng(1)
    dims = np.array([3, 4, 6])
    rows = 2 + 2 + 2 + dims.sum()
    for i in range(20):
        J = rng.normal(size=(rows, 10))  # rank-deficient W
        R = rng.uniform(0.01, 0.1, rows)
        mu = rng.uniform(0.1, 1.0, (dims - 1).sum())
        row, k = 6, 0
        for dim in dims:
            friction = mu[k : k + dim - 1]
            R[row + 1 : row + dim] = R[row + 1] * (friction[0] / friction) ** 2
            row, k = row + dim, k + dim - 1
        bound = rng.uniform(0.1, 1.0, 2)
        contest.add_arrays(
            f"random/{i}", J @ J.T, rng.normal(size=rows), mu, dims=dims, n_free=2, n_nonneg=2,
            lo=-bound, hi=bound, R=R,
        )  # fmt: skip
    entries = {e.name: e for e in contest.run(rounds=1)}
    assert entries["mujoco_newton"].able.all()
    assert entries["mujoco_newton"].solved.all()
    assert entries["mujoco_pgs"].solved.any()


def test_mujoco_without_compliance_has_no_such_problem():
    contest = Comparison(law="convex", modules=adapter("mujoco"))
    contest.add_family("box", contacts=2, count=2)
    assert all(entry.ours for entry in contest.run(rounds=1))
