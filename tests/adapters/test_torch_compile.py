"""stickslip.torch in functions that torch compiles, and its operator."""

import numpy as np
import pytest
from batches import batch, tensors

import stickslip
from stickslip import SolveOptions

torch = pytest.importorskip("torch", reason="torch is in the extra `torch`")
adapter = pytest.importorskip("stickslip.torch")

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


@pytest.fixture(autouse=True)
def nothing_compiled():
    torch.compiler.reset()


def compiled(function, backend="aot_eager"):
    return torch.compile(function, fullgraph=True, backend=backend)


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_a_compiled_function_has_the_same_bits(backend):
    def step(W, b, mu):
        solution = adapter.solve(W, b, mu, law="coulomb")
        return torch.relu(solution.impulse) * 2 + b, solution.ok, solution

    given = tensors(batch("contacts"))
    one = compiled(step, backend)
    for num_envs in (9, 4, 5):  # the second compilation leaves their number open
        part = {name: value[:num_envs] for name, value in given.items()}
        got, expected = one(**part), step(**part)
        assert torch.equal(got[0], expected[0])
        assert torch.equal(got[1], expected[1])
        for found, right in zip(got[2], expected[2], strict=True):
            assert torch.equal(found, right)


@pytest.mark.parametrize(
    "name", ["one number", "kinds of rows", "dimensions", "ragged", "all kinds ragged", "warm"]
)
def test_all_arguments_are_traced(name):
    given = tensors(batch(name))
    one = compiled(lambda given: adapter.solve(**given).impulse)
    assert torch.equal(one(given), adapter.solve(**given).impulse)


def test_options_that_the_function_creates_are_used():
    given = tensors(batch("contacts"))

    def eight():
        return adapter.solve(**given, law="pyramid", options=SolveOptions(directions=8)).impulse

    assert torch.equal(compiled(eight)(), eight())
    assert not torch.equal(eight(), adapter.solve(**given, law="pyramid").impulse)


def test_numbers_may_change_from_call_to_call():
    given = tensors(batch("contacts") | {"mu": None})

    def step(given, mu, tol, rows):
        small = {"W": given["W"][:, :rows, :rows], "b": given["b"][:, :rows], "mu": mu}
        return adapter.solve(**small, tol=tol).impulse

    one = compiled(step)
    for mu, tol, rows in ((0.5, 1e-6, 3), (0.6, 1e-7, 6), (0.7, 1e-3, 9), (0.8, 1e-8, 12)):
        assert torch.equal(one(given, mu, tol, rows), step(given, mu, tol, rows))


def test_errors_name_the_argument():
    given = tensors(batch("contacts"))
    one = compiled(lambda given: adapter.solve(**given).impulse)
    with pytest.raises(Exception, match=r"b: expected shape \(9, 12\), got \(9, 11\)"):
        one(given | {"b": given["b"][:, :11]})
    with pytest.raises(Exception, match="mu: expected a number or shape"):
        one(given | {"mu": given["mu"][:, :3]})


@pytest.mark.parametrize("name", ["contacts", "all kinds ragged"])
def test_the_operator_keeps_the_rules_of_torch(name, monkeypatch):
    calls = []
    monkeypatch.setattr(adapter.torch_gradient, "solve", lambda *given: calls.append(given))
    with pytest.raises(TypeError):
        adapter.solve(**tensors(batch(name)))
    torch.library.opcheck(torch.ops.stickslip.solve.default, calls[0])


def test_modes_of_torch_see_the_operator():
    from torch.utils._python_dispatch import TorchDispatchMode

    seen = []

    class Names(TorchDispatchMode):
        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            seen.append(str(function))
            return function(*args, **(kwargs or {}))

    given = tensors(batch("contacts"))
    with Names():
        got = adapter.solve(**given)
    assert "stickslip.solve.default" in seen
    assert torch.equal(got.impulse, adapter.solve(**given).impulse)


def test_an_exported_program_solves():
    class Step(torch.nn.Module):
        def forward(self, W, b, mu):
            return adapter.solve(W, b, mu).impulse

    given = tuple(tensors(batch("contacts")).values())
    program = torch.export.export(Step(), given)
    expected = stickslip.solve(**batch("contacts")).impulse
    assert np.array_equal(program.module()(*given).numpy(), expected)
