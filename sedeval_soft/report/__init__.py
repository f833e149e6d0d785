"""Values in, text out. Presentation never computes."""

from typing import TYPE_CHECKING

from sedeval_soft.faces import face

if TYPE_CHECKING:
    from sedeval_soft.fields import FORMATS
    from sedeval_soft.report.asked import render
    from sedeval_soft.report.board import board_page, side_by_side
    from sedeval_soft.report.delimited import delimited_columns, lines, write_curves
    from sedeval_soft.report.escape import json_text
    from sedeval_soft.report.explanation import explanations, list_scores
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
    from sedeval_soft.report.forms import json_document, notebook
    from sedeval_soft.report.html import fill, plotly_name, plotly_script, script_hash
    from sedeval_soft.report.legend import measure_label, missed_classes
    from sedeval_soft.report.outcomes import OUTCOMES, Outcome
    from sedeval_soft.report.page import page_of
    from sedeval_soft.report.requirements import (
        Likely,
        Verdict,
        all_of,
        check_named,
        parse_name,
        parse_requirement,
        verdicts,
    )
    from sedeval_soft.report.screen import name_of, signature_lines, title_lines
    from sedeval_soft.report.services import codabench, commands, job_summary, junit
    from sedeval_soft.report.shown import (
        Family,
        has_thresholds,
        in_order,
        ranked_first,
        shown_families,
        shown_of_board,
        with_averages,
    )
    from sedeval_soft.report.shown import shown as shown_scores
    from sedeval_soft.report.table import Page, Table, exact, markdown, plain_table
    from sedeval_soft.report.table import number as decimal
    from sedeval_soft.report.validation import render_validation
    from sedeval_soft.report.write import (
        STANDARD_OUTPUT,
        OutputError,
        add_to,
        locked,
        refuse_replacing,
        write_atomic,
        write_folder,
    )

__getattr__ = face(__name__)
