"""BoundSolver on a GPU: arrays, streams and graphs of torch and CuPy. Skipped without a GPU."""

import ctypes
import weakref

import numpy as np
import pytest
import test_bound_gradient
from problems import mechanisms
from test_bound import FIELDS

import stickslip
from stickslip import BoundSolver, _core

pytestmark = pytest.mark.skipif(not _core.cuda_available(), reason="no GPU here")


def import_torch():
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("torch sees no GPU")
    return torch


class Torch:
    """The operations of a framework that tests need."""

    def __init__(self):
        self.torch = import_torch()

    def array(self, values):
        return self.torch.tensor(values, device="cuda")

    def stream(self):
        return self.torch.cuda.Stream()

    def to_host(self, array):
        self.torch.cuda.synchronize()
        return self.torch.from_dlpack(array).cpu().numpy()

    def fill(self, array, values):
        self.torch.from_dlpack(array).copy_(self.torch.from_numpy(values))
        self.torch.cuda.synchronize()

    def capture(self, stream, enqueue):
        """A graph of what is enqueued on the stream, as a function that runs it there."""
        graph = self.torch.cuda.CUDAGraph()
        with self.torch.cuda.graph(graph, stream=stream):
            enqueue()

        def replay():
            with self.torch.cuda.stream(stream):
                graph.replay()

        return replay


class Cupy:
    def __init__(self):
        self.cupy = pytest.importorskip("cupy")

    def array(self, values):
        return self.cupy.asarray(values)

    def stream(self):
        return self.cupy.cuda.Stream(non_blocking=True)

    def to_host(self, array):
        self.cupy.cuda.Device().synchronize()
        return self.cupy.asnumpy(self.cupy.from_dlpack(array))

    def fill(self, array, values):
        array = self.cupy.from_dlpack(array)
        if hasattr(array, "set"):
            array.set(values)
        else:  # the emulator's
            to, source = ctypes.c_void_p(array.pointer), ctypes.c_void_p(values.ctypes.data)
            self.cupy._call("cudaMemcpy", to, source, ctypes.c_size_t(values.nbytes), 1)
        self.cupy.cuda.Device().synchronize()

    def capture(self, stream, enqueue):
        if hasattr(stream, "begin_capture"):
            stream.begin_capture()
            enqueue()
            graph = stream.end_capture()
            return lambda: graph.launch(stream)
        call, on = self.cupy._call, ctypes.c_void_p(stream.ptr)  # the emulator's
        graph, program = ctypes.c_void_p(), ctypes.c_void_p()
        call("cudaStreamBeginCapture", on, 2)
        enqueue()
        call("cudaStreamEndCapture", on, ctypes.byref(graph))
        call("cudaGraphInstantiate", ctypes.byref(program), graph, ctypes.c_ulonglong(0))
        return lambda: call("cudaGraphLaunch", program, on)


class OnlyInterface:
    """An array that has only `__cuda_array_interface__`, like Numba's."""

    def __init__(self, array):
        self.array = array

    @property
    def __cuda_array_interface__(self):
        return self.array.__cuda_array_interface__


@pytest.fixture(params=[Torch, Cupy])
def framework(request):
    return request.param()


@pytest.fixture
def host():
    M, J, v_free, b = mechanisms(num_envs=300)
    W = stickslip.delassus(M, J)
    solution = stickslip.solve(W, b, 0.5)
    v_next = stickslip.apply_impulse(M, J, solution.impulse, v_free)
    return {"M": M, "J": J, "v_free": v_free, "b": b, "W": W}, solution, v_next


def expect_same(framework, result, solution):
    for name in FIELDS:
        got = framework.to_host(getattr(result, name))
        assert np.array_equal(got, getattr(solution, name)), name


@pytest.mark.parametrize("wrap", [lambda array: array, OnlyInterface])
def test_has_the_bits_of_the_cpu(framework, host, wrap):
    arrays, solution, v_next = host
    device = {name: framework.array(values) for name, values in arrays.items()}
    given = {name: wrap(array) for name, array in device.items()}
    framework.to_host(device["W"])  # wait until the copies are complete
    stream = framework.stream()
    given_W = BoundSolver(W=given["W"], b=given["b"], mu=0.5, stream=stream)
    expect_same(framework, given_W(), solution)
    fused = BoundSolver(
        M=given["M"], J=given["J"], b=given["b"], mu=0.5, v_free=given["v_free"], stream=stream
    )
    expect_same(framework, fused(), solution)
    assert np.array_equal(framework.to_host(fused.out.v_next), v_next)


def test_results_in_the_callers_arrays_and_ragged_batches(framework, host):
    arrays, _, _ = host
    counts = np.zeros((300, 4), np.int32)
    counts[:, 3] = np.arange(300) % 6 - 1  # -1 ... 4: bad, none, some
    counts[7, 3] = 5  # over capacity
    mu = np.full((300, 8), 0.5)
    cpu = BoundSolver(W=arrays["W"], b=arrays["b"], mu=mu, counts=counts)()
    out = {"impulse": framework.array(np.full((300, 12), -7.0))}
    gpu = BoundSolver(
        W=framework.array(arrays["W"]), b=framework.array(arrays["b"]), mu=framework.array(mu),
        counts=framework.array(counts), out=out,
    )  # fmt: skip
    assert gpu().impulse is out["impulse"]
    expect_same(framework, gpu.out, cpu)
    assert framework.to_host(gpu.out.rows_needed)[7] == 15


def test_a_graph_of_torch_replays_the_same_bits(host):
    torch = import_torch()
    arrays, solution, _ = host
    W, b = (torch.tensor(arrays[name], device="cuda") for name in ("W", "b"))
    solver = BoundSolver(W=W, b=b, mu=0.5)
    impulse = torch.from_dlpack(solver.out.impulse)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        solver(torch.cuda.current_stream())
    for _ in range(3):
        impulse.fill_(-7.0)
        graph.replay()
        torch.cuda.synchronize()
        assert np.array_equal(impulse.cpu().numpy(), solution.impulse)
    b.mul_(-0.5)
    graph.replay()
    torch.cuda.synchronize()
    other = stickslip.solve(arrays["W"], -0.5 * arrays["b"], 0.5)
    assert np.array_equal(impulse.cpu().numpy(), other.impulse)


def test_arrays_in_two_places_are_refused(framework, host):
    arrays, _, _ = host
    W = framework.array(arrays["W"])
    with pytest.raises(ValueError, match="b: expected an array in the memory of GPU 0, as W is"):
        BoundSolver(W=W, b=arrays["b"], mu=0.5)


LOSS = ("d_impulse", "d_velocity")


class Derivatives:
    """A bound problem with every kind of row, and the derivatives that numpy arrays get."""

    def __init__(self, framework, law="coulomb", dtype=np.float64, **others):
        self.framework, self.law, self.dtype = framework, law, dtype
        self.given = test_bound_gradient.problem(dtype)
        arrays = ("W", "b", "mu", "R", "lo", "hi")
        self.device = {name: framework.array(self.given[name]) for name in arrays}
        self.stream = framework.stream()
        self.solver = BoundSolver(
            **{**self.given, **self.device}, law=law, stream=self.stream, **others
        )

    def loss(self, seed):
        rng = np.random.default_rng(seed)
        return {name: rng.normal(size=(5, 17)).astype(self.dtype) for name in LOSS}

    def expect(self, gradient, loss, solution=None):
        solution = solution or stickslip.solve(**self.given, law=self.law)
        expected = stickslip.vjp(**self.given, solution=solution, **loss, law=self.law)
        assert (expected.status == stickslip.GradientStatus.valid).any()
        for field in test_bound_gradient.FIELDS:
            got = self.framework.to_host(getattr(gradient, field))
            assert np.array_equal(got, getattr(expected, field)), field


@pytest.mark.parametrize("law", ["coulomb", "convex", "pyramid", "box", "frictionless"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_derivatives_have_the_bits_of_the_cpu(framework, law, dtype):
    case = Derivatives(framework, law, dtype)
    loss = case.loss(1)
    on_device = {name: framework.array(values) for name, values in loss.items()}
    case.solver()
    gradient = case.solver.vjp(**on_device)
    case.expect(gradient, loss)
    only = {"d_velocity": framework.array(case.loss(2)["d_velocity"])}
    assert case.solver.vjp(**only, stream=case.stream) is gradient
    case.expect(gradient, {"d_velocity": case.loss(2)["d_velocity"]})


def test_graphs_of_derivatives_read_what_the_arrays_hold(framework):
    case = Derivatives(framework)
    first, second = case.loss(1), case.loss(2)
    places = [{name: framework.array(each[name]) for name in LOSS} for each in (first, second)]

    def enqueue(place):
        case.solver()
        case.solver.vjp(**place)

    replays = []
    for place in places:  # one memory for both graphs
        enqueue(place)
        replays.append(framework.capture(case.stream, lambda place=place: enqueue(place)))
    gradient = case.solver.vjp(**places[1])
    for seed in (3, 4):
        case.given["b"] = np.random.default_rng(seed).normal(size=(5, 17))
        framework.fill(case.device["b"], case.given["b"])
        for replay, loss in zip(replays, (first, second), strict=True):
            framework.fill(gradient.b, np.full((5, 17), -7.0))
            replay()
            case.expect(gradient, loss)


def test_derivatives_of_results_that_the_caller_has(framework):
    given = test_bound_gradient.problem()
    solution = stickslip.solve(**given)
    results = {name: framework.array(getattr(solution, name)) for name in ("impulse", "status")}
    case = Derivatives(framework, out=results)
    loss = case.loss(1)
    where = {name: framework.array(values) for name, values in loss.items()}
    case.expect(case.solver.vjp(**where), loss, solution)


def test_rows_that_are_no_longer_there_get_zeros(framework):
    W, b = np.tile(np.eye(6) + 0.1, (2, 1, 1)), np.tile([-1.0, 2.0, 0.0, -1.0, 0.5, 0.3], (2, 1))
    given = {"W": W, "b": b, "mu": np.full(4, 0.5), "R": np.full(6, 0.1)}
    counts, loss = np.array([[0, 0, 0, 2]] * 2, np.int32), np.ones((2, 6))
    device = {name: framework.array(values) for name, values in given.items()}
    place = framework.array(counts)
    solver = BoundSolver(**device, dims=[3, 3], counts=place, stream=framework.stream())
    where = framework.array(loss)
    for contacts in (2, 1):
        counts[0, 3] = contacts
        framework.fill(place, counts)
        solver()
        gradient = solver.vjp(d_impulse=where)
        new = BoundSolver(**given, dims=[3, 3], counts=counts)
        new()
        expected = new.vjp(d_impulse=loss)
        for field in ("b", "mu", "R", "status"):
            got = framework.to_host(getattr(gradient, field))
            assert np.array_equal(got, getattr(expected, field)), field
        assert expected.mu[0].any()


def test_a_stream_lives_as_long_as_its_solver(framework):
    stream = type("Stream", (), {"__cuda_stream__": lambda self: (0, 0)})()
    alive = weakref.ref(stream)
    given = {"W": np.eye(3)[None], "b": np.full((1, 3), -1.0), "mu": np.ones(2)}
    solver = BoundSolver(**{k: framework.array(v) for k, v in given.items()}, stream=stream)
    del stream
    solver()
    assert alive() is not None


def test_a_loss_in_host_memory_is_refused_for_arrays_on_a_gpu(framework):
    case = Derivatives(framework)
    with pytest.raises(ValueError, match="d_impulse: expected an array in the memory of GPU 0"):
        case.solver.vjp(d_impulse=case.loss(1)["d_impulse"])
