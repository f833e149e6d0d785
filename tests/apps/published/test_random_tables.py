"""Golden numbers name a seed, so the tables of a seed must stay what they are."""

from __future__ import annotations

import hashlib

from random_tables import Options, random_case, random_cases

EVERYTHING = Options(label_ignored="UNK", alone=0.2, apart=True, scores=True, shortest=0, least=3)


def test_seed_gives_the_tables_that_it_always_gave():
    digest = hashlib.sha256()
    for options in (Options(), EVERYTHING):
        for case in random_cases("x", 500, options):
            digest.update(repr(case).encode())
    assert digest.hexdigest() == "092e963fbf4b3624174cd76280140d26ca410e2e78fd83b702807476a45a5ee5"


def test_cases_do_not_depend_on_each_other():
    assert list(random_cases("x", 7, EVERYTHING, first=5))[1] == random_case("x", 6, EVERYTHING)


def test_what_is_hard_comes_up_often():
    cases = list(random_cases("x", 300, Options(label_ignored="UNK", shortest=0, alone=0.2)))
    rows = [row for case in cases for row in (*case.reference, *case.system)]
    assert all(0 <= row.onset <= row.offset <= case.length for case in cases for row in case.reference)
    assert sum(not case.reference or not case.system for case in cases) > 10
    assert sum(len({*case.reference}) < len(case.reference) for case in cases) > 50
    assert sum(row.onset == row.offset for row in rows) > 50
    assert {row.label for row in rows} == {"a", "b", "c", "UNK"}
    assert all(row.label != "UNK" for case in cases for row in case.system)
