"""Texts that run as a script where a page takes them for more than text. Each calls `alert` or sets a mark, or is one."""

from __future__ import annotations

from itertools import product

MARK = "data-pwned"
"""An attribute that no page of ours has: an element with it was made of a text."""

_BREAKOUTS = [
    "",
    '">',
    "'>",
    "</textarea>",
    "</title>",
    "</script>",
    "</style>",
    "-->",
    "]]>",
    "</td></tr></table>",
    "</template></noscript>",
    "</select></option>",
]
_ELEMENTS = [
    f"<script {MARK}>alert(1)</script>",
    f"<img src=x {MARK} onerror=alert(1)>",
    f"<svg {MARK} onload=alert(1)>",
    f"<svg><script {MARK}>alert(1)</script></svg>",
    f"<svg><animate {MARK} onbegin=alert(1) attributeName=x dur=1s>",
    f"<math><mtext {MARK}><img src=x onerror=alert(1)></math>",
    f"<body {MARK} onload=alert(1)>",
    f"<input {MARK} autofocus onfocus=alert(1)>",
    f"<details {MARK} open ontoggle=alert(1)>",
    f"<video {MARK} src=x onerror=alert(1)>",
    f"<audio {MARK} src=x onerror=alert(1)>",
    f"<marquee {MARK} onstart=alert(1)>",
    f'<iframe {MARK} srcdoc="<script>parent.alert(1)</script>">',
    f'<iframe {MARK} src="javascript:parent.alert(1)">',
    f'<object {MARK} data="javascript:alert(1)">',
    f'<embed {MARK} src="javascript:alert(1)">',
    f'<a {MARK} href="javascript:alert(1)">x</a>',
    f'<form {MARK} action="javascript:alert(1)"><button>x',
    f'<button {MARK} formaction="javascript:alert(1)">x',
    f'<meta {MARK} http-equiv=refresh content="0;url=javascript:alert(1)">',
    f'<base {MARK} href="//example.invalid/">',
    f'<link {MARK} rel=stylesheet href="//example.invalid/x.css">',
    f"<style {MARK}>*{{display:none}}</style>",
    f"<template {MARK}><img src=x onerror=alert(1)></template>",
    f"<select {MARK} autofocus onfocus=alert(1)>",
    f"<x-askew {MARK} onclick=alert(1)>",
]
_ATTRIBUTES = [
    f'" {MARK} autofocus onfocus=alert(1) x="',
    f"' {MARK} autofocus onfocus=alert(1) x='",
    f"x {MARK} onmouseover=alert(1)",
    f'"\n{MARK}\nonpointerenter=alert(1)\n',
    f"` {MARK} onmouseover=alert(1) `",
]
_SCRIPTS = [
    "';alert(1);//",
    '";alert(1);//',
    "</script><script>alert(1)</script>",
    "${alert(1)}",
    "{{constructor.constructor('alert(1)')()}}",
    "{{7*7}}{% debug %}{% load static %}",
    "{% endblock %}{{ settings.SECRET_KEY }}",
    "\\u003cimg src=x onerror=alert(1)\\u003e",
    "\u2028alert(1)\u2029",
    "&lt;img src=x onerror=alert(1)&gt;",
    "&#60;img src=x onerror=alert(1)&#62;",
    "&amp;lt;script&amp;gt;",
    "＜script＞alert(1)＜/script＞",
    "%3Cscript%3Ealert(1)%3C/script%3E",
    "+ADw-script+AD4-alert(1)+ADw-/script+AD4-",
    "<scr<script>ipt>alert(1)</scr</script>ipt>",
    f"<\timg/src=x\n{MARK}\nonerror=alert(1)//",
    f"<img src=x:x {MARK} onerror\x0c=alert(1)>",
    "<!--><img src=x onerror=alert(1)>-->",
    "<![CDATA[<img src=x onerror=alert(1)>]]>",
    "\u202e<script>alert(1)</script>",
]
_ADDRESSES = [
    "javascript:alert(1)",
    "JaVaScRiPt:alert(1)",
    " javascript:alert(1)",
    "java\tscript:alert(1)",
    "java&#10;script:alert(1)",
    "data:text/html,<script>alert(1)</script>",
    "vbscript:msgbox(1)",
    "//example.invalid/x.js",
    "blob:https://example.invalid/x",
]
_MARKDOWN = [
    *(f"[link]({address})" for address in _ADDRESSES),
    *(f"![picture]({address})" for address in _ADDRESSES),
    *(f"[link]: {address}\n\n[link]" for address in _ADDRESSES),
    *(f"<{address}>" for address in _ADDRESSES),
    f'[x](https://example.invalid "\\" {MARK} onmouseover=alert(1) \\"")',
    f'![x" {MARK} onerror="alert(1)](x)',
    f"`<img src=x {MARK} onerror=alert(1)>`",
    f"    <img src=x {MARK} onerror=alert(1)>",
    f'```"><img src=x {MARK} onerror=alert(1)>\n```',
    f"|a|b|\n|-|-|\n|<img src=x {MARK} onerror=alert(1)>|x|",
    "# heading <script>alert(1)</script>",
]

PAYLOADS: list[str] = [
    *(before + element for before, element in product(_BREAKOUTS, _ELEMENTS)),
    *_ATTRIBUTES,
    *_SCRIPTS,
    *_ADDRESSES,
    *_MARKDOWN,
]
"""A few hundred, each different."""

SHORT = sorted((text for text in PAYLOADS if "\n" not in text and text.strip() == text), key=len)
"""Those of one line, shortest first."""
