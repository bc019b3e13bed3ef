"""What can go wrong between us and a model, by situation.

ModelError                 is_retryable, retry_after_s
├── Overloaded             the provider cannot now                        retryable
├── RateLimited            we asked too much too fast                     retryable
├── ConnectionLost         no connection, or it broke mid-way             retryable (ConnectionError)
├── BadKey                 no key, a wrong one, or one that may not       (PermissionError)
├── QuotaSpent             the account's money or quota is used up
├── BadRequest             the provider will never take this request      (ValueError)
│   └── ContextTooLong     because it is too long
├── MalformedReply         what came back is no reply
└── ScriptEnded            a scripted or replaying model has nothing more to say
"""

from __future__ import annotations

from handrail.errors import HandrailError


class ModelError(HandrailError):
    """A request gave no reply. ``is_retryable`` says whether the same request may succeed in a while.

    ``retry_after_s`` is how long the provider asked to wait, in seconds, or None. ``status`` is the HTTP status.
    """

    code = "model"
    is_retryable = False

    def __init__(
        self, message: str, *, hint: str | None = None, retry_after_s: float | None = None, status: int | None = None
    ) -> None:
        super().__init__(message, hint=hint)
        self.retry_after_s = retry_after_s
        self.status = status


class Overloaded(ModelError):
    """The provider has no capacity now, or failed on its side."""

    code = "overloaded"
    is_retryable = True


class RateLimited(ModelError):
    """Too many requests or tokens in too little time."""

    code = "rate_limited"
    is_retryable = True


class ConnectionLost(ModelError, ConnectionError):
    """No connection could be made, it timed out, or it broke before the reply was whole."""

    code = "connection_lost"
    is_retryable = True


class BadKey(ModelError, PermissionError):
    """There is no key, it is wrong, or it may not use this model."""

    code = "bad_key"


class QuotaSpent(ModelError):
    """The account's credit or quota is used up: waiting does not help."""

    code = "quota_spent"


class BadRequest(ModelError, ValueError):
    """The provider will never take this request as it is."""

    code = "bad_request"


class ContextTooLong(BadRequest):
    """The conversation does not fit into the model's context."""

    code = "context_too_long"


class MalformedReply(ModelError):
    """What came back is no reply."""

    code = "malformed_reply"


class ScriptEnded(ModelError, LookupError):
    """A model that plays a script or a recording was asked for more than that holds."""

    code = "script_ended"


class MalformedScript(HandrailError, ValueError):
    """A file that is to be played by a scripted model is no script."""

    code = "malformed_script"
    exit_code = 2
