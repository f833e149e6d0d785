"""Soft F of segments equals the soft F that Kurniawan et al. 2025 define for text, by numbers of their code.

For a class, precision is sum min(y, p) / sum p, recall divides by sum y, and F is twice the sum over both
sums; micro F takes the sums over all labels. Their macro average is the mean of all classes, and NaN if one
of them is undefined. Ours is the mean of the classes with a reference (tests/measures).
"""

from golden_numbers import digest, read_numbers
from make_soft_f1 import SHAPE, random_values

from sedeval_soft import evaluate


def test_every_number_is_that_of_their_code():
    """All cases as files of one evaluation."""
    golden = read_numbers("soft_f1.json")
    keys = ["micro", *(f"{name}[{k}]" for name in ("precision", "recall", "f1") for k in range(SHAPE[1]))]
    names = ["segment.soft.f1.micro", *(f"segment.soft.{key}" for key in keys[1:])]
    scores = evaluate(*random_values(golden["seed"], golden["count"]), only="segment.soft")
    files = scores.per_file(*names).set_index("filename")[names].astype(float)
    files.index = files.index.astype(int)
    digests = [
        digest(dict(zip(keys, row, strict=True))) for row in files.sort_index().itertuples(index=False)
    ]
    assert digests == golden["digests"] and len(digests) == golden["count"] >= 10_000
    # The digests of the shown numbers are in the file as well.
    assert [digest(numbers) for numbers in golden["shown"]] == digests[: len(golden["shown"])]
