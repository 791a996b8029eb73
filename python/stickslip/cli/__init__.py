"""The command `stickslip`: one module for each group of commands."""

from stickslip.cli.app import app, main

__all__ = ["app", "main"]
