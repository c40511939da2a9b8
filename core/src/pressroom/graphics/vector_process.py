"""Render an SVG from standard input to a PNG: `vector_process.py WIDTH HEIGHT MEBIBYTES SECONDS`.

The exit status is 0 on success, 1 for an invalid drawing, and another number if it exceeds a limit.
"""

from __future__ import annotations

import resource
import sys


def main(width: int, height: int, mebibytes: int, seconds: int) -> None:
    """Render within these limits of memory and CPU seconds."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    bound = mebibytes * 2**20
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (bound if hard == resource.RLIM_INFINITY else min(bound, hard), hard))
    import resvg_py  # noqa: PLC0415 - within the bounds

    text = sys.stdin.buffer.read().decode()
    try:
        png = resvg_py.svg_to_bytes(svg_string=text, width=width, height=height, skip_system_fonts=True)
    except ValueError as error:
        sys.exit(str(error))
    except MemoryError:
        sys.exit(2)
    sys.stdout.buffer.write(bytes(png))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:5]))
