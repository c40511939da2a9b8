"""Executable contracts of the extension points.

`check_file_store(make)` and similar functions return a list of findings, each with the broken promise, the
implementation, the observed behaviour, and the fix. `FileStoreContract` and similar classes run the same checks with
pytest, one test for each promise; pytest is only needed to use them.
"""

from typing import Any, Final

from pressroom.testing.contracts.cache_index import CACHE_INDEX, CacheIndexContract, check_cache_index
from pressroom.testing.contracts.callers import AUTHENTICATOR, AUTHORIZER, check_authenticator
from pressroom.testing.contracts.file_store import FILE_STORE, FileStoreContract, check_file_store
from pressroom.testing.contracts.functions import (
    BRANDER,
    COMMAND,
    DOCTOR_CHECK,
    INDEX_ENTRIES,
    OBSERVER,
    OVERVIEW_SECTION,
    PUBLISHING_TARGETS,
    STORAGE_KIND,
    VIRTUAL_HOSTS,
)
from pressroom.testing.contracts.generator import GENERATOR
from pressroom.testing.contracts.job import JOB, RecordedJobRun, check_job
from pressroom.testing.contracts.limiter import LIMITER, LimiterContract, check_limiter
from pressroom.testing.contracts.mcp_tool import MCP_TOOL
from pressroom.testing.contracts.migrations import MIGRATIONS, check_migrations
from pressroom.testing.contracts.outage import OUTAGE, check_outages
from pressroom.testing.contracts.page import PAGE, ROUTE
from pressroom.testing.contracts.suite import (
    ContractSuite,
    ContractTests,
    Finding,
    Promise,
    PromiseBroken,
    expect,
    expect_error,
)

__all__ = [
    "SUITES",
    "CacheIndexContract",
    "ContractSuite",
    "ContractTests",
    "FileStoreContract",
    "Finding",
    "LimiterContract",
    "Promise",
    "PromiseBroken",
    "RecordedJobRun",
    "check_authenticator",
    "check_cache_index",
    "check_file_store",
    "check_job",
    "check_limiter",
    "check_migrations",
    "check_outages",
    "expect",
    "expect_error",
]

SUITES: Final[tuple[ContractSuite[Any], ...]] = (
    *(FILE_STORE, CACHE_INDEX, LIMITER),
    *(GENERATOR, MCP_TOOL, PAGE, ROUTE, JOB, MIGRATIONS, AUTHENTICATOR, AUTHORIZER),
    *(BRANDER, OBSERVER, INDEX_ENTRIES, DOCTOR_CHECK, STORAGE_KIND, VIRTUAL_HOSTS, OVERVIEW_SECTION),
    *(PUBLISHING_TARGETS, COMMAND, OUTAGE),
)
"""The contracts of the host's extension points."""
