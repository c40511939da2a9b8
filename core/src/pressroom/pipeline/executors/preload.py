"""Imported by the fork server, before anything else, and by nothing but it.

A service manager may send SIGTERM to every process of the service at once. The fork server and the workers
outlive it, so that the server can finish what is in flight; they end when the server does.
"""

import os
import signal

signal.signal(signal.SIGTERM, signal.SIG_IGN)

# A fork has none of the threads that a library started for its arithmetic, and several workers share the cores anyway.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(_name, "1")
