"""Makes a shared library with CUDA code of many architectures small when compressed.

    python3 trim_fatbin.py IN OUT 90

Overwrites with zeros the machine code and PTX of every architecture that a GPU of compute
capability 9.0 would not take (it takes machine code of 9.0, and PTX of at most 9.0). Headers,
offsets and sizes stay, so nothing else of the library changes; a driver never reads the zeros.
Keeps the newest PTX of at most that architecture too, in case the machine code is refused.
"""

import struct
import sys
from collections.abc import Iterator
from pathlib import Path

MAGIC = 0xBA55ED50  # of a fat binary; after it: version, size of the header, size of the rest
PTX, MACHINE = 1, 2  # kinds of an entry
KINDS = (PTX, MACHINE, 4, 8, 16, 64)


def entries(data: bytearray, at: int) -> Iterator[tuple[int, int, int, int]]:
    """Kind, architecture, begin and size of each entry of a container."""
    header, size = struct.unpack_from("<HQ", data, at + 6)
    place, end = at + header, at + header + size
    while place + 32 <= end:
        kind, _, own, length = struct.unpack_from("<HHIQ", data, place)
        if kind not in KINDS or own < 32 or place + own + length > end:
            return
        arch = struct.unpack_from("<I", data, place + 28)[0]
        yield kind, arch, place + own, length
        place += own + length


def containers(data: bytearray) -> Iterator[int]:
    mark = struct.pack("<IH", MAGIC, 1)
    at = data.find(mark)
    while at >= 0:
        yield at
        at = data.find(mark, at + 1)


def trim(data: bytearray, wanted: int) -> tuple[int, int]:
    """Zeros what is not for `wanted`; bytes kept and dropped."""
    kept = dropped = 0
    for at in containers(data):
        found = list(entries(data, at))
        ptx = max((a for kind, a, _, _ in found if kind == PTX and a <= wanted), default=0)
        machine = any(kind == MACHINE and arch == wanted for kind, arch, _, _ in found)
        # Without machine code of its own, a GPU takes that of a smaller minor version.
        least = wanted if machine else wanted // 10 * 10
        for kind, arch, begin, length in found:
            fits = least <= arch <= wanted if kind == MACHINE else kind != PTX or arch == ptx
            if fits:
                kept += length
            else:
                data[begin : begin + length] = bytes(length)
                dropped += length
    return kept, dropped


def main() -> None:
    source, target, wanted = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
    data = bytearray(source.read_bytes())
    kept, dropped = trim(data, wanted)
    target.write_bytes(data)
    print(f"gpu-bundle: {source.name}: {kept / 1e6:.1f} MB kept, {dropped / 1e6:.1f} zeroed")


if __name__ == "__main__":
    main()
