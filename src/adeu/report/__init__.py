"""Writes the results in run folders as a single HTML page.

`report_files` reads folders from untrusted sources, `collect`, `partial` and `traces` convert them to data, `page`
writes the page.
"""

from adeu.report.page import write_report

__all__ = ["write_report"]
