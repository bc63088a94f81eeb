"""A frame for benchmarks as ratios: ours and the reference take turns in one run, medians are compared.

A benchmark is a generator of cases in a module beside this one:

    @benchmark
    def discretize() -> Iterator[Case]:
        values = make_values()
        yield Case("a million values", ours=lambda: mgas(values), reference=lambda: np.sort(values), goal=20)

Machines differ, ratios less so. Without a reference the goal is in seconds; ``peak_goal`` asks for the peak
memory of one call of ``ours`` in a fresh process, in MB (what the benchmark builds before it yields counts
too). Nothing here asserts: a benchmark reports, and the reader judges.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import json
import multiprocessing
import pkgutil
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

Action = Callable[[], object]

#: The ratios of an earlier run on an idle machine, and how much worse a ratio may be before it is reported.
STORED = Path(__file__).with_name("ratios.json")
DROP = 1.2


@dataclass(frozen=True)
class Case:
    """What to time, against what, and the ratio to stay under (without a reference: the seconds)."""

    name: str
    ours: Action
    goal: float
    reference: Action | None = None
    against: str = ""
    repeat: int = 5
    peak_goal: float | None = None


@dataclass(frozen=True)
class Result:
    """What was measured: medians in seconds, peak memory in MB where it was asked for."""

    benchmark: str
    name: str
    against: str
    ours: float
    reference: float | None
    goal: float
    peak: float | None = None
    peak_goal: float | None = None

    @property
    def title(self) -> str:
        return f"{self.benchmark}: {self.name}"

    @property
    def ratio(self) -> float | None:
        return None if self.reference is None else self.ours / self.reference

    @property
    def met(self) -> bool:
        """Both goals, speed and memory."""
        fast = (self.ours if self.ratio is None else self.ratio) <= self.goal
        lean = self.peak is None or self.peak_goal is None or self.peak <= self.peak_goal
        return fast and lean

    def as_dict(self) -> dict[str, object]:
        return {**asdict(self), "ratio": self.ratio, "met": self.met}


Benchmark = Callable[[], Iterable[Case]]
_registry: dict[str, Benchmark] = {}


def benchmark(make_cases: Benchmark) -> Benchmark:
    """Register a generator of cases under its module's and its own name."""
    name = f"{make_cases.__module__.rpartition('.')[2]}.{make_cases.__name__}"
    _registry[name] = make_cases
    return make_cases


def discover() -> dict[str, Benchmark]:
    """Import every module of this package; the benchmarks by name (``module.function``)."""
    for module in pkgutil.iter_modules([str(Path(__file__).parent)]):
        if module.name not in ("harness", "__main__"):
            importlib.import_module(f"{__package__}.{module.name}")
    return dict(sorted(_registry.items()))


def choose(names: Iterable[str], known: dict[str, Benchmark]) -> dict[str, Benchmark]:
    """The benchmarks called by full name or by module; all when none is named."""
    wanted = list(names)
    chosen: dict[str, Benchmark] = {}
    for name in wanted:
        hits = {full: make for full, make in known.items() if name in (full, full.partition(".")[0])}
        if not hits:
            raise ValueError(f"no benchmark is called {name!r}: known are {', '.join(known) or 'none'}")
        chosen |= hits
    return chosen if wanted else known


def run(chosen: dict[str, Benchmark]) -> Iterator[Result]:
    """Measure every case of the chosen benchmarks, one after the other."""
    for name, make_cases in chosen.items():
        for case in make_cases():
            yield measure(name, case)


def measure(name: str, case: Case) -> Result:
    """Time both sides in turn after one warm-up each; the peak memory in a process of its own."""
    times: dict[str, list[float]] = {"ours": [], "reference": []}
    sides = {"ours": case.ours} | ({"reference": case.reference} if case.reference else {})
    if case.repeat > 1:
        for action in sides.values():
            action()
    for turn in range(case.repeat):
        # Who goes first alternates too: neither side always meets the caches the other left.
        for side in sorted(sides, reverse=bool(turn % 2)):
            times[side].append(_seconds(sides[side]))
    ours = statistics.median(times["ours"])
    reference = statistics.median(times["reference"]) if case.reference else None
    peak = None if case.peak_goal is None else _in_fresh_process(name, case.name)
    return Result(name, case.name, case.against, ours, reference, case.goal, peak, case.peak_goal)


def _seconds(action: Action) -> float:
    gc.collect()
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def _in_fresh_process(name: str, case: str) -> float:
    # A forked child would inherit this process's memory; a spawned one starts clean.
    with ProcessPoolExecutor(max_workers=1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(_run_for_peak, name, case).result()


def _run_for_peak(name: str, wanted: str) -> float:
    """In the child: run one case's ``ours`` once, then say the highest resident memory so far, in MB."""
    for case in discover()[name]():
        if case.name == wanted:
            case.ours()
            return peak_memory()
    raise LookupError(f"{name} yields no case called {wanted!r} the second time")


def peak_memory() -> float:
    """The highest resident memory of this process, in MB."""
    status = Path("/proc/self/status")
    if status.exists():
        # Not getrusage: on Linux its maximum survives exec and would show the parent's.
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) / 1024
    import resource

    scale = 1 << 20 if sys.platform == "darwin" else 1 << 10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / scale


def lines(result: Result) -> list[str]:
    """One result for the terminal: its name, then its numbers, so that 80 columns are enough."""
    numbers = [_short(result.ours)]
    if result.ratio is None:
        numbers.append(f"goal {result.goal:g} s")
    else:
        numbers.append(f"{result.against} {_short(result.reference or 0.0)}")
        numbers.append(f"ratio {result.ratio:.3g}, goal {result.goal:.3g}")
    if result.peak is not None:
        numbers.append(f"{result.peak:.0f} of {result.peak_goal:.0f} MB")
    verdict = "[green]met[/]" if result.met else "[red]missed[/]"
    return [f"[bold]{result.name}[/]", f"  {' · '.join(numbers)} · {verdict}"]


def slower(results: Iterable[Result], stored: Mapping[str, float]) -> list[str]:
    """A line for each result whose ratio is worse than the stored one by more than a fifth."""
    found = []
    for result in results:
        before = stored.get(result.title)
        if before and result.ratio is not None and result.ratio > DROP * before:
            found.append(f"{result.title}: ratio {result.ratio:.3g}, stored {before:.3g}")
    return found


def _short(seconds: float) -> str:
    unit, factor = next((u, f) for u, f, low in (("s", 1, 1), ("ms", 1e3, 1e-3), ("µs", 1e6, 0)) if seconds >= low)
    return f"{seconds * factor:.3g} {unit}"


def main(arguments: list[str] | None = None) -> int:
    """Run from the command line. Exit code 0 whatever the verdicts: benchmarks report."""
    parser = argparse.ArgumentParser(prog="benchmarks", description="Measure ours against a reference, as ratios.")
    parser.add_argument("names", nargs="*", help="module or module.function; all when left out")
    parser.add_argument("--json", action="store_true", help="machine-readable results")
    parser.add_argument("--list", action="store_true", help="only say which benchmarks there are")
    parser.add_argument("--compare", action="store_true", help="name what is a fifth slower than the stored ratios")
    parser.add_argument("--store", action="store_true", help="keep the ratios of this run for later comparisons")
    options = parser.parse_args(arguments)
    try:
        chosen = choose(options.names, discover())
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    if options.list:
        print("\n".join(chosen))
        return 0
    if options.json:
        print(json.dumps([result.as_dict() for result in run(chosen)], indent=2))
        return 0
    from rich.console import Console

    console, results = Console(highlight=False), []
    with console.status("measuring"):
        for result in run(chosen):
            results.append(result)
            console.print(*lines(result), sep="\n")
    stored = json.loads(STORED.read_text()) if STORED.exists() else {}
    if options.store:
        stored |= {result.title: round(result.ratio, 4) for result in results if result.ratio is not None}
        STORED.write_text(json.dumps(dict(sorted(stored.items())), indent=2) + "\n")
    if options.compare:
        found = slower(results, stored)
        console.print(f"\nmore than a fifth slower than stored: {len(found)} of {len(results)}", *found, sep="\n")
    return 0
