"""HTML as elements with their attributes, children and text."""

from __future__ import annotations

from html.parser import HTMLParser

VOID = {"input", "br", "hr", "img", "meta", "link", "col", "wbr"}


class Element:
    """An HTML element with its attributes, children and text."""

    def __init__(self, name: str, attributes: dict[str, str | None]) -> None:
        self.name, self.attributes = name, attributes
        self.children: list[Element | str] = []

    @property
    def text(self) -> str:
        parts = [child if isinstance(child, str) else child.text for child in self.children]
        return " ".join("".join(parts).split())

    def all(self, name: str = "", **attributes: str) -> list[Element]:
        """Descendants of this name with these attributes (`data_part` for data-part, `class_` for class)."""
        wanted = {key.strip("_").replace("_", "-"): value for key, value in attributes.items()}
        inside = [child for child in self.children if isinstance(child, Element)]
        own = [
            child
            for child in inside
            if name in ("", child.name) and all(child.attributes.get(key) == wanted[key] for key in wanted)
        ]
        return own + [each for child in inside for each in child.all(name, **attributes)]

    def find(self, name: str = "", **attributes: str) -> Element:
        (element,) = self.all(name, **attributes)
        return element


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open = [Element("", {})]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, dict(attrs))
        self.open[-1].children.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_endtag(self, tag: str) -> None:
        if tag in [element.name for element in self.open]:
            while self.open.pop().name != tag:
                pass

    def handle_data(self, data: str) -> None:
        self.open[-1].children.append(data)


def parsed(html: str) -> Element:
    reader = _Reader()
    reader.feed(html)
    return reader.open[0]
