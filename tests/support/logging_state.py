"""Undo changes to logging by commands and servers in the tests' process."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

import structlog
from pressroom.observability import logs


@contextmanager
def logging_as_before() -> Iterator[None]:
    """Restore the logging state after the block, or later lines would go to a stream of the block."""
    chain = structlog.get_config() if structlog.is_configured() else None
    root = logging.getLogger()
    loggers = [root, *(logging.getLogger(name) for name in (*logs.OWN_HANDLERS, *logs.VERBOSE_LOGGERS))]
    before = [(logger, [*logger.handlers], logger.propagate, logger.level) for logger in loggers]
    requests = logs._requests
    request_log = (requests.logger, requests.lines, requests.output)
    try:
        yield
    finally:
        if chain is None:
            structlog.reset_defaults()
        else:
            structlog.configure(**chain)
        structlog.contextvars.clear_contextvars()
        logging.captureWarnings(capture=False)
        for logger, handlers, propagate, level in before:
            logger.handlers[:] = handlers
            logger.propagate = propagate
            logger.setLevel(level)
        requests.logger, requests.lines, requests.output = request_log
