"""`python bench/compare`"""

from command import app

app(prog_name="python bench/compare")
