"""Values in, text out. Presentation never computes."""

from typing import TYPE_CHECKING

from sedeval_soft.faces import face
from sedeval_soft.report.render import FORMATS, render

if TYPE_CHECKING:
    from sedeval_soft.report.board import board_page, side_by_side
    from sedeval_soft.report.delimited import delimited_columns, lines
    from sedeval_soft.report.escape import json_text
    from sedeval_soft.report.fitted import (
        UNDEFINED,
        Column,
        cells,
        folded,
        interval,
        lines_and_rest,
        lines_of,
        number,
        shortened,
        signed,
        styled,
        wrapped,
    )
    from sedeval_soft.report.heading import name_of, signature_lines, title_lines
    from sedeval_soft.report.html import fill, plotly_name, plotly_script, script_hash
    from sedeval_soft.report.legend import measure_label, missed_classes
    from sedeval_soft.report.outcomes import OUTCOMES, Outcome
    from sedeval_soft.report.page import page_of
    from sedeval_soft.report.render import json_document
    from sedeval_soft.report.shown import Family, has_thresholds, ranked_first, shown_families, shown_of_board
    from sedeval_soft.report.shown import shown as shown_scores
    from sedeval_soft.report.table import Page, Table, markdown, plain_table
    from sedeval_soft.report.table import number as decimal
    from sedeval_soft.report.write import OutputError, locked, write_atomic, write_folder

__getattr__ = face(__name__)
