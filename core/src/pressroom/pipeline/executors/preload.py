"""Imported only by the fork server, before anything else.

A service manager may send SIGTERM to every process of the service at once. The fork server and the workers
survive it, so that the server can finish the calls in flight; they end when the server does.
"""

import os
import signal

signal.signal(signal.SIGTERM, signal.SIG_IGN)

# A forked process lacks the threads that numeric libraries have started, and workers share the cores anyway.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(_name, "1")
