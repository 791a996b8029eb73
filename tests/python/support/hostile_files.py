"""Malicious files for tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import h5py
import numpy as np
from h5py import h5d, h5p, h5s, h5t

ESCAPES = "p\x1b[31m\x1b]0;title\x07\x9b2J\u202e\r\n [red]x[/red] [/] "


def add(file: h5py.File, name: str = "p", **datasets: Any) -> h5py.Group:
    """A box of 1 kg that hits the floor, with other datasets; None omits one."""
    group = file.create_group("problems").create_group(name)
    group.attrs["kind"] = "contact"
    given = {"W": np.eye(3), "b": np.array([-1.0, 0, 0]), "mu": np.full(2, 0.5)} | datasets
    for key, value in given.items():
        if value is not None:
            group[key] = value
    return group


def write_plain(path: Path) -> Path:
    with h5py.File(path, "w") as file:
        add(file)
    return path


def external_storage(file: h5py.File, secret: Path) -> None:
    add(file, W=None).create_dataset("W", (3, 3), "f8", external=[(str(secret), 0, 72)])


def virtual(file: h5py.File, secret: Path) -> None:
    layout = h5py.VirtualLayout((3, 3), "f8")
    layout[...] = h5py.VirtualSource(str(secret), "problems/p/W", (3, 3))
    add(file, W=None).create_virtual_dataset("W", layout)


def virtual_without_end(file: h5py.File, secret: Path) -> None:
    source = h5py.VirtualSource(str(secret), "problems/p/W", (3, 3), maxshape=(None, 3))
    layout = h5py.VirtualLayout((3, 3), "f8", maxshape=(None, 3))
    layout[: h5s.UNLIMITED, :] = source[: h5s.UNLIMITED, :]
    add(file, W=None).create_virtual_dataset("W", layout)


def virtual_in_this_file(file: h5py.File, secret: Path) -> None:
    layout = h5py.VirtualLayout((3, 3), "f8")
    layout[...] = h5py.VirtualSource(".", "kept", (3, 3))
    file["kept"] = np.eye(3)
    add(file, W=None).create_virtual_dataset("W", layout)


def linked_dataset(file: h5py.File, secret: Path) -> None:
    add(file, W=h5py.ExternalLink(str(secret), "problems/p/W"))


def linked_through_a_soft_link(file: h5py.File, secret: Path) -> None:
    file["away"] = h5py.ExternalLink(str(secret), "problems/p")
    add(file, W=h5py.SoftLink("/away/W"))


def optional_dataset(file: h5py.File, secret: Path) -> None:
    add(file, warm_start=h5py.ExternalLink(str(secret), "problems/p/b"))


def linked_problem(file: h5py.File, secret: Path) -> None:
    file.create_group("problems")["p"] = h5py.ExternalLink(str(secret), "problems/p")


def linked_problems(file: h5py.File, secret: Path) -> None:
    file["problems"] = h5py.ExternalLink(str(secret), "problems")


def linked_solutions(file: h5py.File, secret: Path) -> None:
    add(file)
    file["solutions"] = h5py.ExternalLink(str(secret), "problems")


def linked_fclib(file: h5py.File, secret: Path) -> None:
    file["fclib_local"] = h5py.ExternalLink(str(secret), "fclib_local")


def linked_fclib_matrix(file: h5py.File, secret: Path) -> None:
    group = file.create_group("fclib_local")
    group["spacedim"] = np.array([3])
    group["vectors/q"], group["vectors/mu"] = np.zeros(3), np.ones(1)
    group["W"] = h5py.SoftLink("/away")
    file["away"] = h5py.ExternalLink(str(secret), "fclib_local/W")


ELSEWHERE = {
    external_storage: "W: expected numbers in this file, got external storage in",
    virtual: "W: expected numbers in this file, got a virtual dataset",
    virtual_without_end: "W: expected numbers in this file, got a virtual dataset",
    virtual_in_this_file: "W: expected numbers in this file, got a virtual dataset",
    linked_dataset: "W: expected a part of this file, got an external link",
    linked_through_a_soft_link: "W: expected a part of this file, got a soft link",
    optional_dataset: "warm_start: expected a part of this file, got an external link",
    linked_problem: "p: expected a part of this file, got an external link",
    linked_problems: "problems: expected a part of this file, got an external link",
    linked_solutions: "solutions: expected a part of this file, got an external link",
    linked_fclib: "fclib_local: expected a part of this file, got an external link",
    linked_fclib_matrix: "W: expected a part of this file, got a soft link",
}


def never_written(file: h5py.File) -> None:
    n = 9999
    group = add(file, W=None, b=np.zeros(n), mu=np.zeros(2 * n // 3))
    group.create_dataset("W", (n, n), "f8", chunks=(999, 999), compression="gzip")


def many_times_the_same(file: h5py.File) -> None:
    """2 GB of numbers in 200 kB: each matrix alone would be accepted."""
    n = 999
    first = add(file, W=None, b=np.zeros(n), mu=np.zeros(2 * n // 3))
    first.create_dataset("W", data=np.zeros((n, n)), compression="gzip")
    for i in range(250):
        file[f"problems/p{i}"] = first


def long_vector(file: h5py.File) -> None:
    add(file, b=None).create_dataset("b", (10**12,), "f8", chunks=(1000,))


def huge_chunk(file: h5py.File) -> None:
    group = add(file, W=None)
    group.create_dataset("W", (3, 3), "f8", chunks=(20_000, 20_000), maxshape=(None, None))


def gzip_in_gzip(file: h5py.File) -> None:
    properties = h5p.create(h5p.DATASET_CREATE)
    properties.set_chunk((3, 3))
    properties.set_deflate(9)
    properties.set_deflate(9)
    space = h5s.create_simple((3, 3))
    group = add(file, W=None)
    h5d.create(group.id, b"W", h5t.NATIVE_DOUBLE, space, properties).write(
        h5s.ALL, h5s.ALL, np.eye(3)
    )


def long_attribute(file: h5py.File) -> None:
    add(file).attrs["n_free"] = np.zeros(8000, np.int64)


def nested_attribute(file: h5py.File) -> None:
    value = np.empty(1, object)
    value[0] = np.arange(5)
    add(file).attrs.create("n_free", value, dtype=h5py.vlen_dtype(np.int64))


def long_text(file: h5py.File) -> None:
    group = add(file, r=np.zeros(3))
    group.attrs["status"] = "solved" * 1000


def long_name(file: h5py.File) -> None:
    add(file, "n" * 30_000)


def fclib_vector(file: h5py.File) -> None:
    group = file.create_group("fclib_global")
    group["spacedim"] = np.array([3])
    group["vectors/w"], group["vectors/mu"] = np.zeros(3), np.ones(1)
    group.create_dataset("vectors/f", (9_999_999,), "f8", chunks=(999,))
    for key, n in (("M", 9_999_999), ("H", 3)):
        matrix = group.create_group(key)
        matrix.update({"m": [9_999_999], "n": [n], "nz": [0], "i": [0], "p": [0], "x": [0.0]})


def fclib_rows(file: h5py.File) -> None:
    group = file.create_group("fclib_local")
    group["spacedim"] = np.array([3])
    group.update({"vectors/q": np.zeros(9999), "vectors/mu": np.ones(3333)})
    group["vectors/s"] = np.zeros(9999)
    for key in ("W", "V", "R"):
        matrix = group.create_group(key)
        matrix.update({"m": [9999], "n": [9999], "nz": [0], "i": [0], "p": [0], "x": [0.0]})


TOO_LARGE = {
    never_written: "W: expected numbers, got 800 MB, of which 0 bytes are stored",
    many_times_the_same: "W: expected at most",
    long_vector: "b: expected at most 10000 numbers, got 1000000000000",
    huge_chunk: "W: expected at most",
    gzip_in_gzip: "W: expected plain numbers, or gzip",
    long_attribute: "n_free: expected one number or text, got shape (8000,)",
    nested_attribute: "n_free: expected a number or a text, got object",
    long_text: "status: expected a text of at most 200 characters",
    long_name: "name: expected a text without '/' of 1 to 200 characters",
    fclib_vector: "f: expected numbers, got 80 MB, of which 0 bytes are stored",
    fclib_rows: "s: expected at most 10000 rows with those of contacts, got 19998",
}
