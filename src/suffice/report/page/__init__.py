"""The report of a fit: one HTML file that holds everything, for people who were not there.

`content` says what there is to show, `parts` lays out each kind of model, `graph` draws it, and `page` writes the file.
"""

from suffice.report.page.page import report_html, write_report

__all__ = ["report_html", "write_report"]
