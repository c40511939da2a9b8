"""Imported by the fork server, before anything else, and by nothing but it.

A service manager may send SIGTERM to every process of the service at once. The fork server and the workers
outlive it, so that the server can finish what is in flight; they end when the server does.
"""

import signal

signal.signal(signal.SIGTERM, signal.SIG_IGN)
