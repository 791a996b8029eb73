"""As much of CuPy as tests of stickslip's BoundSolver need.

On the runtime that stickslip._core is linked with: put this folder on PYTHONPATH where there is no
GPU.
"""

import ctypes

import numpy as np

from stickslip import _core

_runtime = ctypes.CDLL(_core.__file__)
_runtime.cudaGetErrorString.restype = ctypes.c_char_p
_HOST_TO_DEVICE, _DEVICE_TO_HOST = 1, 2


def _call(name, *arguments):
    error = getattr(_runtime, name)(*arguments)
    if error != 0:
        raise RuntimeError(f"{name}: {_runtime.cudaGetErrorString(error).decode()}")


class ndarray:  # noqa: N801
    def __init__(self, pointer, shape, dtype, owner):
        self.pointer, self.shape, self.dtype, self.owner = pointer, shape, np.dtype(dtype), owner

    @property
    def nbytes(self):
        return int(np.prod(self.shape)) * self.dtype.itemsize

    @property
    def __cuda_array_interface__(self):
        return {
            "shape": self.shape,
            "typestr": self.dtype.str,
            "data": (self.pointer, False),
            "version": 3,
            "strides": None,
        }


class _Memory:
    def __init__(self, nbytes):
        self.pointer = ctypes.c_void_p()
        _call("cudaMalloc", ctypes.byref(self.pointer), ctypes.c_size_t(nbytes))

    def __del__(self):
        _runtime.cudaFree(self.pointer)


def asarray(values):
    values = np.ascontiguousarray(values)
    memory = _Memory(max(values.nbytes, 1))
    array = ndarray(memory.pointer.value, values.shape, values.dtype, memory)
    source = ctypes.c_void_p(values.ctypes.data)
    _call("cudaMemcpy", memory.pointer, source, ctypes.c_size_t(values.nbytes), _HOST_TO_DEVICE)
    return array


def asnumpy(array):
    values = np.empty(array.shape, array.dtype)
    target, source = ctypes.c_void_p(values.ctypes.data), ctypes.c_void_p(array.pointer)
    _call("cudaMemcpy", target, source, ctypes.c_size_t(values.nbytes), _DEVICE_TO_HOST)
    return values


class _DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


def from_dlpack(source):
    if isinstance(source, ndarray):
        return source
    capsule = source.__dlpack__()
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    tensor = _DLTensor.from_address(get(capsule, b"dltensor"))
    assert tensor.device_type == 2, "not the memory of a GPU"
    kind = "iuf"[tensor.code]
    shape = tuple(tensor.shape[i] for i in range(tensor.ndim))
    return ndarray(tensor.data + tensor.byte_offset, shape, f"{kind}{tensor.bits // 8}", capsule)


class cuda:  # noqa: N801
    class Stream:
        def __init__(self, non_blocking=False):
            stream = ctypes.c_void_p()
            _call("cudaStreamCreateWithFlags", ctypes.byref(stream), int(non_blocking))
            self.ptr = stream.value

        def synchronize(self):
            _call("cudaStreamSynchronize", ctypes.c_void_p(self.ptr))

    class Device:
        def synchronize(self):
            _call("cudaDeviceSynchronize")
