"""The `pressroom` command.

Imports nothing but click. A command's module is imported when the command is used or listed, and imports heavy
dependencies (the server, pydantic, rich) inside its functions.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Final

import click

from pressroom.cli.lazy import LazyGroup
from pressroom.cli.options import Invocation, common_options
from pressroom.cli.output import INTERRUPTED, WRONG_USAGE, Output, open_standard_streams
from pressroom.errors import PressroomError
from pressroom.version import VERSION

COMMANDS: Final[Mapping[str, str]] = {
    "serve": "pressroom.cli.serve:serve",
    "migrate": "pressroom.cli.migrate:migrate",
    "migrations": "pressroom.cli.migrations:migrations",
    "doctor": "pressroom.cli.doctor:doctor",
    "backup": "pressroom.cli.backup:backup",
    "restore": "pressroom.cli.backup:restore",
    "plugins": "pressroom.cli.plugins:plugins",
    "templates": "pressroom.cli.templates:templates",
    "config": "pressroom.cli.config:config",
    "catalog": "pressroom.cli.catalog:catalog",
    "explain": "pressroom.cli.catalog:explain",
    "openapi": "pressroom.cli.catalog:openapi",
    "users": "pressroom.cli.users:users",
    "keys": "pressroom.cli.keys:keys",
    "clients": "pressroom.cli.clients:clients",
    "secrets": "pressroom.cli.secrets:secrets",
    "jobs": "pressroom.cli.jobs:jobs",
    "new": "pressroom.cli.new:new",
    "x": "pressroom.cli.extensions:extensions",
}
"""Commands in the order of `--help`, each with the `module:attribute` that defines it."""


@click.group(
    cls=LazyGroup,
    lazy_commands=COMMANDS,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(VERSION, message="pressroom %(version)s")
@common_options
def pressroom() -> None:
    """Run a server that offers tools over HTTP and MCP."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code.

    0 means success, 1 failure, 2 wrong usage, and 130 interrupted. `arguments` default to those of the process.
    """
    code = _run(arguments)
    if arguments is None:
        _end_despite_threads(code)
    return code


_THREAD_SECONDS: Final = 4.0
"""Seconds that threads started by a plugin can delay the end of a command."""


def _end_despite_threads(code: int) -> None:
    """End the process if non-daemon threads would keep it alive for longer than `_THREAD_SECONDS`."""
    end = time.monotonic() + _THREAD_SECONDS
    pools = sys.modules.get("concurrent.futures.thread")
    ending = pools._threads_queues if pools is not None else ()  # noqa: SLF001 - Python itself ends these
    threads = [
        thread for thread in threading.enumerate() if thread is not threading.main_thread() and not thread.daemon
    ]
    for thread in threads:
        if thread not in ending:
            thread.join(max(0, end - time.monotonic()))
    unfinished = [thread.name for thread in threads if thread not in ending and thread.is_alive()]
    if unfinished:
        Output().problem(f"threads of plugins do not end, and are cut off: {', '.join(unfinished)}")
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _run(arguments: Sequence[str] | None) -> int:
    argv = list(sys.argv[1:] if arguments is None else arguments)
    output = Output(json="--json" in argv)
    open_standard_streams()
    output.prepare()
    try:
        invocation = Invocation(own_process=arguments is None)
        result = pressroom.main(argv, prog_name="pressroom", standalone_mode=False, obj=invocation)
        sys.stdout.flush()
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        return WRONG_USAGE
    except click.UsageError as error:
        output.wrong_usage(error)
        return WRONG_USAGE
    except click.ClickException as error:
        output.problem(error.format_message())
        return error.exit_code
    except click.Abort as error:
        # The plugin gate's exception states which plugin the operator was waiting for.
        during = str(error.__cause__ or error.__context__ or "")
        output.problem(f"interrupted {during}".rstrip(), code="interrupted")
        return INTERRUPTED
    except PressroomError as error:
        output.error(error)
        return 1
    except BrokenPipeError:
        output.abandon()
        return 1
    except OSError as error:
        if not output.failed():
            raise
        output.abandon()
        hint = "What the command changed stays changed."
        Output().problem(f"the result cannot be written: {error.strerror}", hint=hint)
        return 1
    return result if isinstance(result, int) else 0
