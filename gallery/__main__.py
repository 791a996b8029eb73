"""`python -m gallery`"""

from gallery.command import app

app()
