"""Messages of the library in the words of the command line: options in place of arguments, commands of functions."""

from __future__ import annotations

import re
import sys

#: Arguments whose option has another name.
_OPTIONS = {
    "min_support": "--support",
    "min_confidence": "--confidence",
    "max_items": "--items",
    "max_leaves": "--leaves",
    "max_depth": "--depth",
    "names": "--names",
    "new": "--new-ledger",
    "key": "--key-file",
    "link_key": "--link-key-file",
}
_INTERVALS = r"(?:the )?numbers into intervals(?: instead)? \(release\.in_intervals\(\)\)"
#: What is said in other words altogether. The first are the most particular.
_PHRASES: tuple[tuple[str, str], ...] = (
    (r"ledger\.same\('(.*?)', '(.*?)'\)", r"--same \1=\2"),
    (r"smooth=False: neither, True: both", "--no-smooth: neither, --smooth: both"),
    (r"smooth=False: neither;", "--no-smooth: neither;"),
    (r"in Python for some cells, evidence\.cells\(names, codes\)", "for records that hold some values (--where)"),
    (r'share\("(.*?)"\)', r"--columns \1"),
    (r"\(names=\[\.\.\.\], or --columns\)", "(--columns)"),
    (r"\(release\.select, or --columns\), or cut " + _INTERVALS, "(--columns), or leave --reconstruct out"),
    (r"cut the numbers into intervals instead \(release\.in_intervals\(\), or leave (--\w+) out\)", r"leave \1 out"),
    (r"estimate its density, or cut " + _INTERVALS, "estimate its density (sfumato density)"),
    (r",? or cut " + _INTERVALS, ""),
    (r"\(table\.drop\(columns=.*?\), or (--drop .*?)\), and", r"(\1), and"),
    (r"order and rng are for sf\.randomize", "--order is for a single file"),
    (r"\(with sfumato\.new_key\(\)\)", "(a new file name makes a new key)"),
    (r" \(make one with sfumato\.new_link_key\(\)\)", ""),
    (r", sf\.counted\(release, tables\)", " (sfumato counts)"),
    (r"sf\.randomize", "sfumato randomize"),
    (r"sf\.Forms\.for_gamma\(schema, (.*?), ask=1\)", r"as forms have it (docs/forms.md)"),
    (r", or ask=1", ""),
    (r", or take JunctionEvidence\(release\)", " (--columns)"),
    (r"Schema\.infer looks at", "This looks at"),
    (r" \(see null_space\(\)\)", ""),
    (r"Numeric\(low, high, points=11\)", "points for it, --points NAME=11 of sfumato schema"),
    (r"windows\(\.\.\., nullable=True\)", 'windows with "nullable": true in the scheme'),
    (r"nullable=True", '"nullable": true in the schema'),
    (r"\bvalid= ", '"valid" in the scheme '),
    (r"give items= or", 'give "items", or'),
    (r"\bby='?(.*?)'? goes round", r'"by": "\1" goes round'),
    (r"key= or link_key= \(--key-file, --link-key-file\)", "--key-file or --link-key-file"),
    (r"id= and a key \(--id, --key-file\)", "--id and --key-file"),
    (r"the same link_key \(--link-key-file; Release\.raw takes it too\)", "the same --link-key-file"),
    (r"\w+=\S+ \((--[a-z-]+(?: \w+)?)\)", r"\1"),  # both names are given
    (r"search='tree'", "--tree"),
    (r"max_parents = (\d+)", r"--max-parents \1"),
    (r"\b(min_support|min_confidence|max_items|max_leaves|max_depth|max_parents|half_width)\b(?!=)", r"\1="),
)
#: Arguments that messages name with a value. A column that somebody calls so, as in age=3, is none of them.
_VALUED = "event|family|formula|max_\\w+|method|min_\\w+|half_width|names|order|through"
_ARGUMENT = re.compile(
    rf"\b(?:(?P<flag>[a-z]\w*)=True\b|(?P<name>{_VALUED})=(?:\[\.\.\.\]|(?P<any>\.\.\.)|"
    r"[\"'](?P<text>[^\"']*)[\"']|(?P<number>\d+)|(?=\s|$|[,;.:])))"
)
_FIRST = re.compile(r"^([a-z]\w*)(?= must| is a)")
#: Other names of some, by command.
_ALSO = {"prior": ("--shares",), "q": ("--quantiles",), "n": ("--rows",)}
#: Named so in every command that takes them.
_ALWAYS = {"joint_gamma", "rho1", "rho2", "sigma", "p_max", "half_width", "level"}


def in_options(text: str) -> str:
    """What a message says in Python's words, in those of the command line.

    >>> in_options("ask for it with again=True, or begin one with new=True")
    'ask for it with --again, or begin one with --new-ledger'
    >>> in_options('use family="logistic" with event=..., or raise min_support')
    'use --family logistic with --event VALUE, or raise --support'
    >>> in_options("declare it nullable=True"), in_options("half_width must lie in (0, 1)")
    ('declare it "nullable": true in the schema', '--half-width must lie in (0, 1)')
    """
    for said, instead in _PHRASES:
        text = re.sub(said, instead, text)
    return _ARGUMENT.sub(_given, _FIRST.sub(_named, text))


def _given(found: re.Match[str]) -> str:
    option = _option(found["flag"] or found["name"])
    value = "VALUE" if found["any"] else found["text"] or found["number"] or ""
    return f'{option} "{value}"' if " " in value else f"{option} {value}".rstrip()


def _named(found: re.Match[str]) -> str:
    """The argument that a message begins with, if it is an option that was given."""
    given = {word.partition("=")[0] for word in sys.argv[1:]}
    option = next((one for one in _ALSO.get(found[1], ()) if one in given), _option(found[1]))
    return option if option in given or found[1] in _ALWAYS else found[0]


def _option(name: str) -> str:
    return _OPTIONS.get(name, "--" + name.replace("_", "-"))
