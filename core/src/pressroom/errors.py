"""Every error of Pressroom, in one tree.

    PressroomError
    ├── CallError                     one call could not be answered; the client sees code and message
    │   ├── InvalidJson               invalid_json
    │   ├── InvalidInput              validation_error
    │   ├── NotFound                  not_found
    │   ├── MethodNotAllowed          method_not_allowed
    │   ├── UnsupportedMediaType      unsupported_media_type
    │   ├── PayloadTooLarge           payload_too_large
    │   ├── Rejected                  unauthorized
    │   ├── Forbidden                 forbidden
    │   ├── RateLimited               rate_limited
    │   ├── Overloaded                overloaded
    │   ├── CallTimeout               timeout
    │   ├── InternalError             internal_error
    │   └── ClientLeft                client_left
    ├── ConfigError                   the operator's configuration is wrong
    ├── PluginError                   a plugin cannot be used
    └── BackendError                  a storage, cache or limits backend failed
        └── FileMissing               the store has no file under that key

`code` is stable: clients may branch on it. Messages are for people and may change.
All of them survive pickling, because renders raise them in another process.
"""

from __future__ import annotations

from typing import Any, ClassVar


class PressroomError(Exception):
    """The root of all errors that Pressroom raises on purpose.

    `message` says what was wrong and where; `hint`, where given, what to do next.
    """

    code: ClassVar[str] = "internal_error"

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), self.__dict__.copy())


def _rebuild(kind: type[PressroomError], state: dict[str, Any]) -> PressroomError:
    error = kind.__new__(kind)
    Exception.__init__(error, state["message"])
    error.__dict__.update(state)
    return error


class CallError(PressroomError):
    """One call could not be answered."""


class InvalidJson(CallError):
    """The body is not a JSON object that this server accepts (RFC 8259)."""

    code = "invalid_json"


class InvalidInput(CallError, ValueError):
    """A parameter is missing, unknown or out of bounds.

    It is a `ValueError`, so that a pydantic validator may raise it.
    `field` is the parameter's dotted path, or empty where the whole input is meant.
    """

    code = "validation_error"

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(f"{field}: {problem}" if field else problem)
        self.field = field
        self.problem = problem


class NotFound(CallError):
    """There is nothing under that address, or it is switched off."""

    code = "not_found"


class MethodNotAllowed(CallError):
    """The address exists, the method does not. `allowed` lists the ones that do."""

    code = "method_not_allowed"

    def __init__(self, method: str, allowed: tuple[str, ...]) -> None:
        super().__init__(f"{method} is not allowed here; use {' or '.join(allowed)}")
        self.allowed = allowed


class UnsupportedMediaType(CallError):
    """The body's `Content-Type` is not JSON."""

    code = "unsupported_media_type"


class PayloadTooLarge(CallError):
    """The body is larger than the server reads."""

    code = "payload_too_large"


class Rejected(CallError):
    """A credential was given and is not valid. Final: no other authenticator is asked."""

    code = "unauthorized"


class Forbidden(CallError):
    """The caller is known, but not allowed to make this call."""

    code = "forbidden"


class RateLimited(CallError):
    """The caller has used up a limit. `retry_after` is in whole seconds, at least 1."""

    code = "rate_limited"

    def __init__(self, message: str, *, retry_after: int) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class Overloaded(CallError):
    """The queue of a lane is full. `retry_after` is in whole seconds, at least 1."""

    code = "overloaded"

    def __init__(self, message: str, *, retry_after: int = 1) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class CallTimeout(CallError):
    """The call ran out of time. `retry_after` is in whole seconds, at least 1."""

    code = "timeout"

    def __init__(self, message: str, *, retry_after: int = 1) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class InternalError(CallError):
    """Something failed inside; the client learns no more than the request id."""

    code = "internal_error"


class ClientLeft(CallError):
    """Nobody waits for the answer any more. Observers and metrics see it; a client never does."""

    code = "client_left"


class ConfigError(PressroomError):
    """The operator's configuration is wrong; the message names the key."""

    code = "config_error"


class PluginError(PressroomError):
    """A plugin cannot be used; the message names the plugin and the reason."""

    code = "plugin_error"


class BackendError(PressroomError):
    """A storage, cache or limits backend failed or did not answer in time."""

    code = "backend_error"


class FileMissing(BackendError):
    """The store has no file under that key."""

    code = "file_missing"
