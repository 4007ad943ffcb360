"""A page as a browser without scripts shows and sends it: fields are filled in, buttons send their form."""

from __future__ import annotations

from typing import Any

from django.test import Client
from lxml import html


class PlainPage:
    """The page at an address, for the person who is signed in at the client."""

    def __init__(self, client: Client, address: str) -> None:
        self.client = client
        self.go(address)

    def go(self, address: str) -> None:
        self._take(self.client.get(address, follow=True))

    def _take(self, response: Any) -> None:
        if response.redirect_chain:
            self.address = response.redirect_chain[-1][0]
        else:
            self.address = response.request["PATH_INFO"]
        self.status = response.status_code
        self.root = html.fromstring(response.content.decode())

    def all(self, path: str) -> list[Any]:
        """The elements at an XPath."""
        return list(self.root.xpath(path))

    def text(self, path: str = "//main") -> str:
        """The texts of the elements at an XPath, with single spaces."""
        return " ".join(words(element) for element in self.all(path))

    def field(self, label: str, at: int = 0) -> Any:
        """The control whose label or aria-label contains a text; `at` counts several."""
        controls: list[Any] = []
        for element in self.all(f"//label[contains(normalize-space(), {quoted(label)})]"):
            ids = element.get("for")
            controls += self.all(f"//*[@id={quoted(ids)}]") if ids else element.xpath(f".//*[{CONTROL}]")
        controls += self.all(f"//*[{CONTROL}][contains(@aria-label, {quoted(label)})]")
        assert len(controls) > at, f"no field {label}"
        return controls[at]

    def named(self, name: str) -> Any:
        """The first control with a name."""
        [control, *_] = self.all(f"//*[{CONTROL}][@name={quoted(name)}]")
        return control

    def press(self, label: str) -> None:
        """Send the form of the button with a label."""
        buttons = [button for button in self.all("//button") if words(button).startswith(label)]
        assert buttons, f"no button {label}"
        button = next((one for one in buttons if words(one) == label), buttons[0])
        form = self._owner(button)
        assert form is not None, f"{label} is in no form"
        data = self._entered(form)
        if button.get("name"):
            data.setdefault(button.get("name"), []).append(button.get("value") or "")
        address = button.get("formaction") or form.get("action") or self.address
        if (button.get("formmethod") or form.get("method") or "get").lower() == "get":
            self._take(self.client.get(address, data, follow=True))
        else:
            self._take(self.client.post(address, data, follow=True))

    def follow(self, label: str) -> None:
        """Follow the link with a text."""
        [link, *_] = [link for link in self.all("//a[@href]") if label in words(link)]
        address = link.get("href")
        self.go(self.address.partition("?")[0] + address if address.startswith("?") else address)

    def _owner(self, control: Any) -> Any:
        if control.get("form"):
            return next(iter(self.all(f"//form[@id={quoted(control.get('form'))}]")), None)
        return next(control.iterancestors("form"), None)

    def _entered(self, form: Any) -> dict[str, list[str]]:
        """What a form sends, without its buttons."""
        data: dict[str, list[str]] = {}
        for control in self.all(f"//*[{CONTROL}][@name]"):
            if self._owner(control) is form and control.get("disabled") is None:
                values = value_of(control)
                if values:
                    data.setdefault(control.get("name"), []).extend(values)
        return data


CONTROL = "self::input or self::textarea or self::select"


def fill(control: Any, text: str) -> None:
    """Write a text into a field."""
    if control.tag == "textarea":
        control.text = text
    else:
        control.set("value", text)


def check(control: Any) -> None:
    """Choose a radio button or tick a checkbox."""
    if control.get("type") == "radio":
        for other in control.getroottree().xpath(
            f"//input[@type='radio'][@name={quoted(control.get('name'))}]"
        ):
            other.attrib.pop("checked", None)
    control.set("checked", "")


def select(control: Any, option: str) -> None:
    """Choose the option with a value or a text."""
    options = control.xpath(".//option")
    chosen = [one for one in options if option in (one.get("value"), words(one))]
    assert chosen, f"no option {option}"
    for one in options:
        one.attrib.pop("selected", None)
    chosen[0].set("selected", "")


def value_of(control: Any) -> list[str]:
    """The values that a control sends."""
    if control.tag == "textarea":
        return [(control.text or "").removeprefix("\n")]
    if control.tag == "select":
        options = control.xpath(".//option")
        chosen = [one for one in options if one.get("selected") is not None]
        if not chosen and control.get("multiple") is None:
            chosen = options[:1]
        return [one.get("value", words(one)) for one in chosen]
    if control.get("type") in ("submit", "button", "image", "reset", "file"):
        return []
    if control.get("type") in ("checkbox", "radio"):
        return [control.get("value", "on")] if control.get("checked") is not None else []
    return [control.get("value") or ""]


def words(element: Any) -> str:
    return " ".join(element.text_content().split())


def quoted(text: str) -> str:
    """A text as XPath writes it."""
    if "'" not in text:
        return f"'{text}'"
    return f'"{text}"' if '"' not in text else "concat('" + text.replace("'", "', \"'\", '") + "')"
