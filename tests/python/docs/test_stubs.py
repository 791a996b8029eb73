"""Types without gaps: the stub of the extension, and the annotations of public functions."""

import ast
from inspect import isclass, isfunction, signature
from pathlib import Path

import pytest

import stickslip
from stickslip import _core

PACKAGE = Path(stickslip.__file__).parent


def public(names):
    return {name for name in names if not name.startswith("_")}


def functions_of(module):
    """The public functions of a module, and the public methods of its classes."""
    names = getattr(module, "__all__", None) or [
        name
        for name in public(vars(module))
        if getattr(getattr(module, name), "__module__", None) == module.__name__
    ]
    found = [getattr(module, name) for name in names]
    for each in [each for each in found if isclass(each)]:
        for name in public(vars(each)) | {"__init__", "__call__"} & {*vars(each)}:
            value = vars(each)[name]
            found.append(getattr(value, "fget", None) or getattr(value, "__func__", value))
    return [each for each in found if isfunction(each)]


@pytest.mark.parametrize(
    ("name", "count"), [("", 60), (".files", 10), (".info", 3), (".models", 3), (".envs", 60)]
)
def test_every_public_function_has_types(name, count):
    functions = functions_of(pytest.importorskip("stickslip" + name))
    assert len(functions) >= count
    for function in functions:
        told = signature(function)
        untyped = [
            parameter.name
            for parameter in told.parameters.values()
            if parameter.annotation is parameter.empty and parameter.name not in ("self", "cls")
        ]
        assert not untyped, function.__qualname__
        assert told.return_annotation is not told.empty, function.__qualname__


def test_the_stub_has_every_name_of_the_extension():
    body = ast.parse((PACKAGE / "_core.pyi").read_text()).body
    classes = {node.name: node for node in body if isinstance(node, ast.ClassDef)}
    functions = {node.name for node in body if isinstance(node, ast.FunctionDef)}
    assert classes.keys() | functions == public(vars(_core))
    for name, node in classes.items():
        told = {each.name for each in node.body if isinstance(each, ast.FunctionDef)}
        told |= {ast.unparse(target) for each in node.body for target in targets(each)}
        assert public(vars(getattr(_core, name))) <= told, name


def targets(node):
    """What a statement assigns."""
    return [node.target] if isinstance(node, ast.AnnAssign) else getattr(node, "targets", [])


def test_the_package_is_marked_as_typed():
    assert (PACKAGE / "py.typed").is_file()
