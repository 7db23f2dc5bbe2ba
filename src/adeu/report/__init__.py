"""The content of run folders as one page for the browser, in a single file.

`files` reads folders that may come from strangers, `collect` and `traces` make data of them, `page` makes the page.
"""

from adeu.report.page import write_report

__all__ = ["write_report"]
