"""The reader process: it has limits, and ends with the process that started it."""

import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import readers
from command_line import call
from hostile_files import write_plain

from stickslip import files
from stickslip.files import isolated as module
from stickslip.files import room
from stickslip.files.isolated import isolated


@pytest.fixture
def path(tmp_path):
    return write_plain(tmp_path / "f.h5")


def test_memory_is_limited(path):
    limit, _ = isolated(path, resource.getrlimit, resource.RLIMIT_AS)
    assert 2**30 < limit < 64 * 2**30
    with pytest.raises(files.FileError, match=r"f\.h5: expected to need at most .* GB of memory"):
        isolated(path, bytearray, limit)


def test_memory_grows_with_the_file_up_to_that_of_the_machine():
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    sizes = [0, 10**5, 10**6, 10**9, 10**12]
    rooms = [room.room_for(size) for size in sizes]
    assert rooms == sorted(rooms)
    assert all(size < allowed for size, allowed in zip(sizes, rooms, strict=True))
    assert room.room_for(10**5) < 2 * 10**8
    assert max(room.memory_for(size) for size in sizes) <= machine


def test_lower_limits_of_the_user_stay(path):
    """Some shells set them, and only root may raise them again."""
    command = f"""
import resource
resource.setrlimit(resource.RLIMIT_CPU, (7, 7))
resource.setrlimit(resource.RLIMIT_AS, (2**40, 2**40))
from stickslip.files.isolated import isolated
if __name__ == "__main__":
    print(isolated({str(path)!r}, resource.getrlimit, resource.RLIMIT_CPU))
"""
    script = path.with_suffix(".py")
    script.write_text(command)
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert done.stdout == "(7, 7)\n", done.stderr


def ended(process: int) -> bool:
    """Whether it is gone, or a zombie."""
    try:
        return ") Z " in Path(f"/proc/{process}/stat").read_text()
    except FileNotFoundError:
        return True


def wait_for(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_reader_ends_with_its_parent(how, path, tmp_path):
    note = tmp_path / "reader"
    command = [sys.executable, readers.__file__, path, note]
    parent = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_for(note.exists)
    parent.send_signal(how)
    parent.wait(60)
    wait_for(lambda: ended(int(note.read_text())), 5)


def test_a_reader_that_sleeps_is_not_waited_for(path, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_WAIT", 0.5)
    note = tmp_path / "reader"
    with pytest.raises(files.FileError, match=r"f\.h5: damaged: .* came to no end"):
        isolated(path, readers.note_and_sleep, note)
    assert ended(int(note.read_text()))


def test_what_a_reader_raises_arrives(path):
    with pytest.raises(files.FileError, match=r"readers\.py: .*signature"):
        isolated(path, files.read, readers.__file__)
    with pytest.raises(ZeroDivisionError):
        isolated(path, divmod, 1, 0)


@pytest.mark.parametrize(
    ("name", "why"),
    [("absent.h5", "no such file"), ("/dev/zero", "not a file"), (".", "not a file")],
)
def test_what_is_no_file_is_named(name, why, tmp_path):
    path = tmp_path / name
    for read in (files.read, module.read_isolated):
        with pytest.raises(files.FileError, match=f"{path}: {why}"):
            read(path)


def test_no_command_reads_in_its_own_process(path, tmp_path, monkeypatch):
    monkeypatch.setattr("stickslip.files.layout.open_to_read", os.abort)
    for command in ("solve", "check"):
        shown = call(command, path)
        assert shown.exit_code == 0, shown.output
