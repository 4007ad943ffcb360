"""Exports of other annotation tools, as tasks with the responses that people gave there."""

from collections.abc import Mapping

from tableqa.readers.responses import argilla, doccano, label_studio, potato, prodigy
from tableqa.readers.responses.tool_export import GivenResponse, Task, Tool

TOOLS: Mapping[str, Tool] = {
    module.TOOL.name: module.TOOL for module in (label_studio, argilla, doccano, potato, prodigy)
}
"""Every tool by the name that commands use."""

__all__ = ["TOOLS", "GivenResponse", "Task", "Tool"]
