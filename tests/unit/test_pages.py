"""The shell of all pages: self-contained, in order for a keyboard and a screen reader, contents where it is long."""

import re

from sfumato.pages import Section, page
from sfumato.pages.chart import ACCENT, svg
from sfumato.pages.parts import badge, bars, table
from sfumato.pages.shell import POLICY, stylesheet


def test_a_page_may_load_nothing():
    text = page("Title", "<p>Good.</p>", [Section("One", "<p>Text</p>")])
    assert f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">' in text
    assert "default-src 'none'" in POLICY and "script" not in POLICY
    assert "<script" not in text and "http://" not in text and "https://" not in text


def test_the_verdict_stands_before_everything_else():
    text = page("Title", "<p>Good.</p>", [Section("One", "<p>Text</p>")], about="Of what")
    assert text.index("<h1") < text.index("Good.") < text.index("<h2")


def test_only_long_pages_have_contents():
    short = [Section(name, "<p>Text</p>") for name in "abc"]
    long = [Section(name, "<p>" + "word " * 500 + "</p>", level) for name, level in (("a", 2), ("b & c", 3), ("d", 2))]
    assert "<nav" not in page("Title", "", short)
    text = page("Title", "", long)
    assert re.search(
        r'<li><a href="#s0">a</a><ol><li><a href="#s1">b &amp; c</a></li></ol></li><li><a href="#s2">', text
    )
    assert '<h3 id="s1">b &amp; c</h3>' in text


def test_nothing_given_as_text_is_taken_for_markup():
    text = page("<i>", "", [Section("<em>", table(["<u>"], [["<s>", "<q>"]], "<a>"))])
    text += badge("<em>") + bars("<h5>", [("<h6>", 0.1, 0.2)], "<x>", "<y>")
    for tag in ("<em>", "<u>", "<s>", "<q>", "<a>", "<x>", "<y>", "<h5>", "<h6>", "<title><i>"):
        assert tag not in text


def test_the_names_of_rows_break_between_their_words():
    text = table(["", "n"], [["text_while/driving", "1.5"]], "Counts", numeric=[1])
    assert "text_<wbr>while/<wbr>driving</th>" in text and ">1.5</td>" in text


def test_a_table_scrolls_in_a_box_that_the_keyboard_reaches():
    text = table(["", "n"], [["a", "1"]], "Counts", numeric=[1])
    assert text.startswith('<div class="scroll" role="region" tabindex="0" aria-label="Counts">')
    assert '<th scope="row">a</th><td class="num">1</td>' in text


def test_light_and_dark_define_the_same_colours():
    light, dark = (
        set(re.findall(r"(--[\w-]+):", block)) for block in re.findall(r":root \{(.*?)\}", stylesheet(), re.S)[:2]
    )
    assert dark <= light and light - dark == {"--sans", "--mono"}
    used = set(re.findall(r"var\((--[\w-]+)\)", stylesheet()))
    assert used <= light


def test_badges_can_be_read_in_both_schemes():
    """White on every badge: a contrast of at least 4.5, as WCAG asks of text of this size."""

    def luminance(colour):
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    found = re.findall(r"--(?:good|fair|poor|bad|worst|plain): (#\w{6})", stylesheet())
    assert len(found) == 12
    for colour in found:
        assert 1.05 / (luminance(colour) + 0.05) >= 4.5, colour


def test_a_chart_says_what_it_shows_and_two_of_one_page_share_no_ids():
    def draw(figure):
        axes = figure.add_subplot()
        axes.plot([0, 1], [0, 1], color=ACCENT)
        axes.set_title("A line & more")

    one, two = (svg(draw, 3, 2, name, 'It "rises"') for name in ("a b", "ab"))
    assert 'role="img" aria-label="It &quot;rises&quot;"' in one
    assert "A line &amp; more" in one  # text stays text
    ids = re.findall(r'id="([^"]+)"', one + two)
    assert len(ids) == len(set(ids))
    assert ACCENT not in one and "var(--accent)" in one
