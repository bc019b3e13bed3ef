"""Splitting work: a tool that hands items to workers side by side, and the report of what came of each.

A stage with ``fan_out`` has the tool by itself; any other agent gets it by ``fan_out_tool``. Workers are runs in
sessions of their own in the same journal; what they ask stands under the root, whoever drives them.
"""

from __future__ import annotations

from handrail.runs.fan_out.tool import FAN_OUT as FAN_OUT
from handrail.runs.fan_out.tool import fan_out_tool as fan_out_tool
