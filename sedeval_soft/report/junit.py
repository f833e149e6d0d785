"""Results as JUnit XML, which services for continuous integration show as tests.

Each system is a suite and each requirement a test. Without requirements each main score, or each that was
asked for, is a test that passes; one that is undefined counts as skipped. Elements stand in the order that
the schemas of Ant and Jenkins ask for. There is no time in it: the same input gives the same bytes.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from xml.etree import ElementTree as ET

from sedeval_soft.core.value import Scores
from sedeval_soft.errors import visible
from sedeval_soft.report.verdict import Verdict, told, with_ends


def junit(systems: Sequence[Scores], verdicts: Sequence[Verdict], wanted: Sequence[str] = ()) -> str:
    """Return a document with a suite for each system.

    verdicts: of all systems. wanted: names of scores that are told, each a test, beside the requirements.
    """
    root = ET.Element("testsuites", name="soft-sed-eval")
    for scores in systems:
        own = [verdict for verdict in verdicts if verdict.system == scores.system]
        root.append(_suite(scores, own, wanted))
    for count in ("tests", "failures", "errors", "skipped"):
        root.set(count, str(sum(int(suite.get(count, "0")) for suite in root)))
    root.set("time", "0")
    ET.indent(root)
    text: bytes = ET.tostring(root, encoding="utf-8", xml_declaration=True)
    return f"{text.decode('utf-8')}\n"


def _suite(scores: Scores, verdicts: Sequence[Verdict], wanted: Sequence[str]) -> ET.Element:
    # What is visible is a character of XML 1.0; controls, halves of pairs and the like become escapes.
    suite = ET.Element("testsuite", name=visible(scores.system))
    properties = ET.SubElement(suite, "properties")
    facts = {"version": scores.version, "signature": scores.signature}
    settings = {f"settings.{name}": _plain(value) for name, value in scores.settings.to_dict().items()}
    for name, value in (facts | settings).items():
        ET.SubElement(properties, "property", name=visible(name), value=visible(value))
    for verdict in dict.fromkeys(verdicts):
        _required(suite, scores, verdict)
    if wanted or not verdicts:
        _told(suite, scores, wanted)
    if scores.warnings:
        ET.SubElement(suite, "system-err").text = "\n".join(map(visible, scores.warnings))
    for count, of in (
        ("tests", "testcase"),
        ("failures", "testcase/failure"),
        ("skipped", "testcase/skipped"),
    ):
        suite.set(count, str(len(suite.findall(of))))
    suite.set("errors", "0")
    suite.set("time", "0")
    return suite


def _plain(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _case(suite: ET.Element, scores: Scores, name: str) -> ET.Element:
    return ET.SubElement(suite, "testcase", classname=visible(scores.system), name=visible(name), time="0")


def _required(suite: ET.Element, scores: Scores, verdict: Verdict) -> None:
    case = _case(suite, scores, verdict.requirement)
    said = visible(f"{verdict.requirement}: {verdict.found}")
    if verdict.met:
        ET.SubElement(case, "system-out").text = said
    else:
        ET.SubElement(case, "failure", message=said, type="requirement").text = said


def _told(suite: ET.Element, scores: Scores, wanted: Sequence[str]) -> None:
    for score in told(scores, wanted):
        case = _case(suite, scores, score.name)
        if score.value is None:
            ET.SubElement(case, "skipped", message="it is undefined")
        else:
            ET.SubElement(case, "system-out").text = visible(f"{score.name} = {with_ends(score)}")
