"""The library of the package `stickslip` with kernels for NVIDIA GPUs, for `import stickslip`."""
