"""Runs the code cells of a notebook in order, without Jupyter and without a display.

python scripts/run_notebook.py examples/first_batch.ipynb [FOLDER for its figures]
"""

import json
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot as plt


def run(file: Path, figures: Path | None) -> None:
    """An error of a cell ends it, and is shown with the name of the cell."""
    names = {"__name__": "__main__"}
    for cell in json.loads(file.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] != "code":
            continue
        exec(compile("".join(cell["source"]), f"{file.name}: {cell['id']}", "exec"), names)
        for number in plt.get_fignums() if figures else []:
            plt.figure(number).savefig(figures / f"{cell['id']}{number}.png")
        plt.close("all")


if __name__ == "__main__":
    run(Path(sys.argv[1]), Path(sys.argv[2]) if len(sys.argv) > 2 else None)
