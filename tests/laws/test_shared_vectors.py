"""What a page draws, Spark draws too: the cases of tests/browser/vectors.py on Spark's workers, with the same answers."""

from __future__ import annotations

import json

import pytest
from tests.browser.vectors import channels, drawn, keyed, schemes

import sfumato as sf

pytestmark = [
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
    pytest.mark.filterwarnings("ignore::sfumato.errors.DisclosureWarning"),
]


def test_workers_draw_what_python_and_a_page_draw(spark_session):
    groups = [group["cases"] for group in drawn(seed=16)]
    assert sum(map(len, groups)) >= 10_000
    made = list(channels())

    def work(batches):
        import numpy as np
        import pyarrow as pa

        def column(values):
            if isinstance(values[0], list):
                return np.array(values, dtype=np.uint8).view(f"S{len(values[0])}").reshape(-1)
            return np.array(values)

        for batch in batches:
            for number in batch.column(0).to_pylist():
                cases = groups[number]
                codes = [column(list(values)) for values in zip(*(case["codes"] for case in cases), strict=True)]
                words = np.array([[int(word, 16) for word in case["words"]] for case in cases], dtype=np.uint64)
                released = made[number].draw_columns(codes, lambda i, words=words: np.ascontiguousarray(words[:, i]))
                rows = list(zip(*(one.tolist() for one in released), strict=True))
                yield pa.RecordBatch.from_pydict({"number": [number], "released": [json.dumps(rows)]})

    frame = spark_session.createDataFrame([(number,) for number in range(len(groups))], ["number"])
    found = {
        row.number: json.loads(row.released)
        for row in frame.mapInArrow(work, "number bigint, released string").collect()
    }
    for number, cases in enumerate(groups):
        assert found[number] == [case["released"] for case in cases], str(made[number])


def test_keyed_answers_are_the_same_on_spark(spark_session):
    """Groups, random rounding, points, no answer, free text, noise and forms, for people with long and odd ids."""
    for scheme, study in zip(schemes(), keyed(seed=5, people=150), strict=True):
        key = b"sfumato key 2\n" + bytes.fromhex(study["secret"])
        table = study["table"]
        rows = list(zip((case["id"] for case in study["cases"]), *table.values(), strict=True))
        frame = spark_session.createDataFrame(rows, ["person", *table])
        release = sf.randomize(frame, scheme, key=key, id="person", clear_ids=True)
        found = {row["person"]: row for part in release.parts for row in part.arrow().to_pylist()}
        classes = _classes(scheme)
        for case in study["cases"]:
            for name, code in case["released"].items():
                each = classes.get(name, 1)
                assert found[case["id"]][name] // each == code // each, name


def _classes(scheme):
    """The columns of longitudinal answers, whose last draw is fresh, and how many classes their codes are counted in."""
    forms = scheme if isinstance(scheme, sf.Forms) else [scheme]
    groups = [group for form in forms for group in form.groups if group.channel.memoizes]
    return {group.columns[0]: group.channel.classes for group in groups}
