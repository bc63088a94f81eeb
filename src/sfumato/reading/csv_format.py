"""How a text file writes a table: delimiter, decimal sign, encoding, header. Told by its first block, or by you."""

from __future__ import annotations

import csv
import gzip
import io
import os
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import IO, Any, cast

from sfumato.errors import SchemaError
from sfumato.reading.csv_header import column_names, has_header, quoted_cells, turned
from sfumato.reading.csv_numbers import numeric_columns, respelt_columns, separators
from sfumato.reading.csv_titles import around, last_record, title_lines

DELIMITERS = ("\t", ";", "|", ",")
WORDS = {"tab": "\t", "\\t": "\t", "semicolon": ";", "comma": ",", "pipe": "|", "space": " "}
BLOCK = 1 << 18  # bytes that are looked at
_BOMS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))
_MOST = 1 << 23  # bytes that are looked at where the first line is so long
_BINARY = 64  # characters at the beginning among which text has no zero
_CONTROLS = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x9f]")
_MOST_CONTROLS = 0.05  # of the characters of a text; of random bytes, read as one, they are a tenth to a quarter
_MOST_COLUMNS = 100_000  # each takes the reader kilobytes
#: What the description beside a file of ours says of itself, wherever in its beginning.
_OURS = re.compile(rb'"format"\s*:\s*"sfumato (?:release|resampled)"')


@dataclass(frozen=True)
class CsvFile:
    """A text file together with what you know about its format; the rest is told by its first block.

    >>> CsvFile("patients.csv", delimiter=";", decimal=",").decimal
    ','
    """

    path: str | os.PathLike[str]
    delimiter: str | None = None
    decimal: str | None = None
    thousands: str | None = None
    encoding: str | None = None
    header: bool | None = None
    skip: int | None = None

    def __post_init__(self) -> None:
        for name in ("delimiter", "encoding"):
            if not isinstance(getattr(self, name), str | None):
                raise SchemaError(f"{name} must be text, got {type(getattr(self, name)).__name__} instead")
        if self.delimiter is not None:
            sign = WORDS.get(self.delimiter.lower(), self.delimiter)
            if len(sign) != 1 or sign in '"\r\n' or sign.isalnum():
                raise SchemaError(f"delimiter must be one sign, such as ; or tab, got {self.delimiter!r} instead")
            object.__setattr__(self, "delimiter", sign)
        if self.decimal not in (None, ".", ","):
            raise SchemaError(f"decimal must be a point or a comma, got {self.decimal!r} instead")
        if self.thousands not in (None, "", ".", ",", " ") or (self.thousands and self.thousands == self.decimal):
            raise SchemaError(f"thousands must be a point, a comma or a space, got {self.thousands!r} instead")
        if isinstance(self.skip, bool) or not isinstance(self.skip, int | None) or (self.skip or 0) < 0:
            raise SchemaError(f"skip must be a number of lines, such as 2 for a title, got {self.skip!r} instead")
        if self.encoding is not None:
            try:
                "".encode(self.encoding)
            except LookupError:
                raise SchemaError(f"encoding {self.encoding!r} is unknown; utf-8, cp1252 and utf-16 are") from None

    def __fspath__(self) -> str:
        return os.fspath(self.path)


@dataclass(frozen=True)
class CsvFormat:
    """The format of one file, complete: what its reader needs, and in words what was not certain."""

    delimiter: str
    names: tuple[str, ...]
    decimal: str = "."
    thousands: str | None = None
    encoding: str = "utf-8"
    header: bool = True
    skip: int = 1  # lines before the first record
    above: int = 0  # of them, lines before the header
    title: int = 0  # lines that look like a title, and were not skipped
    trim: bool = False  # whether values carry blanks around them
    words: frozenset[str] = frozenset()  # columns whose values are no numbers, whatever they look like
    respelt: frozenset[str] = frozenset()  # columns of numbers with brackets or groups of thousands
    twice: tuple[str, ...] = ()  # names that the header gives to several columns
    notes: tuple[str, ...] = field(default=(), compare=False)


#: What is said about the format of every file that is read meanwhile.
_SAID: ContextVar[dict[str, Any]] = ContextVar("said", default={})  # noqa: B039


@contextmanager
def reading(**said: Any) -> Iterator[None]:
    """Read every text file in this block as is said: delimiter, decimal, thousands, encoding, header, skip.

    Releases excepted: they are read as they were written.
    """
    CsvFile("", **said)  # nonsense is refused here
    token = _SAID.set({name: value for name, value in said.items() if value is not None})
    try:
        yield
    finally:
        _SAID.reset(token)


def detect(file: str | Path | CsvFile) -> CsvFormat:
    """The format of a file, from its first block and from what was said about it."""
    path = Path(file)
    plain = _described(path)  # a release, whose format is its own
    asked = file if isinstance(file, CsvFile) else CsvFile(path) if plain else CsvFile(path, **_SAID.get())
    try:
        now = path.stat()
    except OSError:
        raise SchemaError(f"{path}: there is no such file") from None
    return _detect(asked, plain, now.st_mtime_ns, now.st_size, now.st_ino)


@lru_cache(maxsize=64)
def _detect(asked: CsvFile, plain: bool, *_: int) -> CsvFormat:
    path = Path(asked)
    block, whole = _first_block(path)
    if not block.strip(b"\r\n \t"):
        raise SchemaError(f"{path}: the file is empty")
    encoding = asked.encoding or _encoding(block, whole)
    text = _decoded(path, block, encoding, whole, asked.encoding is not None)
    usual = "\t" if ".tsv" in path.name.lower() else ","
    above = asked.skip or 0
    if text.rstrip("\n").count("\n") < above:
        raise SchemaError(f"{path}: nothing is left below the {above} lines to skip")
    text = text.split("\n", above)[-1]
    told, skip = _told_by_excel(text)
    if skip:
        text = text.split("\n", 1)[-1]
    skip += above
    delimiter = asked.delimiter or told or _delimiter(text, usual)
    rows, lines = _rows(text, delimiter, whole)
    if not rows:
        raise SchemaError(f"{path}: its first line has a field of more than 128 kB: is the delimiter right?")
    if len(rows[0]) > _MOST_COLUMNS:
        raise SchemaError(f"{path}: it has {len(rows[0])} columns, more than {_MOST_COLUMNS}: is the delimiter right?")
    header = asked.header if asked.header is not None else plain or has_header(rows)
    quoted = quoted_cells(text, lines)  # spaces inside quotes belong to the name
    first = [cell if cell in quoted else cell.strip() for cell in rows[0]] if header else []
    data = rows[1:] if header else rows
    width = Counter(map(len, data)).most_common(1)[0][0] if data else len(first)
    names, twice, notes = column_names(first, width, data)
    certain = asked.delimiter or (delimiter if len(rows[0]) == width > 1 else None)  # else a title may hide it
    title = 0 if plain or asked.skip is not None else title_lines(text[: 1 << 16], certain or DELIMITERS)
    if not plain:
        notes += around(title, data, data[-1] if whole and data else last_record(path, encoding, delimiter))
    if header is False and asked.header is None:
        notes.append("there is no header: the columns are called column1, column2, ...")
    columns = turned(data, len(names))
    decimal, thousands, guessed = separators(columns, delimiter)
    if guessed and asked.decimal is None and asked.thousands is None and not plain:
        meant = "a decimal comma" if decimal == "," else "a separator of thousands"
        notes.append(f"numbers such as 1,234 are taken with {meant}; say --decimal to be sure")
    if asked.decimal is not None and asked.decimal != decimal:
        decimal, thousands = asked.decimal, None
    if asked.thousands is not None:
        thousands = asked.thousands or None
    numeric = set() if plain else set(numeric_columns(columns))
    losses, grouped = respelt_columns(columns, thousands)
    if losses and not plain:
        notes.append("numbers in brackets, such as (123), are read as negative")
    return CsvFormat(
        delimiter,
        tuple(names),
        "." if plain else decimal,
        None if plain else thousands,
        encoding,
        header,
        (lines if header else 0) + skip,
        skip,
        title,
        any(cell != cell.strip() for row in data for cell in row),
        frozenset(names[place] for place, cells in enumerate(columns) if any(cells) and place not in numeric),
        frozenset() if plain else frozenset(names[place] for place in (*losses, *grouped)),
        tuple(twice),
        tuple(notes),
    )


def _described(path: Path) -> bool:
    """Whether a description of ours stands beside a file; another tool's may have the same name."""
    try:
        with path.with_name(path.name + ".json").open("rb") as beside:
            return _OURS.search(beside.read(1 << 16)) is not None
    except OSError:
        return False


def opened(path: Path) -> IO[bytes]:
    return cast(IO[bytes], gzip.open(path, "rb")) if path.name.lower().endswith(".gz") else path.open("rb")


def _first_block(path: Path) -> tuple[bytes, bool]:
    """The beginning of the file, and whether that is all of it."""
    try:
        with opened(path) as file:
            size = BLOCK
            block = file.read(size + 1)
            while len(block) > size and size < _MOST and max(block.count(b"\n"), block.count(b"\r")) < 2:
                block, size = block + file.read(size), 2 * size
    except (EOFError, OSError) as problem:
        if isinstance(problem, FileNotFoundError):
            raise SchemaError(f"{path}: there is no such file") from None
        raise SchemaError(f"{path}: cannot be read: {getattr(problem, 'strerror', None) or 'damaged'}") from None
    if len(block) > size and not (b"\n" in block or b"\r" in block):
        raise SchemaError(f"{path}: its first line is longer than {_MOST >> 20} MB: is it a table?")
    return block[:size], len(block) <= size


def _encoding(block: bytes, whole: bool) -> str:
    for mark, name in _BOMS:
        if block.startswith(mark):
            return name
    first, second = block[::2].count(0), block[1::2].count(0)
    if len(block) > 3 and first + second > len(block) // 4 and min(first, second) < max(first, second) / 20:
        return "utf-16-le" if second > first else "utf-16-be"
    try:
        block.decode("utf-8")
    except UnicodeDecodeError as problem:
        if whole or problem.start < len(block) - 4:  # a letter cut in two by the end of the block is no evidence
            return "latin-1" if set(block) & {0x81, 0x8D, 0x8F, 0x90, 0x9D} else "cp1252"
    return "utf-8"


def _decoded(path: Path, block: bytes, encoding: str, whole: bool, given: bool) -> str:
    try:
        text = block.decode(encoding, errors="strict" if whole else "ignore")
    except UnicodeDecodeError:
        wrong = f"is not written in {encoding}: try another --encoding" if given else "is not text, which a table is"
        raise SchemaError(f"{path}: {wrong}") from None
    strange = len(_CONTROLS.findall(text)) > _MOST_CONTROLS * len(text)
    if ("\0" in text[:_BINARY] or strange) and not given:
        raise SchemaError(f"{path}: is not text, which a table is")
    return text.lstrip("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def _told_by_excel(text: str) -> tuple[str | None, int]:
    """A first line such as sep=; names the delimiter."""
    found = re.match(r"sep=(.)\n", text)
    return (found[1], 1) if found else (None, 0)


def _rows(text: str, delimiter: str, whole: bool) -> tuple[list[list[str]], int]:
    """The records of the block that are complete, and how many lines the first takes."""
    rows: list[list[str]] = []
    first = 0
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        for row in reader:
            if row:
                rows.append(row)
                first = first or reader.line_num
    except csv.Error:  # a field larger than the block
        pass
    return (rows if whole or len(rows) < 2 else rows[:-1]), first


def _one_column(sample: str) -> bool:
    """Whether every line under a header of one word is a number with a decimal comma: no delimiter, no row names."""
    first, *lines = [line.strip() for line in sample.split("\n")[:-1] or [sample]]
    held = [line for line in lines if line]
    return not re.search(r"[,;\t|]", first) and len(held) > 1 and all(map(_DECIMAL_COMMA.fullmatch, held))


_DECIMAL_COMMA = re.compile(r"[-+]?\d*,\d+(?:[eE][-+]?\d+)?|[-+]?\d+")


def _delimiter(text: str, usual: str) -> str:
    """The sign that cuts most lines into as many fields as the first; of several, the one that is rarely in a text."""
    best, most = usual, (0.0, False, 0)
    sample = text[: 1 << 16]
    if _one_column(sample):
        return ";"
    for rank, sign in enumerate(reversed(DELIMITERS)):
        rows, _ = _rows(sample, sign, len(sample) == len(text))
        widths = Counter(map(len, rows[1:] or rows))
        if not rows or not widths:
            continue
        width, agree = widths.most_common(1)[0]
        if width < 2 or not 0 <= width - len(rows[0]) <= 1:  # one more than the header: row names, or a last delimiter
            continue
        share = round(agree / sum(widths.values()), 2)
        if share >= 0.5 and (share, sign == usual and usual == "\t", rank) > most:
            best, most = sign, (share, sign == usual and usual == "\t", rank)
    return best
