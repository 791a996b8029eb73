"""Of all Python tests."""

import signal

import pytest

# A shell's background processes ignore Ctrl-C, and so would the commands that the tests interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    """An empty folder as the current one: MuJoCo writes its warnings there."""
    monkeypatch.chdir(tmp_path)
