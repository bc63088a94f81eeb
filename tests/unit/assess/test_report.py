"""The report: the same facts as page, text and JSON, and the warnings that matter."""

from __future__ import annotations

import json
import math
import re
from html.parser import HTMLParser

import numpy as np
import pytest

import sfumato as sf
from gallery import rest_clear
from sfumato import channels as c
from sfumato.assess import privacy
from sfumato.assess.report import report
from sfumato.assess.report.sentences import belief, percent
from sfumato.design import design
from sfumato.errors import DisclosureWarning, SfumatoError
from sfumato.owner.ledger import Ledger

SCHEMA = sf.Schema(
    {
        "sex": sf.Categorical(("F", "M")),
        "age": sf.Numeric(0, 100, bins=10),
        "ill": sf.Categorical(("no", "flu", "<b>other</b>")),
        "town": sf.Categorical(("A", "B")),
    }
)
SCHEME = rest_clear(SCHEMA, {"sex": c.binary(0.25, 0.25), "age": c.windows(10, 3), "ill": c.symmetric(3, gamma=20)})


@pytest.fixture(scope="module")
def whole():
    return report(SCHEME, n=5000)


@pytest.fixture(scope="module")
def page(whole):
    return whole.html()


def titles(found) -> list[str]:
    return [caution.title for caution in found.warnings]


class Balanced(HTMLParser):
    """Fails on tags that do not close in order."""

    EMPTY = frozenset({"meta", "br", "img", "path", "use", "rect", "circle", "line", "image"})

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []

    def handle_starttag(self, tag, attributes):
        self.ids += [value for name, value in attributes if name == "id"]
        if tag not in self.EMPTY:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.ids += [value for name, value in attributes if name == "id"]

    def handle_endtag(self, tag):
        if tag not in self.EMPTY:
            assert self.open.pop() == tag


class TestPage:
    def test_letters_of_charts_can_be_read_on_a_phone(self, page):
        """A chart is 238 points wide, and a phone shows 358 pixels: 8 points are 12 pixels. Legends had 7.5."""
        sizes = [float(size) for size in re.findall(r"font(?:-size)?: (?:\w+ )?([\d.]+)px", page)]
        assert sizes and min(size for size in sizes if size != 6.3) >= 8  # 6.3: the exponents of powers of 10

    def test_stands_alone(self, page):
        assert "<script" not in page
        for reference in re.findall(r'(?:src|href)="([^"]+)"', page):
            assert reference.startswith(("#", "data:"))
        assert "@import" not in page
        for target in re.findall(r"url\(([^)]+)\)", page):
            assert target.startswith("#")

    def test_is_well_formed_and_ids_are_unique(self, page):
        parser = Balanced()
        parser.feed(page)
        assert parser.open == []
        assert len(set(parser.ids)) == len(parser.ids)
        used = set(re.findall(r'href="#([^"]+)"', page)) | set(re.findall(r"url\(#([^)]+)\)", page))
        assert used <= set(parser.ids)

    def test_values_of_the_schema_cannot_smuggle_markup(self, page):
        assert "<b>other" not in page

    def test_says_it_in_words(self, page):
        text = re.sub(r"<[^>]+>", " ", page).replace("\u00a0", " ")
        assert "Three attributes are randomized before leaving the owner." in text
        assert "can become at most 25 % sure of it" in text
        assert "“town” is passed on in the clear." in text

    def test_has_a_picture_for_everything(self, page):
        # for each of three attributes the chances, the beliefs, the game and the precision; and the guesses as bars
        assert page.count("<svg") == 3 * 4
        assert page.count('<div class="bars">') == 1

    def test_of_many_attributes_all_but_the_first_sentence_is_folded(self, page):
        assert page.count("<summary>All about ") == len(SCHEMA)
        start = page.index("<summary>All about sex")
        assert "can become at most" in page[start : page.index("</details>", start)]
        few = sf.Schema({name: SCHEMA[name] for name in ("sex", "ill")})
        assert "All about" not in report(sf.Scheme.for_gamma(few, gamma=4), n=500).html()

    def test_has_contents_that_name_every_attribute(self, page):
        nav = page[page.index("<nav") : page.index("</nav>")]
        for name in ("At a glance", "What to watch", "The whole record", *SCHEMA, "What the numbers mean"):
            assert re.search(rf'<a href="#s\d+">{name}</a>', nav)

    def test_charts_follow_the_scheme_of_the_reader(self, page):
        from sfumato.pages import chart

        drawn = "".join(re.findall(r"<svg.*?</svg>", page, flags=re.S))
        assert "var(--accent)" in drawn and "var(--ink)" in drawn and "var(--sans)" in drawn
        for colour in (chart.INK, chart.SOFT, chart.ACCENT, chart.WARM):
            assert colour not in drawn

    def test_is_written_whole_and_is_the_same_every_time(self, whole, page, tmp_path):
        whole.html(tmp_path / "report.html")
        assert (tmp_path / "report.html").read_text(encoding="utf-8") == page
        with pytest.raises(SfumatoError, match="does not exist"):
            whole.html(tmp_path / "no" / "report.html")


class TestNumbers:
    def test_json_holds_the_measures(self, whole):
        document = json.loads(whole.json())
        assert document["n"] == 5000
        assert document["whole_record"]["gamma"] == "inf"
        sex = document["attributes"][0]
        assert sex["gamma"] == pytest.approx(3)
        assert sex["guess"] == pytest.approx(0.75)
        assert sex["conditional_entropy"] == pytest.approx(0.811278, abs=1e-6)
        assert sex["break_even"] == pytest.approx(3)
        assert sex["beliefs"]["0.1"] == pytest.approx(0.25)
        age = document["attributes"][1]
        assert age["target"] == "cdf"
        assert age["effective_sample_size"] == pytest.approx(privacy.effective_sample_size(SCHEME["age"], target="cdf"))
        assert document["attributes"][3]["gamma"] == "inf"

    def test_text_is_the_same_story(self, whole):
        text = whole.text()
        assert "sex: protection strong" in text
        assert "ill: protection weak" in text
        assert "town is not randomized" in text
        assert max(map(len, text.splitlines())) <= 110

    def test_evidence_gives_the_shares(self):
        rng = np.random.default_rng(1)
        table = {"sex": np.where(rng.random(20_000) < 0.8, "F", "M")}
        scheme = SCHEME.select(["sex"])
        found = report(scheme, sf.evidence(sf.randomize(table, scheme, rng=rng)))
        unit = found.facts.units[0]
        assert found.facts.n == 20_000
        assert unit.prior_from == "estimated"
        assert unit.measures["guess_blind"] == pytest.approx(0.8, abs=0.03)

    def test_a_given_prior(self):
        found = report(SCHEME, n=100, prior={"ill": [0.9, 0.05, 0.05]})
        ill = found.facts.units[2]
        assert ill.prior_from == "given"
        assert ill.measures["guess_blind"] == pytest.approx(0.9)

    def test_grades(self):
        from sfumato.assess.report.sentences import grade

        assert [grade(g) for g in (1.5, 3.0, 3.1, 10, 99, 101, math.inf)] == [
            "strong", "strong", "moderate", "moderate", "weak", "very weak", "none",
        ]  # fmt: skip


class TestWholeRecord:
    """Badges of single answers must not be taken for one of the person."""

    def test_ten_strong_answers_make_a_record_that_is_hardly_protected(self):
        schema = sf.Schema({f"q{i}": sf.Categorical(tuple("abc")) for i in range(10)})
        page = report(sf.Scheme.for_gamma(schema, 3), n=5000).html()
        verdict = page[page.index('<div class="verdict">') : page.index("<nav")]
        assert "all answers of one person together are hardly protected" in verdict
        assert re.search(
            r'badge bad">very weak</span><span>All answers of one person together: γ&nbsp;59,049<', verdict
        )
        assert "Among 4,999 others, mixed and without ids:" in verdict
        assert "Over a year of weekly rounds under a key: γ&nbsp;59,049 while the values stay" in verdict
        assert "Over a year of weekly rounds without a key: γ&nbsp;" in verdict
        row = re.search(r'<tr class="total">.*?</tr>', page).group()
        assert "very weak" in row and "59,049" in row

    @pytest.mark.parametrize(
        "channels, said, shown",
        [
            ({"a": c.symmetric(3, gamma=3), "b": c.identity(2)}, "not protected", "none"),
            ({"a": c.symmetric(3, gamma=1.5), "b": c.symmetric(2, gamma=2)}, "strongly protected", "strong"),
            ({"a": c.symmetric(3, gamma=3), "b": c.symmetric(2, gamma=3)}, "moderately protected", "moderate"),
        ],
    )
    def test_the_badge_agrees_with_the_sentence(self, channels, said, shown):
        schema = sf.Schema({"a": sf.Categorical(tuple("xyz")), "b": sf.Categorical(("n", "y"))})
        page = report(sf.Scheme(schema, channels)).html()
        verdict = page[page.index('<div class="verdict">') : page.index("<h2")]
        assert f"all answers of one person together are {said}" in verdict
        assert re.search(rf">{shown}</span><span>All answers of one person together", verdict)

    def test_one_answer_needs_no_second_badge(self):
        found = report(sf.Scheme.for_gamma(sf.Schema({"a": sf.Categorical(tuple("xyz"))}), 3))
        assert "of one person together" not in found.html()
        assert "The one answer of each person is strongly protected." in found.text()


class TestWarnings:
    def test_identity_and_missing_shares(self, whole):
        assert "town is not randomized" in titles(whole)
        assert "No shares were given" in titles(whole)
        some = report(SCHEME, n=400, prior={"sex": [0.4, 0.6]})
        assert any(
            title.startswith("Nothing is known of the shares of") and "sex" not in title for title in titles(some)
        )

    def test_blocks(self):
        schema = sf.Schema({"r": sf.Categorical(tuple("abcd"))})
        found = report(sf.Scheme(schema, {"r": c.blocks([c.symmetric(2, 0.3)] * 2)}), n=100)
        assert "r: groups are given away" in titles(found)
        assert "gamma is infinite between groups" in found.text().replace("\n  ", " ")

    def test_answers_that_exclude_values(self):
        found = report(sf.Scheme(SCHEMA.select(["sex"]), {"sex": c.matrix([[1, 0], [0.99, 0.01]])}), n=100)
        assert "sex: some answers exclude values" in titles(found)
        assert "however much a wrong guess would cost" in found.text().replace("\n  ", " ")

    def test_hardly_randomized_and_small_n(self):
        found = report(sf.Scheme(SCHEMA.select(["sex"]), {"sex": c.symmetric(2, gamma=500)}), n=50)
        assert "sex is hardly randomized" in titles(found)
        assert "Few records for sex" in titles(found)
        assert "Few records for sex" not in titles(report(SCHEME.select(["sex"]), n=50_000))

    def test_what_is_written_as_5_points_is_not_short_of_5_points(self):
        """It said "carry ± 5 points. For ± 5 points about 5,655 records are needed"."""
        only = SCHEME.select(["sex"])
        (few,) = (one.text for one in report(only, n=100).warnings if one.title == "Few records for sex")
        needed = int(few.partition("points about ")[2].partition(" records")[0].replace(",", ""))
        assert "Few records for sex" not in titles(report(only, n=round(0.995 * needed)))
        (few,) = (
            one.text for one in report(only, n=round(0.97 * needed)).warnings if one.title == "Few records for sex"
        )
        assert "carry ± 5.1 points. For ± 5 points" in few

    def test_many_attributes_with_few_records_are_one_warning(self):
        schema = sf.Schema({name: sf.Numeric(0, 10, bins=10) for name in "abcdef"})
        found = report(sf.Scheme.for_gamma(schema, 3), n=500)
        few = [caution for caution in found.warnings if caution.title.startswith("Few records")]
        assert [caution.title for caution in few] == ["Few records for 6 attributes"]
        alone = report(sf.Scheme.for_gamma(schema.select(["a"]), 3), n=500)
        needed = re.search(r"about ([\d,]+) records are needed", " ".join(alone.text().split()))
        assert needed is not None
        assert needed[1] in few[0].text

    def test_a_mean_has_the_half_width_of_its_design_and_may_have_few_records_too(self):
        """It said "to within 6.9 % of the range" where the design had said 8.57, and nothing of few records."""
        schema = sf.Schema({"pay": sf.Numeric(0, 50, points=11)})
        for n, few in ((220, True), (60, True), (2000, False)):
            chosen = design(schema, n, gamma=9)
            found = report(chosen.scheme, n=n)
            reach = chosen.choices[0].pick.half_width
            assert f"estimated to within {percent(reach)} of the range" in " ".join(found.text().split())
            told = [one.text for one in found.warnings if one.title == "Few records for pay"]
            assert bool(told) == few == (reach > 0.05)
            if told:
                assert f"carry ± {percent(reach)} of the range" in told[0]
        wide, known = (report(chosen.scheme, n=220, prior=p) for p in (None, {"pay": [0.5] + [0.05] * 10}))
        least, most = (json.loads(one.json())["attributes"][0]["half_width_mean"] for one in (known, wide))
        assert least < 0.97 * most

    def test_another_channel_at_the_same_gamma_is_named_before_what_costs_more(self):
        schema = sf.Schema({name: sf.Numeric(0, 64, bins=64) for name in "abcd"})
        plain = sf.Scheme(schema, {name: c.symmetric(64, gamma=3) for name in "abcd"})
        chosen = design(schema.select(["a"]), 2000, gamma=3)
        reach = chosen.choices[0].pick.half_width
        (few,) = (one for one in report(plain.select(["a"]), n=2000).warnings if one.title == "Few records for a")
        assert f"At the same gamma windows would carry ± {100 * reach:.0f} points: sfumato design chooses" in few.text
        assert f"about {math.ceil(2000 * (reach / 0.05) ** 2):,} records are then needed" in few.text
        assert "At the same gamma other channels tell more of “a”" in " ".join(report(plain, n=2000).text().split())
        assert "At the same gamma" not in report(chosen.scheme, n=2000).text()

    def test_continuous_noise_and_correlated_columns(self):
        one = report(SCHEME, n=100, noise={"income": c.gaussian(5)})
        assert "Additive noise gives no guarantee" in titles(one)
        assert "Correlated columns under additive noise" not in titles(one)
        two = report(SCHEME, n=100, noise={"income": c.gaussian(5), "wealth": c.uniform(5)})
        assert "Correlated columns under additive noise" in titles(two)
        with pytest.raises(SfumatoError, match=r"noise\['income'\] must be additive noise, got int"):
            report(SCHEME, noise={"income": 5})

    def test_a_scheme_with_noise_of_its_own(self):
        schema = sf.Schema({"sex": SCHEMA["sex"], "income": sf.Numeric(0, 100)})
        with pytest.warns(DisclosureWarning):
            scheme = sf.Scheme(schema, {"sex": c.binary(0.25, 0.25), "income": c.uniform(10)})
        found = report(scheme, n=1000)
        assert "Additive noise gives no guarantee" in titles(found)
        text = found.text().replace("\n  ", " ")
        assert "“income” is released with additive noise, without guarantee." in text
        assert "a stretch of width 19, 19 % of the whole range" in text
        assert json.loads(found.json())["additive_noise"]["income"]["privacy_loss"] == pytest.approx(
            privacy.privacy_loss(c.uniform(10), c.tabulated([0, 100], [1.0]))
        )
        assert re.search(r"<h3[^>]*>income<span", found.html())
        assert privacy.gamma(scheme, "income") == math.inf
        assert privacy.gamma(scheme, "sex") == pytest.approx(3)
        with pytest.raises(SfumatoError, match="'income' has additive noise and no finite channel"):
            privacy.map_success(scheme)

    def test_repeated_release(self, tmp_path):
        ledger = Ledger(tmp_path / "ledger.sqlite", new=True)
        scheme = SCHEME.select(["sex"])
        with ledger.entry(scheme):
            pass
        found = report(scheme, n=100_000, ledger=ledger)
        assert "sex was released before" in titles(found)
        text = found.text().replace("\n  ", " ")
        assert "can raise it to 9" in text
        assert "costs nothing" in text
        assert titles(report(scheme, n=100_000, ledger=tmp_path / "ledger.sqlite")) == titles(found)

    def test_the_whole_record(self):
        schema = sf.Schema({name: sf.Categorical(("n", "y")) for name in "abcdef"})
        found = report(sf.Scheme.for_gamma(schema, 3), n=10_000)
        assert "The whole record is less protected than its parts" in titles(found)
        assert [w.serious for w in found.warnings if w.title.startswith("The whole record")] == [True]
        assert "As a whole a record is hardly protected" in found.text().replace("\n", " ")
        few = report(sf.Scheme.for_gamma(schema.select(["a", "b"]), 3), n=10_000)
        assert "hardly protected" not in few.text().replace("\n", " ")

    def test_too_few_records_to_say_anything(self):
        text = report(SCHEME.select(["sex"]), n=1).text().replace("\n", " ").replace("  ", " ")
        assert "With 1 record nothing can be said" in text
        assert "1 records" not in text
        assert "± 1" not in text.replace("± 5", "")

    def test_pictures_of_the_first_attributes_only(self):
        schema = sf.Schema({f"a{i}": sf.Categorical(("n", "y")) for i in range(14)})
        text = report(sf.Scheme.for_gamma(schema, 3), n=10_000).html()
        assert text.count('class="panels"') == 12
        assert "Pictures are drawn for the first 12 attributes only" in text

    def test_unknown_n(self):
        assert "The number of records is not known" in titles(report(SCHEME))

    def test_shares_that_cannot_be_estimated(self):
        blind = sf.Scheme(SCHEMA.select(["sex"]), {"sex": c.matrix([[0.5, 0.5], [0.5, 0.5]])})
        found = report(blind, n=100)
        assert "sex cannot be estimated" in titles(found)
        assert found.html()


class TestUnusualSchemes:
    def test_many_items(self):
        names = tuple(f"item{i}" for i in range(40))
        schema = sf.Schema({name: sf.Categorical(("n", "y")) for name in names})
        found = report(sf.Scheme(schema, {names: c.mask(0.2)}), n=10_000)
        assert [unit.alike for unit in found.facts.units] == [40]
        assert found.facts.units[0].title == "item0 and 39 alike"
        assert found.html()

    def test_groups_subsets_and_single_values(self):
        schema = sf.Schema(
            {
                "a": sf.Categorical(("n", "y")),
                "b": sf.Categorical(("n", "y")),
                "k": sf.Categorical(tuple("abcdefghijklmnopqrst")),
                "one": sf.Categorical(("only",)),
                "maybe": sf.Categorical(("n", "y"), nullable=True),
            }
        )
        channels = {("a", "b"): c.symmetric((2, 2), 0.3), "k": c.subset(20, 3), "maybe": c.symmetric(3, gamma=3)}
        found = report(rest_clear(schema, channels), n=1000)
        assert [unit.title for unit in found.facts.units] == ["a + b", "k", "one", "maybe"]
        assert "treated as one" in found.text()
        assert "Not a value but a set of about" in found.text()
        assert found.html()

    def test_select_a_size_and_valid_combinations(self):
        schema = sf.Schema(
            {name: sf.Categorical(("n", "y")) for name in "abc"} | {"sex": SCHEMA["sex"], "p": SCHEMA["town"]}
        )
        channels = {
            ("a", "b", "c"): c.select_a_size([0.2, 0.3, 0.3, 0.2], 0.3),
            ("sex", "p"): c.symmetric(valid=[("F", "A"), ("F", "B"), ("M", "B")], p=0.3),
        }
        found = report(sf.Scheme(schema, channels), n=1000)
        assert found.html()
        assert json.loads(found.json())["attributes"][1]["effective_sample_size"] > 0.1


class TestBadInput:
    @pytest.mark.parametrize(
        ("wrong", "says"),
        [
            ({"n": 0}, "n must be a whole number"),
            ({"prior": {"ill": [0.5, 0.5]}}, "ill: prior must have 3 entries"),
            ({"prior": {"sex": [0.5, 0.6]}}, "sex: prior must sum to 1, got 1.1"),
            ({"prior": {"zzz": [1.0]}}, "prior names 'zzz', which is not an attribute"),
        ],
    )
    def test_one_clear_line(self, wrong, says):
        with pytest.raises(SfumatoError, match=says) as caught:
            report(SCHEME, **{"n": 100, **wrong})
        assert "\n" not in str(caught.value)

    def test_not_a_scheme(self):
        with pytest.raises(SfumatoError, match="report takes a scheme or forms, got int"):
            report(3)


def test_the_size_of_sets_is_told_where_sets_differ_in_size():
    channel = sf.channels.subset(38, 9, "projective", 4)
    assert channel.membership.sum(axis=0)[0] == 0  # a plane that none of the 38 values lies on
    scheme = sf.Scheme(sf.Schema({"ward": sf.Categorical(tuple(map(str, range(38))))}), {"ward": channel})
    assert "a set of about 9 of the 38 values" in sf.report(scheme).text()
    assert str(channel) == "subset(38, gamma=9, projective of order 4)"  # 4 is no size of a set


def test_shares_of_pairs_that_do_not_sum_to_1_say_so():
    table = [[0.2, 0.1, 0.1], [0.2, 0.1, 0.1]]
    with pytest.raises(SfumatoError, match=r"prior of 'sex\+ill' must sum to 1, got 0.8"):
        report(SCHEME, prior={"sex+ill": table})
    with pytest.raises(SfumatoError, match=r"must be a table of numbers, 2 rows for the values of 'sex' by 3 for"):
        report(SCHEME, prior={"sex+ill": [[0.5], [0.5]]})


def test_a_matrix_that_changes_nothing_is_called_so():
    schema = sf.Schema({"sex": sf.Categorical(("F", "M"))})
    found = report(sf.Scheme(schema, {"sex": c.matrix([[1, 0], [0, 1]])}), n=100)
    assert "The true value is passed on unchanged." in found.text()
    assert found.warnings[0].title == "sex is not randomized"


def test_the_picture_of_precision_agrees_with_the_sentence(monkeypatch):
    """Of an attribute that may be left out, both speak of those who answer."""
    from sfumato.assess.report import plot

    schema = sf.Schema({"grade": sf.Ordinal(("a", "b", "c", "d"), nullable=True)})
    found = report(sf.Scheme.for_gamma(schema, 3), n=2000)
    (unit,) = found.facts.units
    drawn = []
    monkeypatch.setattr(plot, "svg", lambda draw, *_: drawn.append(draw))
    plot.precision(unit)
    axes = _Axes()
    drawn[0](axes)
    assert axes.points[-1] == pytest.approx((2000, 100 * unit.measures["half_width_cdf"]))


@pytest.mark.parametrize(
    "gamma, n, marks", [(2.9, 2000, {"100", "10,000"}), (40, 3 * 10**8, {"10 million", "1 billion"})]
)
def test_the_numbers_of_the_pictures_can_be_read_and_bounds_are_rounded_up(gamma, n, marks):
    """Exponents had 6 pixels, and 24.4 at most was called 24 beside a text that said 25 %."""
    from sfumato.assess.report import plot

    (unit,) = report(sf.Scheme.for_gamma(sf.Schema({"sex": sf.Categorical(("F", "M"))}), gamma), n=n).facts.units
    said = re.findall(r">([^<>]+)</text>", plot.precision(unit))
    assert marks <= set(said)
    sizes = re.findall(r"font-size: ([\d.]+)px", plot.precision(unit) + plot.beliefs(unit))
    assert sizes and min(map(float, sizes)) >= 8
    shown = belief(privacy.rho2(unit.measures["gamma"], 0.1)).removesuffix(" %")
    assert f">10 → {shown}<" in plot.beliefs(unit)


def test_a_form_tells_as_much_as_those_who_answer_it(monkeypatch):
    """All of 6,000 records stood behind an accuracy that the thousand have who get the form."""
    from sfumato.assess.report import plot

    forms = sf.Forms.for_gamma(sf.Schema({f"q{i}": sf.Categorical(("a", "b", "c")) for i in range(4)}), 9)
    found = report(forms, n=6000)
    unit = found.facts.shown[0]
    worth = unit.measures["effective_sample_size"] * 1000
    assert len(forms.forms) == 6 and unit.n == 1000
    assert '<th scope="col">Form</th>' in found.html() and '<th scope="col">Attribute</th>' not in found.html()
    text = " ".join(found.text().split())
    assert "This form is answered by about 1,000 of the 6,000 records. 1,000 randomized records tell" in text
    assert f"as about {worth:,.0f} unrandomized ones would" in text
    drawn = []
    monkeypatch.setattr(plot, "svg", lambda draw, *_: drawn.append(draw))
    plot.precision(unit)
    axes = _Axes()
    drawn[0](axes)
    assert axes.points[-1] == pytest.approx((1000, 100 * unit.measures["half_width"]))


def test_a_picture_of_chances_is_not_blank_where_one_answer_is_far_likelier(monkeypatch):
    """Under gamma 3 all stretches of a number were as pale as the paper beside "no answer"."""
    from matplotlib.figure import Figure

    from sfumato.assess.report import plot

    schema = sf.Schema({"score": sf.Numeric(280, 640, bins=18, nullable=True)})
    (unit,) = report(sf.Scheme.for_gamma(schema, 3), n=2000).facts.units
    drawn = []
    monkeypatch.setattr(plot, "svg", lambda draw, *_: drawn.append(draw))
    plot.heat_map(unit)
    drawn[0](figure := Figure())
    (image,) = figure.axes[0].images
    chances, (_, most) = unit.channel.matrix, image.get_clim()
    assert most == pytest.approx(chances[:-1, :-1].max())


def test_a_picture_of_chances_names_its_rows_evenly_and_in_full(monkeypatch):
    """Of nine values the fifth had no name, and "American Indian" was "American I…"."""
    from matplotlib.figure import Figure

    from sfumato.assess.report import plot

    races = ("American Indian or Alaska Native", "Asian", "Black or African American", "White")
    schema = sf.Schema(
        {
            "days": sf.Ordinal(tuple(range(8)), nullable=True),
            "race": sf.Categorical(races),
            "year": sf.Ordinal(tuple(range(2000, 2040))),
        }
    )
    drawn, named = [], []
    monkeypatch.setattr(plot, "svg", lambda draw, *_: drawn.append(draw))
    for unit in report(sf.Scheme.for_gamma(schema, 9)).facts.units:
        plot.heat_map(unit)
        drawn[-1](figure := Figure())
        named.append([label.get_text() for label in figure.axes[0].get_yticklabels()])
    assert named[0] == [*map(str, range(8)), "no answer"]
    assert named[1] == ["American\nIndian or\nAlaska Native", "Asian", "Black or\nAfrican\nAmerican", "White"]
    gaps = np.diff([int(year) for year in named[2]])
    assert named[2][-1] == "2039" and set(gaps[:-1]) == {4} and gaps[-1] >= 4


def test_without_shares_the_accuracy_left_is_the_one_of_the_design():
    """A common value is harder than one among equals: both pages count on the hardest share."""
    schema = sf.Schema({"town": sf.Categorical(tuple("abcdefgh"), nullable=True)})
    designed = sf.design.design(schema, n=2000, gamma=9)
    (unit,) = report(designed.scheme, n=2000).facts.units
    assert unit.measures["half_width"] == pytest.approx(designed.choices[0].pick.half_width)
    (known,) = report(designed.scheme, n=2000, prior={"town": [0.125] * 8 + [0.0]}).facts.units
    assert known.measures["half_width"] < 0.9 * unit.measures["half_width"]


@pytest.mark.parametrize("channel", [None, c.average(5, 9, nullable=True)])
def test_the_accuracy_left_says_that_it_is_of_those_who_answer(channel):
    """Of an injury that a quarter of the people answer, shares were "within 2.9 points": counts had 1.1."""
    if channel is None:
        injury, prior, words = (
            sf.Categorical(("no", "yes"), nullable=True),
            [0.12, 0.13, 0.75],
            "shares of the values among",
        )
        scheme = sf.Scheme.for_gamma(sf.Schema({"injury": injury}), 9)
    else:
        injury, prior, words = sf.Numeric(0, 1, points=5, nullable=True), [0.1] * 5 + [0.5], "about the mean of"
        scheme = sf.Scheme(sf.Schema({"injury": injury}), {"injury": channel})
    found = report(scheme, n=13_000, prior={"injury": prior})
    assert f"{words} those who answer" in " ".join(found.text().split())
    assert "among the ones who answer" in found.html()
    everybody = report(sf.Scheme.for_gamma(sf.Schema({"injury": sf.Categorical(("no", "yes"))}), 9), n=13_000)
    assert "who answer" not in " ".join(everybody.text().split())


class _Axes:
    """What is drawn as single points; everything else is let pass."""

    def __init__(self):
        self.points = []

    def plot(self, x, y, *_, **__):
        if np.ndim(x) == 0:
            self.points.append((x, y))

    def add_subplot(self):
        return self

    def get_ylim(self):
        return 0.0, 1.0

    def __getattr__(self, _):
        return lambda *_, **__: None


def test_a_channel_with_a_single_answer_discloses_nothing_and_is_reported():
    schema = sf.Schema({"sex": sf.Categorical(("F", "M"))})
    found = report(sf.Scheme(schema, {"sex": c.matrix([[1.0], [1.0]])}), n=100)
    assert found.facts.units[0].measures["repeats"] == {"2": 0.5, "10": 0.5}
    assert "cannot be estimated" in found.text()


def test_a_picture_and_a_table_write_a_share_alike() -> None:
    """A sixth stood as 17 % in one and as 16.7 % in the other."""
    schema = sf.Schema({"die": sf.Categorical(tuple("123456"))})
    text = report(sf.Scheme.for_gamma(schema, 3), n=1000).html()
    bar = re.search(r'<span class="before" title="blind">.*?</i>(.*?)</span>', text)
    assert bar is not None and bar[1] == "16.7&nbsp;%" and ">16.7 %<" in text
