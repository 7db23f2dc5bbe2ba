"""`adeu report`: writes the report page."""

from __future__ import annotations

from adeu.cli.commands import Report
from adeu.report import write_report


def main(command: Report) -> int:
    print(write_report(command.runs, command.html))
    return 0
