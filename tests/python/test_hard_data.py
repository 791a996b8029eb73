"""Solvable problems from adversarial tests that were called unsolvable, or left unsolved."""

import h5py
import numpy as np
import pytest
import robots

import stickslip
from stickslip import Status

FOLDER = robots.FOLDER.parent / "hard"
NAMES = (
    *("nosol_mass1e12_coulomb", "nosol_mass1e6_coulomb", "nosol_mixdims_coulomb"),
    *("nosol_mu1e3_coulomb", "nosol_mu1e3_pyramid", "nosol_wedge_coulomb", "nosol_zeroany_convex"),
    *("nosol_zeroany_coulomb", "nosol_zeronormal_coulomb", "zerogap_mass_1e6"),
)
UNSOLVED = {"nosol_mu1e3_pyramid"}


@pytest.mark.parametrize("name", NAMES)
def test_what_has_a_solution_is_not_called_infeasible(name):
    path = FOLDER / f"{name}.npz"
    if not path.exists():
        pytest.skip(f"{name}: no hard problems in $STICKSLIP_DATA")
    with np.load(path, allow_pickle=False) as data:
        problem = {key: data[key] for key in ("W", "b", "mu")}
        dims = data["dims"].astype(np.int32) if "dims" in data else None
    law = next((law for law in ("convex", "pyramid") if name.endswith(law)), "coulomb")
    status = stickslip.solve(**problem, dims=dims, law=law).status
    assert status == (Status.not_converged if name in UNSOLVED else Status.solved)


def test_what_random_starts_solve_is_solved():
    path = FOLDER / "unsolved_solvable.h5"
    if not path.exists():
        pytest.skip("no hard problems in $STICKSLIP_DATA")
    with h5py.File(path) as file:
        groups = [group for group in _groups(file) if "W" in group]
        problems = [{key: group[key][()] for key in ("W", "b", "mu")} for group in groups]
    assert len(problems) == 12
    for problem in problems:
        assert stickslip.solve(**problem).ok


def _groups(group):
    yield group
    for child in group.values():
        if isinstance(child, h5py.Group):
            yield from _groups(child)
