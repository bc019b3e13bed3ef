"""The words of an HTML page, for reading; and as a program of its own, from standard input to standard output.

A page can be written so that the parser takes hours over a few kilobytes, and nothing stops it from within, so what
comes from outside is read in a child process, which can be killed. It needs the standard library alone.
"""

from __future__ import annotations

import re
import sys
from html.parser import HTMLParser

_SILENT = frozenset({"script", "style", "noscript", "template", "svg", "head"})
_BLOCKS = frozenset(
    {"address", "article", "aside", "blockquote", "br", "dd", "div", "dl", "dt", "figure", "footer", "form", "h1"}
    | {"h2", "h3", "h4", "h5", "h6", "header", "hr", "li", "main", "nav", "ol", "p", "pre", "section", "table"}
    | {"td", "th", "tr", "ul"}
)


def text_of(html: str) -> str:
    """The visible text of ``html``: blocks on lines of their own, headings marked, link targets in brackets."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    lines = (" ".join(line.split()) for line in "".join(reader.parts).split("\n"))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self._silent: list[str] = []
        self._targets: list[str | None] = []

    def parse_marked_section(self, i: int, report: bool = True) -> int:
        """Pages may hold sections that HTML does not know, such as Word's; they are no words either."""
        try:
            return super().parse_marked_section(i, report)
        except AssertionError:
            return self.parse_bogus_comment(i)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _SILENT:
            self._silent.append(tag)
        elif tag in _BLOCKS:
            self.parts.append("\n")
            if tag[0] == "h" and tag[1:].isdigit():
                self.parts.append("#" * int(tag[1:]) + " ")
            elif tag == "li":
                self.parts.append("- ")
        elif tag == "a":
            self._targets.append(dict(attrs).get("href"))

    def handle_endtag(self, tag: str) -> None:
        if self._silent and self._silent[-1] == tag:
            self._silent.pop()
        elif tag == "body":
            # Pages that never close what they opened silently show their words all the same.
            self._silent.clear()
        elif tag in _BLOCKS:
            self.parts.append("\n")
        elif tag == "a" and self._targets:
            target = self._targets.pop()
            if target and target.startswith(("http://", "https://")):
                self.parts.append(f" ({target})")

    def handle_data(self, data: str) -> None:
        if not self._silent:
            self.parts.append(data.replace("\n", " "))


def main() -> None:
    """Read a page in UTF-8 and write its words."""
    page = sys.stdin.buffer.read().decode("utf-8", "replace")
    sys.stdout.buffer.write(text_of(page).encode("utf-8", "replace"))


if __name__ == "__main__":
    main()
