"""The command `stickslip` in this process."""

from typer.testing import CliRunner

from stickslip.cli import app


def call(*arguments):
    return CliRunner().invoke(app, [str(a) for a in arguments])
