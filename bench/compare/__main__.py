"""`python bench/compare`"""

from command import app

app()
