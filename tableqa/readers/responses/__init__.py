"""Exports of other annotation tools, as tasks with the responses that people gave there."""

from collections.abc import Mapping

from tableqa.readers.responses import argilla, doccano, label_studio, potato, prodigy
from tableqa.readers.responses.tool_export import GivenResponse, Task, Tool

_TOOLS: tuple[Tool, ...] = (label_studio.TOOL, argilla.TOOL, doccano.TOOL, potato.TOOL, prodigy.TOOL)

TOOLS: Mapping[str, Tool] = {tool.name: tool for tool in _TOOLS}
"""Every tool by the name that commands use."""

__all__ = ["TOOLS", "GivenResponse", "Task", "Tool"]
