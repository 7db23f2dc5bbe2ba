"""What run folders hold, as one page for the browser that needs nothing but itself.

`files` reads folders that nobody vouches for, `collect` and `traces` make data of them, `page` makes the page.
"""

from adeu.report.page import write_report

__all__ = ["write_report"]
