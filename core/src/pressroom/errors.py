"""The exception hierarchy of Pressroom.

    PressroomError
    ├── CallError                     a call failed; the client sees code and message
    │   ├── InvalidJson               invalid_json
    │   ├── InvalidInput              validation_error
    │   ├── NotFound                  not_found
    │   ├── MethodNotAllowed          method_not_allowed
    │   ├── UnsupportedMediaType      unsupported_media_type
    │   ├── PayloadTooLarge           payload_too_large
    │   ├── Rejected                  unauthorized
    │   ├── SignInFailed              sign_in_failed
    │   ├── Forbidden                 forbidden
    │   ├── QuotaExceeded             quota_exceeded
    │   ├── RateLimited               rate_limited
    │   ├── Overloaded                overloaded
    │   ├── CallTimeout               timeout
    │   ├── InternalError             internal_error
    │   └── ClientLeft                client_left
    ├── NotRunning                    a service was used while no server is running
    ├── InvalidStyle                  invalid_style: a CSS value cannot be drawn
    ├── OAuthError                    an OAuth request was refused; the codes are those of the RFCs
    │   ├── InvalidRequest            invalid_request
    │   ├── InvalidClient             invalid_client
    │   ├── InvalidGrant              invalid_grant
    │   ├── UnauthorizedClient        unauthorized_client
    │   ├── UnsupportedGrantType      unsupported_grant_type
    │   ├── UnsupportedResponseType   unsupported_response_type
    │   ├── InvalidScope              invalid_scope
    │   ├── InvalidTarget             invalid_target
    │   ├── AccessDenied              access_denied
    │   ├── InvalidRedirectUri        invalid_redirect_uri
    │   └── InvalidClientMetadata     invalid_client_metadata
    ├── ConfigError                   the operator's configuration is wrong
    ├── PluginError                   a plugin cannot be used
    ├── FetchRefused                  fetch_refused: an untrusted URL is not allowed, or exceeds a limit
    ├── FetchFailed                   fetch_failed: an untrusted URL did not respond
    ├── FetchUnknown                  fetch_unknown: a request may or may not have taken effect
    └── BackendError                  a storage, cache or limits backend failed
        ├── FileMissing               the store has no file under that key
        └── Unavailable               a server that the backend needs does not respond

`code` is stable: clients can branch on it. Messages are for people and can change. All errors survive pickling, because
renders raise them in another process.
"""

from __future__ import annotations

from typing import Any, ClassVar


class PressroomError(Exception):
    """The base class of all errors that Pressroom raises on purpose.

    `message` states what was wrong and where; `hint`, if given, states what to do next.
    """

    code: ClassVar[str] = "internal_error"
    message: str = ""
    hint: str = ""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        # Plugins can pass anything.
        self.message = str(message or "")
        self.hint = str(hint or "")

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), self.__dict__.copy())


def _rebuild(kind: type[PressroomError], state: dict[str, Any]) -> PressroomError:
    error = kind.__new__(kind)
    Exception.__init__(error, state.get("message", ""))
    error.__dict__.update(state)
    return error


class CallError(PressroomError):
    """A call failed; the client gets the message.

    Raise one of its subclasses, such as `InvalidInput` or `NotFound`. For anything else, such as a service that is
    unavailable, define a subclass with its own `code`: `code = "feed_unavailable"`. Clients, the log and metrics use
    the code; the code of `CallError` itself counts as a fault of the server. Over HTTP, the error has the status
    `http_status`, from 400 to 599 (RFC 9110, section 15); `http_status = 502` means that another server failed. The
    codes of the classes here keep their own statuses.

    `spent` means that a run had started and failed because of the request itself: such a call costs the same as a
    successful one.
    """

    http_status: ClassVar[int] = 500
    spent: bool = False

    def __init_subclass__(cls, **more: Any) -> None:
        """Check that `http_status` is an error status. Raises `ValueError`."""
        super().__init_subclass__(**more)
        if not 400 <= cls.http_status <= 599:
            raise ValueError(f"{cls.__name__}.http_status is {cls.http_status}; a failure has a status from 400 to 599")


class InvalidJson(CallError):
    """The body is not a JSON object that this server accepts (RFC 8259)."""

    code = "invalid_json"


class InvalidInput(CallError, ValueError):
    """A parameter is missing, unknown or out of bounds.

    It is a `ValueError`, so that pydantic validators can raise it. `field` is the parameter's dotted path, or empty if
    the error is about the whole input.
    """

    code = "validation_error"

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(f"{field}: {problem}" if field else problem)
        self.field = field
        self.problem = problem


class NotFound(CallError):
    """The resource does not exist, or is disabled."""

    code = "not_found"


class MethodNotAllowed(CallError):
    """The URL does not support this method. `allowed` lists those that it supports."""

    code = "method_not_allowed"

    def __init__(self, method: str, allowed: tuple[str, ...]) -> None:
        super().__init__(f"{method} is not allowed here; use {' or '.join(allowed)}")
        self.allowed = allowed


class UnsupportedMediaType(CallError):
    """The body's `Content-Type` is not JSON."""

    code = "unsupported_media_type"


class PayloadTooLarge(CallError):
    """The body is too large."""

    code = "payload_too_large"


class Rejected(CallError):
    """The credential is invalid. This is final: no other authenticator is tried.

    `reauthorize` is true if the client can get a new credential by authorizing again, as with an expired access token,
    but not with an API key.
    """

    code = "unauthorized"

    def __init__(self, message: str, *, hint: str = "", reauthorize: bool = False) -> None:
        super().__init__(message, hint=hint)
        self.reauthorize = reauthorize


class SignInFailed(CallError):
    """A user could not be signed in. The message is for the user; details for the operator are in the log."""

    code = "sign_in_failed"


class Forbidden(CallError):
    """The caller is not allowed to make this call."""

    code = "forbidden"


class QuotaExceeded(CallError):
    """The account has used up a quota of its plan; the message states when the next month begins.

    It is also raised if the account's storage is full; the message then explains how to free space.
    """

    code = "quota_exceeded"


class RateLimited(CallError):
    """The caller has used up a limit. `retry_after` is in whole seconds, at least 1."""

    code = "rate_limited"

    def __init__(self, message: str, *, retry_after: int) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class Overloaded(CallError):
    """An executor's queue is full, or the storage does not respond. `retry_after` is in whole seconds, at least 1."""

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
    """An internal error; the client only gets the request id."""

    code = "internal_error"


class ClientLeft(CallError):
    """The client disconnected before the response. Observers and metrics see this error; clients never do."""

    code = "client_left"


class NotRunning(PressroomError, RuntimeError):
    """A service was used while no server is running, such as in a hook or in a command of a plugin."""


class InvalidStyle(PressroomError, ValueError):
    """A CSS value cannot be drawn. `position` is the character at which it becomes invalid, counted from 1.

    It is a `ValueError`, so that pydantic validators can raise it.
    """

    code = "invalid_style"

    def __init__(self, problem: str, position: int) -> None:
        super().__init__(f"{problem} (at character {position})")
        self.position = position


class OAuthError(PressroomError):
    """An OAuth request was refused. The message is for the client's developers, as `error_description`."""

    code = "invalid_request"


class InvalidRequest(OAuthError):
    """A parameter is missing, repeated or malformed (RFC 6749, sections 4.1.2.1 and 5.2)."""

    code = "invalid_request"


class InvalidClient(OAuthError):
    """The client is unknown, or could not be authenticated (RFC 6749, section 5.2)."""

    code = "invalid_client"


class InvalidGrant(OAuthError):
    """A code or refresh token is invalid, expired, used, revoked or another client's (RFC 6749, section 5.2)."""

    code = "invalid_grant"


class UnauthorizedClient(OAuthError):
    """The client may not use this grant type (RFC 6749, section 5.2)."""

    code = "unauthorized_client"


class UnsupportedGrantType(OAuthError):
    """The server does not support this grant type (RFC 6749, section 5.2)."""

    code = "unsupported_grant_type"


class UnsupportedResponseType(OAuthError):
    """The server does not support this response type (RFC 6749, section 4.1.2.1)."""

    code = "unsupported_response_type"


class InvalidScope(OAuthError):
    """The scope is unknown, or more than was approved (RFC 6749, sections 4.1.2.1 and 5.2)."""

    code = "invalid_scope"


class InvalidTarget(OAuthError):
    """The resource is not one that this server issues tokens for (RFC 8707, section 2)."""

    code = "invalid_target"


class AccessDenied(OAuthError):
    """The user denied the request (RFC 6749, section 4.1.2.1)."""

    code = "access_denied"


class InvalidRedirectUri(OAuthError):
    """A redirect URI cannot be registered (RFC 7591, section 3.2.2)."""

    code = "invalid_redirect_uri"


class InvalidClientMetadata(OAuthError):
    """Another field of the client's metadata is invalid (RFC 7591, section 3.2.2)."""

    code = "invalid_client_metadata"


class ConfigError(PressroomError):
    """The operator's configuration is invalid; the message contains the key."""

    code = "config_error"


class PluginError(PressroomError):
    """A plugin cannot be used, or its code failed; the message states why. `plugin` is its id, if known."""

    code = "plugin_error"

    def __init__(self, message: str, *, hint: str = "", plugin: str = "") -> None:
        super().__init__(message, hint=hint)
        self.plugin = plugin


class FetchRefused(PressroomError):
    """An untrusted URL may not be fetched, or its response exceeds a limit."""

    code = "fetch_refused"


class FetchFailed(PressroomError):
    """An untrusted URL did not return a complete response in time."""

    code = "fetch_failed"


class FetchUnknown(PressroomError):
    """A request that changes something was sent, but got no complete response: it may or may not have taken effect."""

    code = "fetch_unknown"


class BackendError(PressroomError):
    """A storage, cache or limits backend failed or did not respond in time."""

    code = "backend_error"


class Unavailable(BackendError):
    """A server that a backend needs does not respond; retry soon."""


class FileMissing(BackendError):
    """The store has no file under that key."""

    code = "file_missing"
