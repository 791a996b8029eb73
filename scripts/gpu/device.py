"""Whether a GPU answers, and why not: by the driver alone, before anything is unpacked."""

import ctypes
import subprocess
import sys

NO_DRIVER = "no NVIDIA driver here (libcuda.so.1 is missing)"
HANGS = 60  # s


def why_no_gpu() -> str:
    """Empty if a GPU answers."""
    reason = why_driver_refuses()
    return "" if reason and nvidia_smi_lists_one() else reason


def nvidia_smi_lists_one() -> bool:
    """A second opinion: Python may not find a library that other programs find."""
    try:
        told = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, timeout=HANGS)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return told.returncode == 0 and told.stdout.startswith("GPU ")


def why_driver_refuses() -> str:
    """Asked in a process of its own, which may hang without harm."""
    try:
        asked = subprocess.run([sys.executable, __file__], capture_output=True, text=True,
                               timeout=HANGS)  # fmt: skip
    except subprocess.TimeoutExpired:
        return f"the NVIDIA driver does not answer in {HANGS} s"
    if asked.returncode:
        return f"the NVIDIA driver does not answer: {asked.stderr.strip()[-300:]}"
    return asked.stdout.strip()


def ask_driver() -> str:
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return NO_DRIVER
    error = driver.cuInit(0)
    if error:
        text = ctypes.c_char_p()
        driver.cuGetErrorString(error, ctypes.byref(text))
        return f"the NVIDIA driver says: {(text.value or b'unknown').decode()} ({error})"
    count = ctypes.c_int()
    driver.cuDeviceGetCount(ctypes.byref(count))
    return "" if count.value > 0 else "the NVIDIA driver finds no GPU"


if __name__ == "__main__":
    print(ask_driver())
