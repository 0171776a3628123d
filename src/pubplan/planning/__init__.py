"""The shape all families share: requests, problems, methods, drafts, certificates, verdicts, plans on disk."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pubplan.lazy import loader

if TYPE_CHECKING:
    from pubplan.planning.bind import solve_function as solve_function
    from pubplan.planning.bind import verify_function as verify_function
    from pubplan.planning.covers import MAX_ENUMERATED as MAX_ENUMERATED
    from pubplan.planning.covers import cheapest_cover as cheapest_cover
    from pubplan.planning.diff import Diff as Diff
    from pubplan.planning.diff import TableDiff as TableDiff
    from pubplan.planning.diff import diff_plans as diff_plans
    from pubplan.planning.export import EXPORT_FORMATS as EXPORT_FORMATS
    from pubplan.planning.export import Export as Export
    from pubplan.planning.export import export_format as export_format
    from pubplan.planning.export import export_of_decisions as export_of_decisions
    from pubplan.planning.export import whole_file as whole_file
    from pubplan.planning.export import write_export as write_export
    from pubplan.planning.parameters import NoParameters as NoParameters
    from pubplan.planning.parameters import check_int as check_int
    from pubplan.planning.parameters import decimal_text as decimal_text
    from pubplan.planning.parameters import make_parameters as make_parameters
    from pubplan.planning.parameters import read_parameters as read_parameters
    from pubplan.planning.parameters import read_table as read_table
    from pubplan.planning.plan import PLAN as PLAN
    from pubplan.planning.plan import Plan as Plan
    from pubplan.planning.plan import read_plan as read_plan
    from pubplan.planning.recompute import sums_by_row as sums_by_row
    from pubplan.planning.recompute import wrong_columns as wrong_columns
    from pubplan.planning.recompute import wrong_values as wrong_values
    from pubplan.planning.registry import BlockSchema as BlockSchema
    from pubplan.planning.registry import Bound as Bound
    from pubplan.planning.registry import Family as Family
    from pubplan.planning.registry import Method as Method
    from pubplan.planning.replanning import parameters_of as parameters_of
    from pubplan.planning.replanning import replan as replan
    from pubplan.planning.request import DURATION as DURATION
    from pubplan.planning.request import FLAG as FLAG
    from pubplan.planning.request import IDS as IDS
    from pubplan.planning.request import NUMBER as NUMBER
    from pubplan.planning.request import ONE_NUMBER as ONE_NUMBER
    from pubplan.planning.request import ONE_WHOLE as ONE_WHOLE
    from pubplan.planning.request import REAL as REAL
    from pubplan.planning.request import TEXT as TEXT
    from pubplan.planning.request import TEXT_OR_NUMBER as TEXT_OR_NUMBER
    from pubplan.planning.request import THRESHOLD as THRESHOLD
    from pubplan.planning.request import WHOLE as WHOLE
    from pubplan.planning.request import Explainable as Explainable
    from pubplan.planning.request import Option as Option
    from pubplan.planning.request import Reader as Reader
    from pubplan.planning.request import Request as Request
    from pubplan.planning.request import option as option
    from pubplan.planning.request import several as several
    from pubplan.planning.seconds import planning_seconds as planning_seconds
    from pubplan.planning.seconds import stage_seconds as stage_seconds
    from pubplan.planning.solve import Result as Result
    from pubplan.planning.solve import solve_problem as solve_problem
    from pubplan.planning.values import BlockTable as BlockTable
    from pubplan.planning.values import Certificate as Certificate
    from pubplan.planning.values import Draft as Draft
    from pubplan.planning.values import Exact as Exact
    from pubplan.planning.values import Explanation as Explanation
    from pubplan.planning.values import Problem as Problem
    from pubplan.planning.values import Sense as Sense
    from pubplan.planning.values import Verdict as Verdict
    from pubplan.planning.values import gap as gap
    from pubplan.planning.values import tightest as tightest
    from pubplan.planning.verify import check_answers as check_answers
    from pubplan.planning.verify import check_fresh as check_fresh
    from pubplan.planning.verify import verify_plan as verify_plan
    from pubplan.planning.whatif import case_lines as case_lines
    from pubplan.planning.whatif import check_values as check_values
    from pubplan.planning.whatif import try_questions as try_questions

_NAMES = {
    "whatif": ("case_lines", "check_values", "try_questions"),
    "bind": ("solve_function", "verify_function"),
    "covers": (
        "MAX_ENUMERATED",
        "cheapest_cover",
    ),
    "diff": (
        "Diff",
        "TableDiff",
        "diff_plans",
    ),
    "export": (
        "EXPORT_FORMATS",
        "Export",
        "export_format",
        "export_of_decisions",
        "whole_file",
        "write_export",
    ),
    "parameters": (
        "NoParameters",
        "check_int",
        "decimal_text",
        "make_parameters",
        "read_parameters",
        "read_table",
    ),
    "plan": (
        "PLAN",
        "Plan",
        "read_plan",
    ),
    "recompute": (
        "sums_by_row",
        "wrong_columns",
        "wrong_values",
    ),
    "registry": (
        "BlockSchema",
        "Bound",
        "Family",
        "Method",
    ),
    "replanning": (
        "parameters_of",
        "replan",
    ),
    "request": (
        "DURATION",
        "FLAG",
        "IDS",
        "NUMBER",
        "ONE_NUMBER",
        "ONE_WHOLE",
        "REAL",
        "TEXT",
        "TEXT_OR_NUMBER",
        "THRESHOLD",
        "WHOLE",
        "Explainable",
        "Option",
        "Reader",
        "Request",
        "option",
        "several",
    ),
    "seconds": (
        "planning_seconds",
        "stage_seconds",
    ),
    "solve": (
        "Result",
        "solve_problem",
    ),
    "values": (
        "BlockTable",
        "Certificate",
        "Draft",
        "Exact",
        "Explanation",
        "Problem",
        "Sense",
        "Verdict",
        "gap",
        "tightest",
    ),
    "verify": (
        "check_answers",
        "check_fresh",
        "verify_plan",
    ),
}
if not TYPE_CHECKING:  # or mypy would believe that every name exists
    __getattr__ = loader(__name__, _NAMES)

__all__ = [
    "DURATION",
    "EXPORT_FORMATS",
    "FLAG",
    "IDS",
    "MAX_ENUMERATED",
    "NUMBER",
    "ONE_NUMBER",
    "ONE_WHOLE",
    "PLAN",
    "REAL",
    "TEXT",
    "TEXT_OR_NUMBER",
    "THRESHOLD",
    "WHOLE",
    "BlockSchema",
    "BlockTable",
    "Bound",
    "Certificate",
    "Diff",
    "Draft",
    "Exact",
    "Explainable",
    "Explanation",
    "Export",
    "Family",
    "Method",
    "NoParameters",
    "Option",
    "Plan",
    "Problem",
    "Reader",
    "Request",
    "Result",
    "Sense",
    "TableDiff",
    "Verdict",
    "case_lines",
    "cheapest_cover",
    "check_answers",
    "check_fresh",
    "check_int",
    "check_values",
    "decimal_text",
    "diff_plans",
    "export_format",
    "export_of_decisions",
    "gap",
    "make_parameters",
    "option",
    "parameters_of",
    "planning_seconds",
    "read_parameters",
    "read_plan",
    "read_table",
    "replan",
    "several",
    "solve_function",
    "solve_problem",
    "stage_seconds",
    "sums_by_row",
    "tightest",
    "try_questions",
    "verify_function",
    "verify_plan",
    "whole_file",
    "write_export",
    "wrong_columns",
    "wrong_values",
]
