"""Many collectors with failures, and one reducer: `python -m benchmarks.collectors`.

A report carries the id that its sender made. The id says which collector it goes to, so that a retry meets the one
that may have it already. A collector writes reports to disk in groups, and acknowledges a group when it is there; a
crash loses what was not written. From time to time it sends its counts so far, with a running number, to the reducer.
These messages are lost, doubled and overtaken. The reducer keeps the newest of each collector and adds.

Every report has a value of its own count cell, so that a report counted twice or not at all shows.
"""

from __future__ import annotations

import argparse
import hashlib
import random
from collections import Counter
from dataclasses import dataclass, field

GROUP = 64  # reports that are written to disk together


@dataclass
class Faults:
    """How often things go wrong: shares of requests, answers and messages, and crashes a step."""

    request: float = 0.05
    answer: float = 0.05
    message: float = 0.2
    doubled: float = 0.1
    crash: float = 0.0005


@dataclass
class Collector:
    """Reports on disk, reports in memory, and the counts of those on disk."""

    number: int
    disk: set[int] = field(default_factory=set)
    counts: Counter[int] = field(default_factory=Counter)
    waiting: dict[int, int] = field(default_factory=dict)
    sent: int = 0

    def take(self, report: int, value: int) -> bool:
        """Is the report on disk already? It is acknowledged again, and not counted again. If not, it waits."""
        if report in self.disk:
            return True
        self.waiting[report] = value
        return False

    def write(self) -> set[int]:
        """Put what waits on disk; the reports that may be acknowledged."""
        done = set(self.waiting)
        self.disk |= done
        self.counts.update(self.waiting.values())
        self.waiting = {}
        return done

    def crash(self) -> None:
        """Memory is lost; the counts are made again from the disk, as a restart does."""
        self.waiting = {}

    def message(self) -> tuple[int, int, Counter[int]]:
        self.sent += 1
        return self.number, self.sent, self.counts.copy()


@dataclass
class Reducer:
    """The newest counts of each collector."""

    newest: dict[int, tuple[int, Counter[int]]] = field(default_factory=dict)

    def take(self, message: tuple[int, int, Counter[int]]) -> None:
        collector, number, counts = message
        if number > self.newest.get(collector, (0, Counter()))[0]:
            self.newest[collector] = number, counts

    def total(self) -> Counter[int]:
        return sum((counts for _, counts in self.newest.values()), Counter())


def shard(report: int, collectors: int) -> int:
    """Which collector a report goes to, however often it is sent."""
    return int.from_bytes(hashlib.blake2b(report.to_bytes(8, "big"), digest_size=8).digest()) % collectors


def simulate(
    reports: int, collectors: int, faults: Faults, seed: int, sharded: bool = True
) -> tuple[Counter[int], Counter[int], dict[str, int]]:
    """What was answered, what the reducer counted, and how much went wrong on the way.

    ``sharded=False`` sends a retry to any collector: the control, which must count some reports twice.
    """
    rng = random.Random(seed)
    servers = [Collector(number) for number in range(collectors)]
    reducer, seen = Reducer(), Counter[str]()
    pending = {rng.getrandbits(63): value for value in range(reports)}
    truth = Counter(pending.values())
    delayed: list[tuple[int, int, Counter[int]]] = []
    while pending:
        for report, value in list(pending.items()):
            seen["requests"] += 1
            if rng.random() < faults.request:
                seen["requests lost"] += 1
                continue
            server = servers[shard(report, collectors) if sharded else rng.randrange(collectors)]
            if server.take(report, value):
                _acknowledge({report}, pending, faults, rng, seen)
            elif len(server.waiting) >= GROUP:
                _acknowledge(server.write(), pending, faults, rng, seen)
            if rng.random() < faults.crash:
                seen["crashes"] += 1
                server.crash()
        for server in servers:
            _acknowledge(server.write(), pending, faults, rng, seen)
            delayed += [server.message() for _ in range(1 + (rng.random() < faults.doubled))]
        rng.shuffle(delayed)  # overtaken
        for message in delayed[len(delayed) // 4 :]:
            if rng.random() < faults.message:
                seen["messages lost"] += 1
            else:
                reducer.take(message)
        delayed = delayed[: len(delayed) // 4]
    for server in servers:  # the last word of each collector arrives in the end
        reducer.take(server.message())
    for message in delayed:
        reducer.take(message)
    return truth, reducer.total(), dict(seen)


def _acknowledge(
    reports: set[int], pending: dict[int, int], faults: Faults, rng: random.Random, seen: Counter[str]
) -> None:
    for report in sorted(reports):
        if rng.random() < faults.answer:
            seen["answers lost"] += 1
        else:
            pending.pop(report, None)


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.collectors", description=__doc__.splitlines()[0])
    parser.add_argument("--collectors", type=int, default=50)
    parser.add_argument("--reports", type=int, default=200_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    for sharded in (True, False):
        truth, found, seen = simulate(options.reports, options.collectors, Faults(), options.seed, sharded)
        twice, lost = sum((found - truth).values()), sum((truth - found).values())
        way = "by id" if sharded else "to any collector (control)"
        faulty = ", ".join(f"{count:,} {what}" for what, count in seen.items())
        print(f"retries go {way}: {twice} counted twice, {lost} lost; {faulty}")


if __name__ == "__main__":
    main()
