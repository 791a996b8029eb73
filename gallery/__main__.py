"""`python -m gallery`"""

import signal

from gallery.command import app

signal.signal(signal.SIGINT, signal.SIG_DFL)  # the examples in C++ do not ask Python
app(prog_name="python -m gallery")
