"""What a model may split work into: items with ids of their own, checked all at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from handrail import jsonio
from handrail.journal.vocabulary import FanOutItem
from handrail.transcripts.model import Json

MAX_ID_CHARS = 100

_ITEM_KEYS = ("id", "context")
_KEYS = ("items", "worker", "max_workers")


def schema_of(workers: Sequence[str]) -> dict[str, Json]:
    """The input of the tool as JSON Schema; ``worker`` is asked for only where there are several."""
    item: dict[str, Json] = {
        "type": "object",
        "properties": {
            "id": {"type": "string", "description": "a short name of the item, unlike all others"},
            "context": {"description": "everything its worker has to know: it sees nothing of this conversation"},
        },
        "required": list(_ITEM_KEYS),
        "additionalProperties": False,
    }
    properties: dict[str, Json] = {
        "items": {"type": "array", "items": item},
        "max_workers": {"type": "integer", "minimum": 0, "description": "how many at once at most; 0: all"},
    }
    required: list[Json] = ["items"]
    if len(workers) > 1:
        properties["worker"] = {"type": "string", "enum": list(workers), "description": "who does the items"}
        required.append("worker")
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def problems_of(input: Json, workers: Sequence[str], max_items: int) -> Iterator[str]:
    """Every problem with ``input``, in words the model can use."""
    if not isinstance(input, dict):
        yield "the input must be an object"
        return
    yield from (f"{key}: there is no such parameter" for key in input if key not in _KEYS)
    at_once = input.get("max_workers", 0)
    if not _is_count(at_once):
        yield "max_workers: must be a whole number, 0 or more"
    if (len(workers) > 1 or "worker" in input) and input.get("worker") not in workers:
        yield f"worker: must be one of {', '.join(workers)}"
    items = input.get("items")
    if not isinstance(items, list):
        yield "items: is missing, or not a list"
        return
    if len(items) > max_items:
        yield f"items: {len(items)} are too many, {max_items} is the most"
    for place, item in enumerate(items):
        yield from _item_problems(item, place)
    ids = Counter(item["id"] for item in items if isinstance(item, dict) and isinstance(item.get("id"), str))
    yield from (f"items: {count} are called {id!r}" for id, count in ids.items() if count > 1)


def _item_problems(item: Json, place: int) -> Iterator[str]:
    at = f"items[{place}]"
    if not isinstance(item, dict):
        yield f"{at}: must be an object with id and context"
        return
    yield from (f"{at}.{key}: there is no such parameter" for key in item if key not in _ITEM_KEYS)
    id = item.get("id")
    if not isinstance(id, str) or not id.strip() or not id.isprintable():
        yield f"{at}.id: must be a text on one line that is not blank"
    elif len(id) > MAX_ID_CHARS:
        yield f"{at}.id: has {len(id)} characters, {MAX_ID_CHARS} is the most"
    context = item.get("context")
    if context is None or (isinstance(context, str) and not context.strip()):
        yield f"{at}.context: is missing, or blank"


def _is_count(value: Json) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def items_of(input: Json) -> tuple[FanOutItem, ...]:
    """The items of an input that has no problems."""
    given = input["items"] if isinstance(input, dict) else []
    return tuple(FanOutItem(item["id"], item["context"]) for item in given)


def prompt_of(item: FanOutItem) -> str:
    """What a worker is told of its item."""
    context = item.context if isinstance(item.context, str) else jsonio.encode(item.context).decode()
    return f"Item {item.id}:\n\n{context}"
