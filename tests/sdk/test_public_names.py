"""Public names are stable: none is removed without notice, none appears by accident, and each is documented."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pressroom.columns
import pressroom.errors
import pressroom.sdk
import pressroom.testing
import pytest
from pressroom.plugins.contributions import RECORD_TYPES

PUBLIC = [
    "API",
    "EXTENSIONS",
    "AccountRole",
    "AccountUsage",
    "Accounts",
    "Activity",
    "Annotations",
    "Artifact",
    "AudioContent",
    "Authenticator",
    "Authorizer",
    "Backend",
    "BackendError",
    "Brander",
    "Branding",
    "CacheEntry",
    "CacheIndex",
    "CachePolicy",
    "CacheRule",
    "Call",
    "CallError",
    "CallInfo",
    "CallMiddleware",
    "CallRecord",
    "CallTimeout",
    "Caller",
    "ChangeCount",
    "Check",
    "CheckResult",
    "ClientRequestId",
    "ContentBlock",
    "Credentials",
    "DashboardPage",
    "Database",
    "Day",
    "Deprecation",
    "EditableText",
    "EmbeddedResource",
    "Example",
    "FetchResponse",
    "Extensions",
    "FetchFailed",
    "FetchRefused",
    "FetchUnknown",
    "Fetched",
    "Fetcher",
    "FileField",
    "FileMissing",
    "FileStore",
    "Forbidden",
    "FormCase",
    "FormSection",
    "Generator",
    "GeneratorOptions",
    "HexColor",
    "HostServices",
    "HttpRequest",
    "HttpResponse",
    "Identity",
    "IndexEntries",
    "Instructions",
    "IndexEntry",
    "Integer",
    "InvalidInput",
    "Job",
    "JobRun",
    "JobState",
    "JobStatus",
    "Jobs",
    "ExecutorName",
    "Lease",
    "LeaseLost",
    "Lifespan",
    "LimitStatus",
    "Limiter",
    "LockTaken",
    "Mcp",
    "McpTool",
    "McpToolOptions",
    "Mode",
    "Models",
    "MultipartForm",
    "NotFound",
    "Observer",
    "Overloaded",
    "OverviewSection",
    "Page",
    "PageTemplates",
    "Params",
    "Pause",
    "Plugin",
    "PluginConfig",
    "PluginContext",
    "PluginError",
    "PressroomError",
    "Preview",
    "Promo",
    "PruneResult",
    "PublishingTargets",
    "QuotaExceeded",
    "QuotaUse",
    "Rate",
    "RateLimit",
    "Rejected",
    "Reschedule",
    "ResourceLink",
    "Route",
    "SharedKeys",
    "Snippet",
    "Storage",
    "StorageKind",
    "StorageUsage",
    "StoredFile",
    "StoredKind",
    "ToolInfo",
    "ToolResult",
    "Tools",
    "UploadedFile",
    "VirtualHosts",
    "Workers",
    "by_client_ip",
    "by_subject",
    "calling_in_worker",
    "deprecated_names",
    "generator",
    "hookimpl",
    "mcp_tool",
    "parse_multipart",
    "per_day",
    "per_hour",
    "per_minute",
    "publishing",
    "sandboxed_frame",
    "static_files",
]

TESTING = [
    "FakeSite",
    "FrozenClock",
    "HostAccount",
    "PluginHost",
    "RecordedHttp",
    "RunningHost",
    "SignedInBrowser",
    "SiteRequest",
    "ToolFailed",
    "Trouble",
    "UnrecordedRequest",
    "assert_plugin_conforms",
    "check_plugin",
    "fake_site",
    "recorded_http",
    "settings_for_test",
]


def documented(source: Path) -> Iterator[str]:
    """Yield the documented top-level names of a module; an assignment is documented by the string below it."""
    body = ast.parse(source.read_text(encoding="utf-8")).body
    for statement, following in zip(body, [*body[1:], ast.Pass()], strict=True):
        if isinstance(statement, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            if ast.get_docstring(statement):
                yield statement.name
        elif isinstance(following, ast.Expr) and isinstance(following.value, ast.Constant):
            targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
            yield from (target.id for target in targets if isinstance(target, ast.Name))


def sources() -> Iterator[Path]:
    for package in (pressroom.sdk, pressroom.testing):
        yield from Path(str(package.__file__)).parent.glob("*.py")
    yield Path(pressroom.errors.__file__)


def test_the_names_of_the_sdk_are_the_promised_ones() -> None:
    assert sorted(pressroom.sdk.__all__) == sorted(PUBLIC)


def test_the_names_for_tests_are_the_promised_ones() -> None:
    assert sorted(pressroom.testing.__all__) == TESTING


def test_the_names_for_tables_are_the_promised_ones() -> None:
    assert sorted(pressroom.columns.__all__) == [
        "BASE62",
        "MAX_ID_LENGTH",
        "NAMING",
        "Timestamp",
        "as_id",
        "hash_of",
        "new_id",
        "new_secret",
        "random_text",
    ]


@pytest.mark.parametrize("module", [pressroom.sdk, pressroom.testing], ids=lambda module: module.__name__)
def test_a_star_import_provides_exactly_the_public_names(module: object) -> None:
    names = {name for name in vars(module) if not name.startswith("_")}
    folder = Path(str(getattr(module, "__file__", ""))).parent
    submodules = {path.stem for path in folder.glob("*.py")} | {
        path.parent.name for path in folder.glob("*/__init__.py")
    }
    assert names - submodules == set(getattr(module, "__all__", ())) - submodules


@pytest.mark.parametrize("name", [*PUBLIC, *TESTING])
def test_every_name_has_a_docstring(name: str) -> None:
    assert name in {documented_name for source in sources() for documented_name in documented(source)}


def test_every_hook_yields_a_public_type() -> None:
    types = {kind.__name__ for hook, kind in RECORD_TYPES.items() if hook != "pressroom_commands"}
    assert types <= set(PUBLIC)
