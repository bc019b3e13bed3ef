"""Tools made of typed functions: what the model is told, what it may send, what comes back."""

from __future__ import annotations

import asyncio
import dataclasses
import datetime
import enum
import threading
from typing import Annotated, Any, Literal

import msgspec
import pydantic
import pytest

from handrail.agents.bindings.docstring import parse_docstring
from handrail.agents.tool import Tool, ToolContext, ToolError, ToolOutput, by_name, tool
from handrail.transcripts.codec import ToolTraits
from handrail.transcripts.model import Image, Json, Text
from tests.agents.tools.running import called, context, output, run


@tool(parallel=True)
def probe(value: str) -> str:
    """Look at one thing. value: what to look at."""
    return f"seen {value}"


class Colour(enum.StrEnum):
    RED = "red"


class Point(msgspec.Struct):
    x: int
    name: str = "p"


class Circle(msgspec.Struct, tag="circle"):
    radius: int


class Square(msgspec.Struct, tag="square"):
    side: int


@dataclasses.dataclass
class Box:
    wide: int


class Model(pydantic.BaseModel):
    deep: list[Box]


def _problems(made: Tool, **input: Json) -> tuple[str, ...]:
    return made.problems(input)


def test_the_shortest_tool_has_name_description_and_schema() -> None:
    assert probe.name == "probe"
    assert probe.spec.description == "Look at one thing."
    assert probe.spec.input_schema == {
        "type": "object",
        "properties": {"value": {"type": "string", "description": "what to look at."}},
        "required": ["value"],
        "additionalProperties": False,
    }
    assert (probe.is_parallel, probe.is_twice_safe, probe.is_terminal, probe.timeout_s) == (True, False, False, None)


def test_a_decorated_function_is_still_called_as_before() -> None:
    assert probe("a") == "seen a"


def test_what_is_declared_is_what_the_tool_says_of_itself() -> None:
    @tool(name="Post", private=True, untrusted=True, sends=True, destructive=True, twice_is_safe=True, timeout_s=2)
    def post() -> None:
        """Send it."""

    assert post.traits == ToolTraits(private=True, untrusted=True, sends=True, destructive=True)
    assert (post.name, post.is_twice_safe, post.timeout_s) == ("Post", True, 2)


def test_a_terminal_tool_is_never_parallel() -> None:
    @tool(parallel=True, is_terminal=True)
    def finish() -> None:
        """Finish."""

    assert (finish.is_terminal, finish.is_parallel) == (True, False)


def test_every_problem_of_an_input_is_named_at_once() -> None:
    @tool
    def move(a: int, b: Literal["x", "y"], c: list[Point], d: dict[str, int], e: Model) -> None:
        """Move."""

    assert _problems(move, b="z", c=[{"x": "q"}, {"x": 1}], d={"k": "v"}, e={"deep": [{"wide": None}]}, f=1) == (
        "a: is missing",
        "b: Input should be 'x' or 'y'",
        "c[0].x: Input should be a valid integer",
        "d.k: Input should be a valid integer",
        "e.deep[0].wide: Input should be a valid integer",
        "f: there is no such parameter",
    )


@pytest.mark.parametrize("input", [None, [], "text", 3, True])
def test_an_input_that_is_no_object_is_one_problem(input: Json) -> None:
    assert len(probe.problems(input)) == 1


def test_numbers_as_text_are_no_numbers() -> None:
    @tool
    def count(number: int, share: float) -> None:
        """Count."""

    assert _problems(count, number="5", share=1) == ("number: Input should be a valid integer",)


def test_values_arrive_in_the_types_of_the_hints() -> None:
    seen: list[Any] = []

    @tool
    def take(
        point: Point, box: Box, model: Model, colour: Colour, day: datetime.date, maybe: int | None, some: int | str
    ) -> None:
        """Take."""
        seen.extend([point, box, model, colour, day, maybe, some])

    given: dict[str, Json] = {"point": {"x": 1}, "box": {"wide": 2}, "model": {"deep": [{"wide": 3}]}, "colour": "red"}
    run(called(take, {**given, "day": "2026-01-02", "maybe": None, "some": "s"}, context()))
    assert seen == [
        Point(1),
        Box(2),
        Model(deep=[Box(3)]),
        Colour.RED,
        datetime.date(2026, 1, 2),
        None,
        "s",
    ]


def test_tagged_structs_are_told_apart() -> None:
    @tool
    def draw(shape: Circle | Square) -> str:
        """Draw."""
        return repr(shape)

    assert output(draw, shape={"type": "square", "side": 2}).content == "Square(side=2)"
    assert _problems(draw, shape={"type": "star"})


def test_a_default_is_the_functions_own_and_the_schema_shows_it() -> None:
    @tool
    def greet(name: str = "you") -> str:
        """Greet."""
        return name

    assert output(greet).content == "you"
    assert greet.spec.input_schema["properties"]["name"] == {"type": "string", "default": "you"}
    assert "required" not in greet.spec.input_schema


def test_bounds_in_an_annotation_hold() -> None:
    @tool
    def roll(sides: Annotated[int, pydantic.Field(ge=2, description="how many")]) -> None:
        """Roll."""

    assert roll.spec.input_schema["properties"]["sides"] == {
        "type": "integer",
        "minimum": 2,
        "description": "how many",
    }
    assert _problems(roll, sides=1) == ("sides: Input should be greater than or equal to 2",)


def test_parameters_may_have_any_name() -> None:
    @tool
    def odd(json: str, model_config: str, _hidden: str = "h", self_: str = "s") -> str:
        """Odd."""
        return json + model_config + _hidden + self_

    assert output(odd, json="a", model_config="b", _hidden="c").content == "abcs"


def test_the_context_is_given_and_not_shown() -> None:
    @tool
    def who(value: str, around: ToolContext) -> str:
        """Who."""
        return f"{value} {around.call_id}"

    assert list(who.spec.input_schema["properties"]) == ["value"]
    assert output(who, value="I am").content == "I am call_1"


def test_a_local_type_can_be_a_hint() -> None:
    class Local(msgspec.Struct):
        here: int

    @tool
    def use(value: Local) -> int:
        """Use."""
        return value.here

    assert output(use, value={"here": 4}).content == 4


def test_plain_functions_run_in_threads_and_async_ones_in_the_loop() -> None:
    @tool
    def plain() -> bool:
        """Plain."""
        return threading.current_thread() is threading.main_thread()

    @tool
    async def quick() -> bool:
        """Quick."""
        return threading.current_thread() is threading.main_thread()

    assert (output(plain).content, output(quick).content) == (False, True)


def test_two_plain_tools_that_wait_for_each_other_run_at_once() -> None:
    meeting = threading.Barrier(2, timeout=10)

    @tool(parallel=True)
    def meet() -> str:
        """Meet."""
        meeting.wait()
        return "met"

    async def both() -> list[Json]:
        found = await asyncio.gather(*(called(meet, {}, context()) for _ in range(2)))
        return [one.content for one in found]

    assert run(both()) == ["met", "met"]


@pytest.mark.parametrize(
    ("value", "content"),
    [
        (None, ""),
        ("text", "text"),
        ({"a": (1, 2)}, {"a": [1, 2]}),
        (Point(1), {"x": 1, "name": "p"}),
        (Box(2), {"wide": 2}),
        (Model(deep=[]), {"deep": []}),
        ([], []),
        (Text("t"), [{"type": "text", "text": "t"}]),
        (
            [Text("t"), Image("image/png", "AA==")],
            [{"type": "text", "text": "t"}, {"type": "image", "media_type": "image/png", "data": "AA=="}],
        ),
        (ToolOutput("own", is_error=True), "own"),
    ],
)
def test_what_is_returned_becomes_the_content(value: Any, content: Json) -> None:
    @tool
    def give() -> Any:
        """Give."""
        return value

    assert output(give).content == content


def test_only_an_untrusted_tools_words_count_as_from_outside() -> None:
    @tool(untrusted=True)
    def page() -> str:
        """Page."""
        return "hostile"

    assert (output(page).is_external, output(probe, value="a").is_external) == (True, False)


def test_a_tool_error_is_an_error_in_its_own_words() -> None:
    @tool
    def fail() -> None:
        """Fail."""
        raise ToolError("not today")

    assert (output(fail).content, output(fail).is_error) == ("not today", True)


class TestNoTool:
    """What no tool can be made of is said where it is decorated."""

    def test_a_parameter_without_a_hint(self) -> None:
        def bare(value) -> None:  # type: ignore[no-untyped-def]
            """Bare."""

        with pytest.raises(TypeError, match="'value' has no type hint"):
            tool(bare)

    def test_arguments_without_names(self) -> None:
        def many(*values: str) -> None:
            """Many."""

        with pytest.raises(TypeError, match="cannot be given by name"):
            tool(many)

    def test_a_type_without_a_schema(self) -> None:
        def odd(value: threading.Lock) -> None:
            """Odd."""

        with pytest.raises(TypeError, match="no schema"):
            tool(odd)

    def test_a_hint_that_names_nothing(self) -> None:
        def lost(value: Missing) -> None:  # type: ignore[name-defined]  # noqa: F821
            """Lost."""

        with pytest.raises(TypeError, match="Missing"):
            tool(lost)

    def test_a_name_no_provider_takes(self) -> None:
        with pytest.raises(ValueError, match="cannot be called"):
            tool(name="two words")(lambda: None)

    def test_a_struct_that_holds_itself(self) -> None:
        def deep(value: Ring) -> None:
            """Deep."""

        with pytest.raises(TypeError, match="holds itself"):
            tool(deep)


class Ring(msgspec.Struct):
    inner: list[Ring] = []


def test_two_tools_of_one_name_are_refused() -> None:
    assert by_name([probe]) == {"probe": probe}
    with pytest.raises(ValueError, match="'probe'"):
        by_name([probe, probe])


@pytest.mark.parametrize(
    ("docstring", "description", "texts"),
    [
        ("Do it. a: one b: two.", "Do it.", {"a": "one b: two."}),
        ("Do it. a: one. b: two.", "Do it.", {"a": "one.", "b": "two."}),
        ("Do it.\n\na: one\nb: two\n\nMore.", "Do it.\n\nMore.", {"a": "one", "b": "two"}),
        ("Do it.\n\nArgs:\n    a: one\n        more\n    b (int): two", "Do it.", {"a": "one more", "b": "two"}),
        ("Do it.\n\n:param a: one\n- b: two", "Do it.", {"a": "one", "b": "two"}),
        ("Say the data: all of it.", "Say the data: all of it.", {}),
        (None, "", {}),
    ],
)
def test_docstrings_are_read_in_the_usual_forms(docstring: str | None, description: str, texts: dict[str, str]) -> None:
    assert parse_docstring(docstring, ["a", "b"]) == (description, texts)
