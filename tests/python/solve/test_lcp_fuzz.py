"""Random use of solve_lcp: a correct verdict for any numbers."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from test_lcp import natural_map, rounding

from stickslip import Status, solve_lcp

NASTY = st.sampled_from([np.nan, np.inf, -np.inf, 1e308, -1e308, 1e-308, 0.0, -1.0, 1e30])
NUMBERS = st.one_of(st.floats(-10, 10), NASTY)


@st.composite
def problems(draw):
    n = draw(st.integers(0, 5))
    numbers = draw(st.sampled_from([NUMBERS, st.integers(-3, 3).map(float)]))
    arguments = {
        "M": draw(hnp.arrays(np.float64, (n, n), elements=numbers)),
        "q": draw(hnp.arrays(np.float64, n, elements=numbers)),
        "n_free": draw(st.integers(0, n)),
    }
    if draw(st.booleans()):
        arguments["lo"] = draw(hnp.arrays(np.float64, n, elements=numbers))
        width = np.abs(draw(hnp.arrays(np.float64, n, elements=numbers)))
        with np.errstate(all="ignore"):
            arguments["hi"] = arguments["lo"] + width
        others = [st.sampled_from([-1, *(j for j in range(n) if j != i)]) for i in range(n)]
        arguments["findex"] = np.array(draw(st.tuples(*others)), np.int64)
    return arguments


@settings(max_examples=400, deadline=None, derandomize=True)
@given(problems(), st.sampled_from(["auto", "lemke", "newton"]))
def test_any_numbers(arguments, method):
    with np.errstate(all="ignore"):
        solution = solve_lcp(**arguments, method=method)
        assert np.isfinite(solution.z).all()
        assert not np.isnan(solution.residual)
        if solution.status == Status.bad_input:
            assert np.isinf(solution.residual)
        elif solution.ok:
            residual = natural_map(solution.z, **arguments)
            limit = 1e-9 * (1 + np.abs(arguments["q"]).max(initial=0.0))
            slack = 0.0 if solution.z.size == 0 else rounding(solution.z, **arguments)
            assert residual <= limit * (1 + 1e-9) + slack
