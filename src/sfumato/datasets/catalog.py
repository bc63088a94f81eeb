"""What each data set is, who made it, under which licence it comes, and what was changed on the way here."""

from __future__ import annotations

from dataclasses import dataclass, replace

UCI = "UCI Machine Learning Repository"
CC_BY = "CC BY 4.0 (https://creativecommons.org/licenses/by/4.0/)"
TO_PARQUET = "Converted from a CSV copy to Parquet."


@dataclass(frozen=True)
class Description:
    """One data set: its shape, its source and the credit it asks for.

    ``missing`` counts the null cells; ``splits`` names the parts that ``load(name, split=...)`` gives alone.

    >>> from sfumato.datasets import describe
    >>> describe("lenses").rows, describe("lenses").target
    (24, 'lenses')
    """

    name: str
    title: str
    about: str
    rows: int
    columns: int
    target: str
    credit: str
    source: str
    licence: str
    changes: str
    missing: int = 0
    splits: tuple[str, ...] = ()
    bundled: bool = True

    @property
    def attribution(self) -> str:
        """The credit line to show wherever the data are shown."""
        return f"{self.credit} {self.source}. Licence: {self.licence}."

    def __str__(self) -> str:
        nulls = f", {self.missing} null cells" if self.missing else ""
        parts = f", splits: {', '.join(self.splits)}" if self.splits else ""
        shape = f"{self.rows} rows, {self.columns} columns{nulls}{parts}; target: {self.target}."
        return f"{self.title}: {self.about}\n{shape}\n{self.attribution}\nChanges: {self.changes}"


_WISCONSIN = Description(
    name="breast_wisconsin",
    title="Breast Cancer Wisconsin (Original)",
    about="nine cell features graded 1 to 10, benign or malignant; the id is a sample code and not unique.",
    rows=699,
    columns=11,
    target="class",
    missing=16,
    credit="Wolberg, W. (1990), University of Wisconsin Hospitals, Madison; donated by O. Mangasarian, 1992. "
    f"Breast Cancer Wisconsin (Original) [Dataset]. {UCI}.",
    source="https://doi.org/10.24432/C5HP4Z",
    licence=CC_BY,
    changes=f"{TO_PARQUET} Columns named in words, classes written out (2: benign, 4: malignant), "
    "missing bare_nuclei are nulls.",
)

_ALL = (
    Description(
        name="adult",
        title="Adult (Census Income)",
        about="persons of the 1994 US census and whether they earn more than 50K a year.",
        rows=48842,
        columns=15,
        target="income",
        missing=6465,
        splits=("train", "test"),
        credit=f"Becker, B. & Kohavi, R. (1996). Adult [Dataset]. {UCI}.",
        source="https://doi.org/10.24432/C5XW20",
        licence=CC_BY,
        changes=f"{TO_PARQUET} Spaces trimmed, the full stop after the labels of the test part removed, "
        '"?" turned into nulls.',
    ),
    Description(
        name="mushroom",
        title="Mushroom",
        about="hypothetical samples of 23 species of gilled mushrooms, edible (e) or poisonous (p).",
        rows=8124,
        columns=23,
        target="class",
        missing=2480,
        credit="Drawn from The Audubon Society Field Guide to North American Mushrooms (1981); donated by "
        f"J. Schlimmer, 1987. Mushroom [Dataset]. {UCI}.",
        source="https://doi.org/10.24432/C5959T",
        licence=CC_BY,
        changes=f"{TO_PARQUET} Letters restored from a one-hot copy, missing stalk-root are nulls.",
    ),
    _WISCONSIN,
    replace(
        _WISCONSIN,
        name="breast_wisconsin_complete",
        title="Breast Cancer Wisconsin (Original), complete cases",
        rows=683,
        missing=0,
        changes=f"{_WISCONSIN.changes[:-1]}; then the 16 rows with a null were left out.",
    ),
    Description(
        name="breast_ljubljana",
        title="Breast Cancer (Ljubljana)",
        about="patients of the Institute of Oncology and whether the cancer recurred.",
        rows=286,
        columns=10,
        target="recurrence",
        missing=9,
        credit="Zwitter, M. & Soklic, M. (1988), University Medical Centre, Institute of Oncology, Ljubljana"
        f"; donated by M. Tan and J. Schlimmer, 1988. Breast Cancer [Dataset]. {UCI}.",
        source="https://doi.org/10.24432/C51P4M",
        licence=CC_BY,
        changes=f'{TO_PARQUET} "?" turned into nulls (8 in node-caps, 1 in breast-quad).',
    ),
    Description(
        name="ionosphere",
        title="Ionosphere",
        about="34 radar measurements of the ionosphere, good (g) or bad (b) returns; a2 is constant.",
        rows=351,
        columns=35,
        target="class",
        credit="Sigillito, V., Wing, S., Hutton, L. & Baker, K. (1989), Johns Hopkins University. "
        f"Ionosphere [Dataset]. {UCI}.",
        source="https://doi.org/10.24432/C5W01B",
        licence=CC_BY,
        changes=f"{TO_PARQUET} Columns named a1 to a34 and class.",
    ),
    Description(
        name="iris",
        title="Iris",
        about="four lengths in centimetres of 50 flowers of each of three species.",
        rows=150,
        columns=5,
        target="species",
        credit=f"Fisher, R. A. (1936); donated by M. Marshall, 1988. Iris [Dataset]. {UCI}.",
        source="https://doi.org/10.24432/C56C76",
        licence=CC_BY,
        changes=f"{TO_PARQUET} The copy that scikit-learn carries: rows 35 and 38 follow Fisher's paper "
        "and differ from UCI's file.",
    ),
    Description(
        name="lenses",
        title="Lenses",
        about="a complete table of when to fit hard, soft or no contact lenses.",
        rows=24,
        columns=5,
        target="lenses",
        credit=f"Cendrowska, J. (1987); donated by B. Julien, 1990. Lenses [Dataset]. {UCI}.",
        source="https://doi.org/10.24432/C5K88Z",
        licence=CC_BY,
        changes=f"{TO_PARQUET} Numeric codes written out as words.",
    ),
    Description(
        name="pima",
        title="Pima Indians Diabetes",
        about="eight measurements of 768 women, and diabetes (y = 1) or not; zeros may stand for missing.",
        rows=768,
        columns=9,
        target="y",
        credit="National Institute of Diabetes and Digestive and Kidney Diseases; donated by V. Sigillito, 1990.",
        source="https://www.openml.org/d/37",
        licence="not verified (withdrawn from UCI), therefore not bundled",
        changes="None: read from your own copy or from OpenML.",
        bundled=False,
    ),
    Description(
        name="svmguide1",
        title="svmguide1",
        about="four features of an astroparticle experiment, two classes.",
        rows=7089,
        columns=5,
        target="y",
        splits=("train", "test"),
        credit="Hsu, C.-W., Chang, C.-C. & Lin, C.-J. (2003). A practical guide to support vector classification.",
        source="https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/",
        licence="none stated on the LIBSVM data page, therefore not bundled",
        changes="None: read from your own copy or from OpenML.",
        bundled=False,
    ),
)

CATALOG = {description.name: description for description in _ALL}


def attribution_page() -> str:
    """The text of ATTRIBUTION.md: the credit of every data set that is part of this package."""
    lines = [
        "# Attribution of the bundled data sets",
        "",
        f"The files in `data/` were taken from the {UCI} through public copies. They are licensed under",
        "[CC BY 4.0](https://creativecommons.org/licenses/by/4.0/), not under the licence of the code.",
        "Nobody named here endorses this package or what it does with the data.",
    ]
    for item in CATALOG.values():
        if item.bundled:
            lines += ["", f"## {item.title} (`{item.name}`)", "", f"- {item.credit}", f"- {item.source}"]
            lines += [f"- Licence: {item.licence}", f"- Changes: {item.changes}"]
    return "\n".join(lines) + "\n"
