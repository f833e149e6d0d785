"""All pages of these tests embed one script, so it is compressed only once."""

from functools import cache

import pytest

from sedeval_soft.apps.page import report_page


@pytest.fixture(autouse=True, scope="session")
def compressed_once():
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(report_page, "packed_bytes", cache(report_page.packed_bytes))
        yield
