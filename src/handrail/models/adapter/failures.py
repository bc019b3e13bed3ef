"""The provider library's errors as ours, by situation."""

from __future__ import annotations

from pydantic import ValidationError
from pydantic_ai import exceptions as library

from handrail.models.errors import (
    BadKey,
    BadRequest,
    ConnectionLost,
    ContextTooLong,
    MalformedReply,
    ModelError,
    Overloaded,
    QuotaSpent,
    RateLimited,
)

FAILURES = (library.AgentRunError, library.UserError, NotImplementedError, ValidationError)
"""What the library raises when there is no reply: for a request that it cannot spell, and for a body it cannot read."""

_BY_CATEGORY: tuple[tuple[type[library.ModelAPIError], type[ModelError]], ...] = (
    (library.ModelRateLimitError, RateLimited),
    (library.ModelQuotaExceededError, QuotaSpent),
    (library.ModelUnavailableError, Overloaded),
    (library.ModelServerError, Overloaded),
    (library.ModelConnectionError, ConnectionLost),
    (library.ModelRequestTimeout, ConnectionLost),
    (library.ModelAuthenticationError, BadKey),
    (library.ModelContextWindowExceededError, ContextTooLong),
    (library.ModelRequestRejectedError, BadRequest),
)


def model_error(problem: Exception) -> ModelError:
    """``problem``, one of ``FAILURES``, as the error of the port."""
    if isinstance(problem, ModelError):
        return problem
    if isinstance(problem, library.UserError | NotImplementedError):
        return BadRequest(str(problem))
    if not isinstance(problem, library.ModelAPIError):
        return MalformedReply(f"the reply could not be read: {problem}")
    status = problem.status_code if isinstance(problem, library.ModelHTTPError) else None
    kind = next((ours for theirs, ours in _BY_CATEGORY if isinstance(problem, theirs)), MalformedReply)
    return kind(_words(problem), retry_after_s=problem.retry_after, status=status)


def _words(problem: library.ModelAPIError) -> str:
    """What the provider said, without the library's framing where its body can be read."""
    body = problem.body
    error = body.get("error", body) if isinstance(body, dict) else None
    message = error.get("message") if isinstance(error, dict) else None
    return f"{problem.model_name}: {message}" if isinstance(message, str) else str(problem)
