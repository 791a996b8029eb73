"""`make docs`: a folder that any static host serves. It needs no server and no network.

    python docs/sphinx/publish.py FOLDER

FOLDER/<version>/ has the pages, their Markdown, Sphinx's search, llms.txt, and the reference of the
C++ headers in cpp/ if Doxygen is installed. Other versions in FOLDER stay. FOLDER/latest/ leads to
the newest of them page by page, so that links to it last; FOLDER/versions.html lists them.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import llms
from sphinx.cmd.build import main as sphinx

import stickslip

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SCHEMAS = ROOT / "python/stickslip/schemas"
# The script keeps the part of a link behind #, which the browser would drop.
REDIRECT = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8" />
<title>stickslip</title>
<link rel="canonical" href="{to}" />
<script>location.replace("{to}" + location.search + location.hash)</script>
<noscript><meta http-equiv="refresh" content="0; url={to}" /></noscript>
</head>
<body><a href="{to}">{to}</a></body>
</html>
"""
VERSIONS = """<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8" /><title>stickslip: versions</title></head>
<body>
<h1>stickslip: versions of the documentation</h1>
<ul>
{items}
</ul>
</body>
</html>
"""


def publish(folder: Path, version: str = stickslip.__version__) -> None:
    """Writes the pages of this version into the folder, and what leads to them."""
    pages = folder / version
    shutil.rmtree(pages, ignore_errors=True)  # no pages that are no more
    build(pages, folder.parent / "doctrees")
    for page in [Path("README.md"), *(Path(page.path) for page in llms.pages(ROOT))]:
        shutil.copy(ROOT / page, (pages / page).parent)
    shutil.copytree(SCHEMAS, pages / "schemas")
    (pages / "index.html").write_text(REDIRECT.format(to="README.html"))
    (pages / "llms.txt").write_text(llms.contents(ROOT, version))
    (pages / "llms-full.txt").write_text(llms.full(ROOT, version))
    lead_to_versions(folder)


def build(pages: Path, cache: Path) -> None:
    """Runs Sphinx, whose warnings are errors, and Doxygen."""
    options = ["-q", "-W", "--keep-going", "-c", str(HERE), "-d", str(cache)]
    if sphinx([*options, str(ROOT), str(pages)]) != 0:
        sys.exit("the documentation has errors, see above")
    if shutil.which("doxygen"):
        environment = os.environ | {"STICKSLIP_PAGES": str(pages)}
        command = ["doxygen", "-q", str(HERE / "Doxyfile")]
        subprocess.run(command, cwd=ROOT, env=environment, check=True)
    else:
        print("no reference of the C++ headers: doxygen is not installed (apt install doxygen)")


def versions(folder: Path) -> list[str]:
    """The versions in the folder, the newest first."""
    names = [path.name for path in folder.iterdir() if re.fullmatch(r"\d+(\.\d+)*", path.name)]
    return sorted(names, key=lambda name: [int(part) for part in name.split(".")], reverse=True)


def lead_to_versions(folder: Path) -> None:
    """Writes latest/, index.html, versions.html and llms.txt, which lead to the newest version."""
    found = versions(folder)
    newest, latest = folder / found[0], folder / "latest"
    shutil.rmtree(latest, ignore_errors=True)
    for page in newest.rglob("*.html"):
        name = page.relative_to(newest)
        up = "../" * len(name.parts)
        (latest / name).parent.mkdir(parents=True, exist_ok=True)
        (latest / name).write_text(REDIRECT.format(to=f"{up}{newest.name}/{name.as_posix()}"))
    (folder / "index.html").write_text(REDIRECT.format(to="latest/index.html"))
    items = "\n".join(f'<li><a href="{name}/README.html">{name}</a></li>' for name in found)
    (folder / "versions.html").write_text(VERSIONS.format(items=items))
    links = (newest / "llms.txt").read_text()
    (folder / "llms.txt").write_text(links.replace("](", f"]({newest.name}/"))
    (folder / ".nojekyll").touch()  # GitHub Pages would leave out _static


if __name__ == "__main__":
    target = Path(sys.argv[1]).resolve()
    publish(target)
    print(f"{sys.argv[1]}: a folder for any static host; its first page is index.html")
