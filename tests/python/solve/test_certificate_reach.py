"""What a certificate excludes (docs/mathematics.md §5), against rational arithmetic: every impulse
of r / rho up to 10^12 max|b|, for float data too."""

from fractions import Fraction

import numpy as np
import pytest

import stickslip
from stickslip import Status

REACH = 10**12
TOL = 1e-9


def fractions(array):
    return [Fraction(float(v)) for v in array]


class Rational:
    """One problem without compliance, in rows free | nonneg | box | contacts of dimension 3."""

    def __init__(self, W, b, mu, n_free, n_nonneg, lo, hi):
        self.W, self.b, self.mu = [fractions(row) for row in W], fractions(b), fractions(mu)
        self.free, self.boxes, self.n = n_free, n_free + n_nonneg, len(b)
        self.lo, self.hi = lo, hi
        self.scalars = self.boxes + len(lo)

    def stiffness(self):
        """1 / rho of each scalar row and contact."""
        own = [self.W[i][i] for i in range(self.scalars)]
        for row in range(self.scalars, self.n, 3):
            own.append(max(self.W[i][i] for i in range(row, row + 3)))
        largest = max([w for w in own if w > 0], default=Fraction(1))
        return [w if w > 0 else largest for w in own]

    def bounds(self, i):
        if i < self.boxes:
            return (-np.inf if i < self.free else 0.0), np.inf
        return self.lo[i - self.boxes], self.hi[i - self.boxes]

    def largest(self, g, size, item):
        """The largest g . r of a scalar row or contact for |r| <= size, at least 0."""
        if item < self.scalars:
            low, high = self.bounds(item)
            high = size if high == np.inf else min(Fraction(high), size)
            low = -size if low == -np.inf else max(Fraction(low), -size)
            return max(g[item] * high, g[item] * low, 0)
        k = item - self.scalars
        row = self.scalars + 3 * k
        return max(g[row] + self.mu[k] * (abs(g[row + 1]) + abs(g[row + 2])), 0) * size

    def balance(self, y):
        """Negative if y, which has valid signs, is a proof; and the size of its terms."""
        y, rows = fractions(y), range(self.n)
        g = [sum(self.W[j][i] * y[j] for j in rows if y[j]) for i in rows]
        reach = REACH * max(abs(v) for v in self.b)
        power = sum(self.b[i] * y[i] for i in rows)
        rho = self.stiffness()
        most = sum(self.largest(g, reach / rho[item], item) for item in range(len(rho)))
        gap = 4 * Fraction(tolerance(self.b))
        slack = dict.fromkeys(rows, gap)
        for k, mu in enumerate(self.mu):
            slack[self.n - 3 * (len(self.mu) - k)] *= 1 + mu
        total = power + most + sum(slack[row] * abs(y[row]) for row in rows)
        return total, abs(power) + most


def tolerance(b):
    """As in kernels/residual/tolerance.hpp, up to the last bit: the cases are not that near."""
    return TOL * float(max(abs(v) for v in b)) + TOL


def near_problem(rng, dtype, rows):
    """A problem, and y with W^T y = 0 up to a last row q of W, which is of the order of 1e-12.

    y_q is chosen so that y is almost a proof or almost none: the share of q in y . b + g . r is
    that of all others but for a factor 1 + delta, delta from 1e-12 to 0.5.
    """
    n_free, n_nonneg, n_box, contacts = rows
    scalars, n = n_free + n_nonneg + n_box, n_free + n_nonneg + n_box + 3 * contacts
    lo, hi = -rng.integers(1, 8, n_box) / 8, np.full(n_box, np.inf)
    W = rng.integers(-8, 9, (n, n)).astype(float)
    W[np.arange(n), np.arange(n)] = rng.integers(1, 9, n)
    y = np.zeros(n)
    used = np.r_[0:scalars, scalars:n:3]
    y[used] = rng.integers(1, 8, len(used))
    y[:n_free] *= rng.choice([-1, 1], n_free)
    first, q = used[-2], used[-1]  # positive weights; the row `first` balances those before q
    y[first], y[q] = 1.0, 0.0
    W[used[:-2], first] = -np.sign(y[used[:-2]]) * rng.integers(0, 4, len(used) - 2)
    W[first] = -(y @ W - W[first])
    W[q] = rng.integers(-99, 100, n) * 2.0**-47
    W[q, q] = 0.0  # its rho is that of the stiffest row
    b = rng.integers(-64, 65, n) / 64
    b[q] = 0.0
    b[first] -= y @ b + rng.integers(1, 64) / 64
    mu = rng.integers(1, 9, contacts) / 8
    W, b = W.astype(dtype), b.astype(dtype)
    exact = Rational(W, b, mu, n_free, n_nonneg, lo, hi)
    without = float(-exact.balance(y)[0])
    y[q] = 1.0
    share = float(exact.balance(y)[0]) + without
    delta = 10.0 ** rng.uniform(-12, np.log10(0.5)) * rng.choice([-1, 1])
    if not (without > 0 and share > 0):
        return None
    y[q] = without / share * (1 + delta)
    return exact, (W, b, mu, lo, hi, y)


ROWS = [(0, 3, 0, 0), (2, 2, 0, 0), (0, 0, 0, 2), (1, 1, 1, 1), (2, 0, 0, 2), (0, 2, 2, 0)]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_certificates_hold_exactly_where_rational_arithmetic_says_so(dtype):
    rng = np.random.default_rng(51)
    found = []
    for rows in ROWS:
        cases = []
        while len(cases) < 850:
            case = near_problem(rng, dtype, rows)
            if case is not None:
                cases.append(case)
        arrays = [np.stack(part) for part in zip(*(arrays for _, arrays in cases), strict=True)]
        W, b, mu, lo, hi, y = arrays
        others = {"n_free": rows[0], "n_nonneg": rows[1], "law": "box", "tol": TOL}
        if rows[2]:
            others |= {"lo": lo.astype(dtype), "hi": hi.astype(dtype)}
        holds = stickslip.certificate_holds(W, b, mu.astype(dtype), y, **others)
        for (exact, given), told in zip(cases, holds, strict=True):
            balance, size = exact.balance(given[-1])
            if abs(balance) > 1e-13 * size:
                assert told == (balance < 0), (rows, float(balance / size))
            found.append(told)
    assert len(found) == 6 * 850
    assert 0.4 < np.mean(found) < 0.6


# W = (1 + d) I - 1 1^T / n has condition number (1 + d) / d, and r = 1 / d solves it exactly.
def nearly_singular(n, d, dtype):
    W = ((1 + d) * np.eye(n) - np.ones((n, n)) / n).astype(dtype)
    return {"W": W, "b": -np.ones(n, dtype), "mu": 0.5, "n_nonneg": n}


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("n", [2, 16, 256])
def test_a_certificate_reaches_as_far_as_it_says(dtype, n):
    for k in range(8, 20 if dtype == "f4" else 46):  # in float, 1 + d is 1 beyond 2^-23
        d = 2.0**-k
        problem = nearly_singular(n, d, dtype)
        proved = n * d * REACH / (1 + d - 1 / n) + 8 * TOL * n < n
        told = stickslip.certificate_holds(**problem, certificate=np.ones(n))
        assert told == proved, k
        assert proved == (k > 40 or (k == 40 and n > 2)), k  # r W_ii is 2^k (1 + d - 1 / n)


@pytest.mark.parametrize(
    ("n", "d"), [(200, 1e-3), (256, 2.0**-10), (128, 2.0**-11), (64, 1e-4), (32, 2.0**-14)]
)
def test_float_problems_of_condition_1e3_and_more_are_not_called_infeasible(n, d):
    problem = nearly_singular(n, d, "f4")
    solution = stickslip.solve(**problem, precision="float32")
    assert solution.status in (Status.solved, Status.not_converged)
    wide = {key: np.asarray(value, float) for key, value in problem.items() if key in ("W", "b")}
    r = stickslip.solve(**(problem | wide)).impulse
    W, b, r = (fractions(v) for v in (problem["W"].ravel(), problem["b"], r))
    u = [sum(W[i * n + j] * r[j] for j in range(n)) + b[i] for i in range(n)]
    assert max(abs(min(r[i], u[i])) for i in range(n)) < 1e-5  # so there is a solution


@pytest.mark.parametrize(("n", "k"), [(256, 39), (128, 38), (64, 36)])
def test_problems_with_solutions_near_1e11_are_not_called_infeasible(n, k):
    assert stickslip.solve(**nearly_singular(n, 2.0**-k, "f8")).status != Status.infeasible


def stack(dtype, b, contacts):
    """Bodies of 1, 1e3 and 1e6 kg, each resting on the one before, the first on the floor."""
    W = np.array([[1.0, -1.0, 0.0], [-1.0, 1.001, -1e-3], [0.0, -1e-3, 1.001e-3]])
    if not contacts:
        return {"W": W.astype(dtype), "b": np.array(b, dtype), "mu": 0.5, "n_nonneg": 3}
    full = np.kron(W, np.diag([1.0, 0, 0])) + np.kron(W, np.diag([0, 1.0, 1.0]))
    return {"W": full.astype(dtype), "b": np.kron(b, [1.0, 0, 0]).astype(dtype), "mu": 0.5}


LAWS = ["coulomb", "convex", "pyramid", "box", "frictionless"]


@pytest.mark.parametrize("b", [(-0.0981, 0, 0), (-1.0, 0, 0), (-0.0981, -0.0981, -0.0981)])
@pytest.mark.parametrize("contacts", [False, True])
@pytest.mark.parametrize("law", LAWS)
def test_a_heavy_body_on_light_ones_rests_in_float(law, contacts, b):
    problem = stack("f4", b, contacts)
    solution = stickslip.solve(**problem, law=law, precision="float32")
    assert solution.status in (Status.solved, Status.not_converged)
    y = np.array([1.0, 1.0, 0.999])  # W^T y = (0, 1e-6, 1e-9), the rounding errors of float
    full = np.kron(y, [1.0, 0, 0]) if contacts else y
    assert not stickslip.certificate_holds(
        **problem, certificate=full, law=law, precision="float32"
    )


def test_linear_complementarity_problems_have_the_same_reach():
    for k, status in ((30, "not_converged"), (38, "not_converged"), (48, "infeasible")):
        problem = nearly_singular(8, 2.0**-k, "f8")
        solution = stickslip.solve_lcp(problem["W"], problem["b"], method="lemke")
        assert solution.status == Status[status], k
