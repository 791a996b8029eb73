"""Prints requirements of pyproject.toml, one per line: `build`, `dependencies`, or an extra."""

import sys
import tomllib
from pathlib import Path


def main(groups: list[str]) -> None:
    text = Path(__file__).parent.parent.joinpath("pyproject.toml").read_text()
    config = tomllib.loads(text)
    project = config["project"]
    for group in groups:
        if group == "build":
            print(*config["build-system"]["requires"], *project["dependencies"], sep="\n")
        elif group == "dependencies":
            print(*project["dependencies"], sep="\n")
        else:
            items = project["optional-dependencies"][group]
            # Other extras of this package, which is not on an index.
            print(*(item for item in items if not item.startswith("stickslip[")), sep="\n")


if __name__ == "__main__":
    main(sys.argv[1:])
