"""Page templates of the host and of plugins, which operators can override."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from jinja2 import BaseLoader, Environment
    from jinja2.bccache import BytecodeCache

BUILTIN_PREFIX: Final = "builtin"
"""The prefix with which an operator's template can extend or include the template that it replaces."""

RENDER_SECONDS: Final = 2.0
"""The time limit in seconds for rendering a page with an operator's template."""

REST_SECONDS: Final = 60.0
"""How many seconds an operator's template is skipped after it exceeded a limit, since it blocked other requests."""

_MAX_CHARACTERS: Final = 8_000_000


def _uninterrupted(_seconds: float) -> AbstractContextManager[None]:
    """Interrupt nothing, since no host is running."""
    return nullcontext()


@dataclass(frozen=True, slots=True)
class OperatorTemplate:
    """An operator's override of a template: its source, and the path of its file."""

    source: str
    path: str


class TemplateTooLong(Exception):
    """An operator's template takes too long to render, or its page is too large."""


@dataclass(frozen=True, slots=True)
class TemplateOptions:
    """The Jinja options of templates. `aliases` maps prefixes of template names, as in `web/base.html`, to folders."""

    globals: Mapping[str, Any] = field(default_factory=dict)
    filters: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    aliases: Mapping[str, Path] = field(default_factory=dict)
    bytecode_cache: BytecodeCache | None = None


class PageTemplates:
    """The Jinja templates of a plugin: HTML is escaped, and an undefined name is an error.

    The host creates it from `Plugin(templates=…)`, and provides it as `PluginContext.templates`. If the operator has a
    template of the same name in `[branding] templates`, that one is rendered instead, in Jinja's sandbox. If it fails,
    the reason is logged, and the plugin's own template is rendered.
    """

    __slots__ = ("_builtin", "_folders", "_interrupting", "_noted", "_options", "_own", "_replaced", "_resting_until")

    def __init__(
        self,
        folders: Sequence[Path] = (),
        replaced: Mapping[str, OperatorTemplate] | None = None,
        noted: Callable[[str, BaseException], None] | None = None,
        options: TemplateOptions | None = None,
        interrupting: Callable[[float], AbstractContextManager[None]] = _uninterrupted,
    ) -> None:
        self._folders = folders
        self._replaced = replaced or {}
        self._noted = noted
        self._options = options or TemplateOptions()
        self._interrupting = interrupting
        self._builtin: Environment | None = None
        self._own: Environment | None = None
        self._resting_until: dict[str, float] = {}

    def render(self, template: str, /, **values: Any) -> str:
        """Render a template with these values.

        Raises:
            jinja2.TemplateError: the template does not exist, or is invalid.
        """
        if not self._replaced or time.monotonic() < self._resting_until.get(template, 0.0):
            return self._builtin_environment().get_template(template).render(values)
        try:
            # This alone stops a template that writes nothing, such as an empty loop.
            with self._interrupting(RENDER_SECONDS):
                return self._render_operator_template(template, values)
        except Exception as error:  # noqa: BLE001 - an operator's template may raise anything
            failure = error
        if isinstance(failure, TemplateTooLong):
            self._resting_until[template] = time.monotonic() + REST_SECONDS
        text = self._builtin_environment().get_template(template).render(values)
        if self._noted is not None:
            self._noted(template, failure)
        return text

    def has(self, template: str) -> bool:
        """Return whether a template with this name exists, either the plugin's own or the operator's."""
        from jinja2 import TemplateNotFound  # noqa: PLC0415 - loads with the first page

        environment = self._operator_environment() if self._replaced else self._builtin_environment()
        try:
            environment.loader.get_source(environment, template)  # type: ignore[union-attr] # it has one
        except TemplateNotFound:
            return False
        return True

    def referenced(self, template: str) -> Sequence[str]:
        """Return the names of the templates that an operator's template extends, includes or imports.

        Raises:
            jinja2.TemplateError: the template cannot be compiled.
        """
        from jinja2 import meta  # noqa: PLC0415 - loads with the first page

        environment = self._operator_environment()
        environment.get_template(template)
        parsed = environment.parse(self._replaced[template].source)
        return [name for name in meta.find_referenced_templates(parsed) if name is not None]

    def _render_operator_template(self, template: str, values: Mapping[str, Any]) -> str:
        parts, length, end = [], 0, time.monotonic() + RENDER_SECONDS
        for part in self._operator_environment().get_template(template).generate(values):
            parts.append(part)
            length += len(part)
            if length > _MAX_CHARACTERS:
                raise TemplateTooLong(f"it makes a page of more than {_MAX_CHARACTERS} characters")
            if time.monotonic() > end:
                raise TemplateTooLong(f"it takes more than {RENDER_SECONDS:g} s")
        return "".join(parts)

    def _builtin_environment(self) -> Environment:
        if self._builtin is None:
            from jinja2 import Environment  # noqa: PLC0415 - loads with the first page

            cache = self._options.bytecode_cache
            self._builtin = self._with_options(Environment, self._loader(), bytecode_cache=cache)
        return self._builtin

    def _operator_environment(self) -> Environment:
        if self._own is None:
            from jinja2 import ChoiceLoader, FunctionLoader, PrefixLoader  # noqa: PLC0415
            from jinja2.sandbox import ImmutableSandboxedEnvironment  # noqa: PLC0415

            loader = self._loader()
            own_loader = FunctionLoader(self._load_operator_template)
            # Sandboxed templates compile to different code, so they must not share the bytecode cache.
            self._own = self._with_options(
                ImmutableSandboxedEnvironment,
                ChoiceLoader([own_loader, PrefixLoader({BUILTIN_PREFIX: loader}), loader]),
            )
        return self._own

    def _load_operator_template(self, name: str) -> tuple[str, str, Callable[[], bool]] | None:
        prefix, _, path = name.partition("/")
        template = self._replaced.get(path if prefix in self._options.aliases else name)
        return (template.source, template.path, lambda: True) if template else None

    def _loader(self) -> BaseLoader:
        from jinja2 import ChoiceLoader, FileSystemLoader, PrefixLoader  # noqa: PLC0415

        aliases = {name: FileSystemLoader(folder) for name, folder in self._options.aliases.items()}
        return ChoiceLoader([*(FileSystemLoader(folder) for folder in self._folders), PrefixLoader(aliases)])

    def _with_options(self, kind: type[Environment], loader: BaseLoader, **more: Any) -> Environment:
        from jinja2 import StrictUndefined  # noqa: PLC0415

        environment = kind(
            loader=loader,
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            auto_reload=False,
            **more,
        )
        environment.filters.update(self._options.filters)
        environment.globals.update(self._options.globals)
        return environment
