"""The report: a page of HTML that needs no other files and computes scores from embedded counts."""

from sedeval_soft.apps.page.report_page import Choices
from sedeval_soft.apps.page.sounds import check_audio
from sedeval_soft.apps.page.write import write_report

__all__ = ["Choices", "check_audio", "write_report"]
