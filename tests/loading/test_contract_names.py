"""Names in plugin contracts are stable: none is removed without notice, and each is documented."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pressroom_content.contract
import pressroom_image_generator.templates
import pressroom_search_performance.contract
import pytest
from pressroom.plugins.registering import ACCEPTED_APIS
from support.doc_examples import ROOT
from support.reference_text import offered_hooks

_READ = re.compile(r"extensions\.of\('(\w+)'\)")

CONTENT = [
    "Approved",
    "Article",
    "ArticleChange",
    "ArticlePost",
    "ArticleRepository",
    "ArticleReview",
    "ArticleReviewer",
    "ArticleScorer",
    "ArticleStatus",
    "ArticleSummary",
    "BUILTIN",
    "CONTRACT_VERSION",
    "BasicSite",
    "BlockSite",
    "BodyBlock",
    "BodyCodec",
    "BodyFormat",
    "Capabilities",
    "CheckSite",
    "ConnectionCheck",
    "ConnectionReport",
    "ContentHooks",
    "ContentServices",
    "Control",
    "ControlMethod",
    "ControlNotProven",
    "CredentialField",
    "CredentialVault",
    "Credit",
    "Cursor",
    "DuplicateText",
    "ErrorPolicy",
    "FirstIncomplete",
    "FoundImage",
    "Grain",
    "ImageLicense",
    "ImagePage",
    "ImageQuery",
    "ImageSource",
    "JsonResponse",
    "JsonApi",
    "Language",
    "MediaChoice",
    "MediaFile",
    "MediaLibrary",
    "MediaSite",
    "Post",
    "PostState",
    "PublicationRepository",
    "PublicationStatus",
    "RecallingSite",
    "RemoteChanged",
    "RemoteMedia",
    "RemotePost",
    "RemoteRedirect",
    "Score",
    "ScoreCheck",
    "ScoreReport",
    "ScoredArticle",
    "SearchLimited",
    "SearchQuery",
    "SearchRow",
    "SearchSnippet",
    "SearchSource",
    "SearchType",
    "Site",
    "SiteAction",
    "SiteInfo",
    "SiteApi",
    "SiteConnector",
    "SiteError",
    "SiteErrors",
    "SiteGone",
    "SitePage",
    "SiteRefused",
    "SiteRejected",
    "SiteResponse",
    "SiteUnavailable",
    "SnippetLine",
    "Term",
    "TermKind",
    "TextChecker",
    "TextTwin",
    "TextTwinRepository",
    "UnknownOutcome",
    "UnreadableJson",
    "VoiceFinding",
    "VoiceReview",
    "VoiceRule",
    "Website",
    "WebsiteId",
    "WebsiteRepository",
    "WebsiteStatus",
    "WorkingSite",
    "article_reviewers",
    "article_scorers",
    "content_services",
    "control_of",
    "cursor_of",
    "field_text",
    "image_sources",
    "is_below",
    "languages",
    "media_libraries",
    "note_control",
    "url_key",
    "read_cursor",
    "read_json",
    "read_json_or_none",
    "render_body",
    "require_control",
    "retry_after_of",
    "search_sources",
    "site_connectors",
    "slug_of",
    "spelled_out",
    "with_query",
    "run_in_worker",
]


SEARCH_PERFORMANCE = [
    "Analytics",
    "AnalyticsSource",
    "QueryKeywords",
    "By",
    "CONTRACT_VERSION",
    "Competition",
    "KeywordResult",
    "KeywordFigures",
    "KeywordQuestion",
    "KeywordSource",
    "SearchPerformanceHooks",
    "Traffic",
    "TrafficQuestion",
    "Visits",
    "analytics_sources",
    "keyword_sources",
]
TEMPLATES = ["CONTRACT_VERSION", "ImageTemplate", "ImageTemplateHooks", "image_templates"]
PROMISED = {
    pressroom_content.contract: CONTENT,
    pressroom_search_performance.contract: SEARCH_PERFORMANCE,
    pressroom_image_generator.templates: TEMPLATES,
}
"""The names of each contract in version 1. Removing one or changing its meaning requires a new version."""


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


@pytest.mark.parametrize("contract", PROMISED, ids=lambda contract: contract.__name__)
def test_a_contract_exports_the_promised_names(contract: ModuleType) -> None:
    assert sorted(contract.__all__) == sorted(PROMISED[contract])


@pytest.mark.parametrize("contract", PROMISED, ids=lambda contract: contract.__name__)
def test_a_contract_has_a_version_and_documents_changes(contract: ModuleType) -> None:
    assert contract.CONTRACT_VERSION == "1"
    assert contract.CONTRACT_VERSION in ACCEPTED_APIS
    assert "`CONTRACT_VERSION`" in str(contract.__doc__)


@pytest.mark.parametrize("name", CONTENT)
def test_every_name_has_a_docstring(name: str) -> None:
    sources = Path(str(pressroom_content.contract.__file__)).parent.glob("*.py")
    assert name in {documented_name for source in sources for documented_name in documented(source)}


def test_every_hook_is_read_through_one_typed_function() -> None:
    return_types: dict[str, list[str]] = {}
    for source in (ROOT / "plugins").rglob("*.py"):
        for function in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
            if isinstance(function, ast.FunctionDef) and (hooks := _READ.findall(ast.unparse(function))):
                return_types.setdefault(hooks[0], []).append(
                    f"{ast.unparse(function.returns)}" if function.returns else ""
                )
    assert return_types.keys() == {name for name, _ in offered_hooks()}
    assert [hook for hook, types in return_types.items() if len(types) != 1 or "Any" in types[0]] == []


def test_the_contract_loads_neither_the_database_nor_parsers() -> None:
    """Every command that lists plugins imports the contract."""
    program = "import pressroom_content.contract, sys; print({'sqlalchemy', 'nh3', 'selectolax'} & sys.modules.keys())"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "set()"
