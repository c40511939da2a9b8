"""A module that only the server process can import; a fork server that tries to crashes."""

import os

if os.environ.get("EXECUTORS_SERVER") != str(os.getpid()):
    raise RuntimeError("this module wants to be imported by the server")
