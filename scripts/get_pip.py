"""Installs pip into the running environment from PyPI, for a Python without ensurepip."""

import json
import runpy
import sys
import tempfile
import urllib.parse
import urllib.request
from pathlib import Path

PIP = "https://pypi.org/pypi/pip/json"


def main() -> None:
    with urllib.request.urlopen(PIP) as reply:
        files = json.load(reply)["urls"]
    wheel = next(f for f in files if f["packagetype"] == "bdist_wheel")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, wheel["filename"])
        urllib.request.urlretrieve(urllib.parse.urljoin(PIP, wheel["url"]), path)
        sys.path.insert(0, str(path))  # a wheel of pip runs without installation
        sys.argv = ["pip", "install", "--quiet", str(path)]
        runpy.run_module("pip", run_name="__main__")


if __name__ == "__main__":
    main()
