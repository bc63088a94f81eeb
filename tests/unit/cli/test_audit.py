"""sfumato audit: what it says where no attribute can be audited."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.command_line import run

import sfumato as sf
from sfumato import channels as c


@pytest.mark.filterwarnings("ignore::sfumato.errors.DisclosureWarning")
@pytest.mark.parametrize("more", ["", " --json"])
def test_a_scheme_of_noise_and_single_values_has_nothing_to_audit(
    more: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    schema = sf.Schema({"age": sf.Numeric(0, 10, bins=10), "land": sf.Categorical(("here",))})
    scheme = sf.Scheme(schema, {"age": c.uniform(1), "land": c.identity(1)})
    Path("scheme.json").write_text(scheme.to_json(), encoding="utf-8")
    ran = run(f"audit scheme.json{more}")
    assert ran.code == 1
    assert "there is nothing to audit" in ran.out + ran.error


def test_an_audit_says_at_which_p_answers_fail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One of twenty honest attributes has a p below .05: a reader has to know that this is no failure."""
    monkeypatch.chdir(tmp_path)
    scheme = sf.Scheme.for_gamma(sf.Schema({"sex": sf.Categorical(("F", "M"))}), 9)
    Path("scheme.json").write_text(scheme.to_json(), encoding="utf-8")
    ran = run("audit scheme.json --trials 2000")
    assert ran.code == 0 and "answers fail where p is below 0.0005" in ran.out
