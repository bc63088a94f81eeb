"""sfumato density: which columns of a file it takes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.command_line import run

import sfumato as sf
from sfumato.channels.additive import gaussian


@pytest.mark.filterwarnings("ignore:'pay' is released with additive noise")
def test_codes_of_a_release_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    schema = sf.Schema({"age": sf.Numeric(0, 100, bins=10), "pay": sf.Numeric(0, 100, bins=10)})
    channels = {"age": sf.channels.windows(10, gamma=9), "pay": gaussian(5)}
    rng = np.random.default_rng(1)
    table = {"age": rng.uniform(0, 100, 400), "pay": rng.uniform(0, 100, 400)}
    sf.randomize(table, sf.Scheme(schema, channels), rng=sf.experiment(2)).save("r.parquet")
    ran = run("density r.parquet --column age --noise gaussian:5", width=400)
    assert ran.code == 1 and "sfumato estimate r.parquet --cdf age" in ran.error, ran.error
    assert run("density r.parquet --column pay --noise gaussian:5").code == 0


def test_empty_cells_are_counted_and_their_column_named(tmp_path: Path) -> None:
    (tmp_path / "z.csv").write_text("a,z\n" + "".join(f"{i},{'' if i % 5 == 0 else i / 3}\n" for i in range(50)))
    ran = run(f"density {tmp_path / 'z.csv'} --column z --noise gaussian:1", width=400)
    assert ran.code == 1 and "column 'z': 10 cells empty, NaN or infinite" in ran.error


def test_numbers_say_where_their_errors_are_and_no_word_of_algebra_is_left(tmp_path: Path) -> None:
    """A median stood without an interval, and "the null space" without an explanation."""
    z = np.random.default_rng(1).normal(0, 1, 1400) + np.random.default_rng(2).uniform(-3, 3, 1400)
    (tmp_path / "z.csv").write_text("z\n" + "\n".join(map(str, z)))
    ran = run(f"density {tmp_path / 'z.csv'} --column z --noise uniform:1 --support=-8,8 --bins 80", width=400)
    assert "1,400" in ran.out and "1400" not in ran.out
    assert ran.code == 0 and "not told here; --plot, --json: a 90 % band" in ran.out
    assert "of 80 details: it would be the same without them" in ran.out and "null space" not in ran.out


def test_cells_are_not_called_the_support_that_was_given(tmp_path: Path) -> None:
    z = np.random.default_rng(1).normal(50, 5, 400)
    (tmp_path / "z.csv").write_text("z\n" + "\n".join(map(str, z)))
    asked = f"density {tmp_path / 'z.csv'} --column z --noise uniform:1"
    lines = run(f"{asked} --support 0,120", width=400).out.splitlines()
    (told,) = (line for line in lines if line.startswith("cells"))
    assert told.split()[1:3] == ["80", "from"] and told.rstrip().endswith(", inside the support 0 to 120")
    assert not any(line.startswith("support") for line in lines)
    assert "80 from 0 to 120 " in run(f"{asked} --support 0,120 --bins 80", width=400).out
    assert "the support 45 to 120 was widened" in run(f"{asked} --support 45,120 --widen", width=400).out


def test_it_says_how_far_apart_hills_must_be_to_show(tmp_path: Path) -> None:
    """Three blocks became one hill, and nothing said that they might."""
    rng = np.random.default_rng(3)
    z = 3 * rng.integers(0, 3, 300) + rng.random(300) + rng.normal(0, 7 / 6, 300)
    (tmp_path / "z.csv").write_text("z\n" + "\n".join(map(str, z)))
    ran = run(f"density {tmp_path / 'z.csv'} --column z --noise gaussian:1.1667", width=400)
    assert ran.code == 0 and "from 4.7 on; nearer ones may show as one" in ran.out
    (tmp_path / "z.csv").write_text("z\n" + "\n".join(map(str, z[:20])))
    assert "none: too few values" in run(f"density {tmp_path / 'z.csv'} --column z --noise gaussian:1", width=400).out
