"""Gradients through stickslip.torch: against differences and numpy, compiled, what is refused."""

from types import SimpleNamespace

import numpy as np
import pytest
from batches import LAWS, NAMES, batch, compliant, first, tensors

import stickslip
from stickslip import GradientStatus

torch = pytest.importorskip("torch", reason="torch is in the extra `torch`")
adapter = pytest.importorskip("stickslip.torch")

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")
FIELDS = ("b", "mu", "R", "lo", "hi", "status", "kink_distance", "inconsistency", "redundant")
KINDS = ("contacts", "one number", "kinds of rows", "dimensions", "ragged", "all kinds ragged")


def wanted(given, *names):
    """The same, with gradients of some."""
    return given | {name: given[name].clone().requires_grad_() for name in names}


def floats_of(given):
    return [name for name, value in given.items() if getattr(value, "is_floating_point", bool)()]


def loss_of(given, **kind):
    return (adapter.solve(**given, **kind).impulse ** 2).sum()


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("name", KINDS)
def test_gradients_are_those_of_differences(name, law):
    given = tensors(compliant(name))
    solution = adapter.solve(**given, law=law)
    verdict = adapter.vjp(**given, solution=solution, law=law)
    assert torch.equal(verdict.ok, solution.ok)
    assert verdict.kink_distance[solution.ok].min() > 1e-4  # in units of a difference
    names = floats_of(given)

    def impulse(turn, *values):
        changed = given | dict(zip(names, values, strict=True))
        changed["W"] = changed["W"] + turn @ turn.mT  # stays symmetric and definite
        found = adapter.solve(**changed, law=law, tol=1e-12)
        assert torch.equal(found.ok, solution.ok)
        return found.impulse

    rng = torch.Generator().manual_seed(1)
    turn = 0.1 * torch.randn(*given["W"].shape[:2], 2, dtype=torch.float64, generator=rng)
    fixed = {"W"}
    values = [
        value.clone().requires_grad_(key not in fixed)
        for key, value in given.items()
        if key in names
    ]
    impulse(turn.requires_grad_(), *values).sum().backward()
    assert turn.grad.abs().max() > 1e-3
    assert torch.autograd.gradcheck(impulse, [turn, *values], atol=1e-5)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_vjp_has_the_bits_of_numpy(name, law, dtype):
    arguments = batch(name, dtype)
    solution = stickslip.solve(**arguments, law=law)
    own = adapter.solve(**tensors(arguments), law=law)
    arguments.pop("warm_start", None)
    rng = np.random.default_rng(3)
    kinds, shape = ("d_impulse", "d_velocity"), arguments["b"].shape
    loss = {key: rng.normal(size=shape).astype(dtype) for key in kinds}
    expected = stickslip.vjp(**arguments, solution=solution, **loss, law=law)
    got = adapter.vjp(**tensors(arguments), solution=own, **tensors(loss), law=law)
    for field in ("W", *FIELDS):
        found, right = getattr(got, field), getattr(expected, field)
        assert (found is None) == (right is None), field
        assert found is None or np.array_equal(found.numpy(), right), field
    assert got.ok.any()


def test_backward_has_the_bits_of_vjp():
    given = wanted(tensors(compliant("kinds of rows", 9)), "W", "b", "mu", "R", "lo", "hi")
    solution = adapter.solve(**given)
    (solution.impulse**2).sum().backward()
    plain = {key: getattr(value, "detach", lambda v=value: v)() for key, value in given.items()}
    found = adapter.vjp(**plain, solution=solution, d_impulse=2 * solution.impulse.detach())
    for name in ("W", "b", "mu", "hi"):  # one per environment
        assert torch.equal(given[name].grad, getattr(found, name)), name
    for name in ("R", "lo"):  # shared
        assert torch.equal(given[name].grad, getattr(found, name).sum(0)), name


def test_every_form_of_mu_has_its_gradient():
    given = tensors(compliant("dimensions", 4))
    rows = torch.rand(10, dtype=torch.float64) + 0.1
    contact = torch.tensor([0, 0, 1, 1, 1, 2, 2, 2, 2, 2])

    def gradient(mu):
        leaf = mu.clone().requires_grad_()
        loss_of(given | {"mu": leaf}).backward()
        return leaf.grad

    one = torch.tensor(0.5, dtype=torch.float64)
    everywhere = gradient(one.expand(4, 10))
    assert everywhere.abs().max() > 1e-3
    by_contact = torch.zeros(4, 3, dtype=torch.float64).index_add(1, contact, everywhere)
    for mu, expected in (
        (one, everywhere.sum()),
        (one.expand(3), by_contact.sum(0)),
        (one.expand(4, 3), by_contact),
        (one.expand(10), everywhere.sum(0)),
    ):
        torch.testing.assert_close(gradient(mu), expected, rtol=1e-12, atol=1e-14)
    assert not torch.equal(gradient(rows), everywhere.sum(0))


def test_velocities_are_differentiated_through_their_equation():
    given = wanted(tensors(compliant("contacts")), "W", "b")
    impulse = adapter.solve(**given).impulse
    velocity = (given["W"] @ impulse[..., None])[..., 0] + given["R"] * impulse + given["b"]
    (velocity**2).sum().backward()
    plain = {key: value.detach() for key, value in given.items()}
    solution = adapter.solve(**plain)
    found = adapter.vjp(**plain, solution=solution, d_velocity=2 * velocity.detach())
    torch.testing.assert_close(given["b"].grad, found.b, rtol=1e-10, atol=1e-10)
    torch.testing.assert_close(given["W"].grad, found.W, rtol=1e-10, atol=1e-10)


def test_what_is_not_solved_has_no_gradient():
    given = tensors(compliant("contacts", 9))
    before = wanted(given, "W", "b")
    loss_of(before).backward()
    given["W"][3, 2, 1] = np.nan
    given = wanted(given, "W", "b")
    loss_of(given).backward()
    others = torch.arange(9) != 3
    for name in ("W", "b"):
        assert not given[name].grad[3].any()
        assert torch.equal(given[name].grad[others], before[name].grad[others])
    plain = {key: value.detach() for key, value in given.items()}
    status = adapter.vjp(**plain, solution=adapter.solve(**plain)).status
    assert status[3] == GradientStatus.unsolved


def test_a_box_at_the_edge_of_its_cone_is_a_kink_and_has_a_gradient():
    W, b = torch.eye(3, dtype=torch.float64), torch.tensor([-1.0, 0.5, 0.0], dtype=torch.float64)
    b.requires_grad_()
    solution = adapter.solve(W, b, 0.5)
    solution.impulse[1].backward()
    assert adapter.vjp(W, b.detach(), 0.5, solution).status == GradientStatus.kink
    assert b.grad.isfinite().all()
    assert b.grad.any()


def test_descent_finds_the_friction_and_the_compliance():
    W = torch.eye(3, dtype=torch.float64).repeat(20, 1, 1)
    b = torch.tensor([-1.0, 0.3, 0.2], dtype=torch.float64) * torch.linspace(1, 3, 20)[:, None]
    R = torch.full((3,), 0.1, dtype=torch.float64)
    seen = adapter.solve(W, b, torch.tensor(0.2, dtype=torch.float64), R=R).impulse
    mu = torch.tensor(0.3, dtype=torch.float64, requires_grad=True)
    log_R = torch.full((3,), -1.0, dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.Adam([mu, log_R], lr=0.02)
    for _ in range(400):
        optimizer.zero_grad()
        loss = ((adapter.solve(W, b, mu, R=log_R.exp()).impulse - seen) ** 2).mean()
        loss.backward()
        optimizer.step()
    assert abs(mu.item() - 0.2) < 1e-3
    assert abs(log_R[0].exp().item() - 0.1) < 1e-3


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
@pytest.mark.parametrize("name", ["contacts", "kinds of rows", "all kinds ragged"])
def test_a_compiled_function_has_the_same_gradients(name, backend):
    torch.compiler.reset()
    given = tensors(compliant(name, 4))
    names = floats_of(given)
    step = torch.compile(lambda given: loss_of(given), fullgraph=True, backend=backend)
    for each in (names, ["b"]):
        got, expected = wanted(given, *each), wanted(given, *each)
        step(got).backward()
        loss_of(expected).backward()
        for key in each:
            torch.testing.assert_close(got[key].grad, expected[key].grad, rtol=1e-13, atol=1e-14)


@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor:UserWarning")  # of opcheck
@pytest.mark.parametrize("name", ["contacts", "kinds of rows", "all kinds ragged"])
def test_the_operators_keep_the_rules_of_torch(name, monkeypatch):
    given = tensors(compliant(name, 4))
    calls, own = [], torch.ops.stickslip

    def spy(operator):
        return lambda *arguments: calls.append((operator, arguments)) or operator(*arguments)

    named = {
        name: SimpleNamespace(default=spy(getattr(own, name).default))
        for name in ("solve", "solve_vjp")
    }
    monkeypatch.setattr(adapter.torch_gradient, "_operators", SimpleNamespace(**named))
    loss_of(wanted(given, *floats_of(given))).backward()
    assert [operator for operator, _ in calls] == [own.solve.default, own.solve_vjp.default]
    for operator, arguments in calls:
        leaves = [
            each.detach().requires_grad_(each.requires_grad and operator is own.solve.default)
            if isinstance(each, torch.Tensor)
            else each
            for each in arguments
        ]
        torch.library.opcheck(operator, leaves)


@pytest.mark.filterwarnings("ignore:There is a performance drop:UserWarning")
def test_the_transforms_of_torch_differentiate():
    given = tensors(compliant("contacts", 3))
    leaf = wanted(given, "b")
    loss_of(leaf).backward()
    loss = lambda b, W=given["W"], mu=given["mu"]: loss_of(given | {"W": W, "b": b, "mu": mu})  # noqa: E731
    assert torch.equal(torch.func.grad(loss)(given["b"]), leaf["b"].grad)
    each = torch.func.vmap(torch.func.grad(loss))(given["b"], given["W"], given["mu"])
    assert torch.equal(each, leaf["b"].grad)


@pytest.mark.filterwarnings("ignore:.torch.jit.script:FutureWarning")  # of torch itself
@pytest.mark.filterwarnings("ignore:There is a performance drop:UserWarning")
def test_second_derivatives_are_refused():
    given = wanted(tensors(compliant("contacts")), "b", "mu")
    (first,) = torch.autograd.grad(loss_of(given), given["b"], create_graph=True)
    with pytest.raises(NotImplementedError, match=r"stickslip\.torch: .* second derivative"):
        first.sum().backward()
    loss = lambda b: loss_of(given | {"b": b})  # noqa: E731
    for transform in (torch.func.hessian(loss), torch.func.jacrev(torch.func.jacrev(loss))):
        with pytest.raises(NotImplementedError, match=r"stickslip\.torch: .* second derivative"):
            transform(given["b"].detach())


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("name", NAMES)
def test_the_path_of_a_gpu_has_the_same_bits(name, law, monkeypatch):
    """Run on the CPU: the arrays of a BoundSolver, which differentiates where they are."""
    assert torch._C._dispatch_has_kernel_for_dispatch_key("stickslip::solve_vjp", "CUDA")
    monkeypatch.setattr(torch.cuda, "is_current_stream_capturing", lambda: False)
    monkeypatch.setattr(torch.cuda, "current_stream", lambda device: None)
    for batched in (True, False) if name == "contacts" else (True,):
        given = tensors(batch(name) if batched else first(batch(name)))
        given.pop("warm_start", None)
        solution = adapter.solve(**given, law=law)
        loss = {"d_impulse": solution.impulse, "d_velocity": torch.ones_like(given["b"])}
        expected = adapter.vjp(**given, solution=solution, **loss, law=law)
        with monkeypatch.context() as patch:
            patch.setattr(adapter.torch_gradient, "vjp", adapter.torch_gradient._on_cuda)
            got = adapter.vjp(**given, solution=solution, **loss, law=law)
        assert expected.b.any()
        for field in FIELDS:
            found, right = getattr(got, field), getattr(expected, field)
            assert (found is None) == (right is None), field
            assert found is None or (found.is_contiguous() and torch.equal(found, right)), field


def test_nothing_is_recorded_unless_it_is_wanted():
    given = tensors(batch("warm"))
    for name in ("W", "b", "mu", "R"):
        leaf = wanted(given, name)
        solution = adapter.solve(**leaf)
        assert solution.impulse.requires_grad
        assert not solution.residual.requires_grad
        assert not solution.status.requires_grad
        with torch.no_grad():
            assert not adapter.solve(**leaf).impulse.requires_grad
    leaf = wanted(given, "b", "warm_start")
    loss_of(leaf).backward()
    assert leaf["warm_start"].grad is None
    assert leaf["b"].grad is not None


def test_errors_name_the_argument():
    given = tensors(compliant("contacts"))
    solution = adapter.solve(**given)
    for change, message in (
        ({"solution": tuple(solution)}, "solution: expected a Solution, got tuple"),
        ({"d_impulse": torch.zeros(12)}, "d_impulse: expected float64, as W has, got float32"),
        ({"d_velocity": given["b"][:, :3]}, r"d_velocity: expected shape \(2, 12\) or \(12,\)"),
        ({"b": given["b"][0]}, r"b: expected shape \(2, 12\), got \(12,\)"),
    ):
        with pytest.raises((TypeError, ValueError), match=message):
            adapter.vjp(**{**given, "solution": solution, **change})
