"""The limits of a server."""

from __future__ import annotations

from dataclasses import dataclass

MB = 1 << 20


@dataclass(frozen=True)
class Settings:
    """What one client may ask for. Rates are requests a second, on average over ``burst`` seconds."""

    per_address: float = 50.0
    per_token: float = 200.0
    burst: float = 20.0
    largest_body: int = 4 * MB
    largest_response: int = 64 << 10
    largest_piece: int = 16 * MB
    largest_upload: int = 4096 * MB
    slowest_body: float = 10.0  # seconds until a whole body of JSON must be there, and between two bytes of a piece
    most_uploads: int = 100  # of one site, arriving at a time
    most_refused: int = 1000  # of one site, in a week
    read_apart: bool = True  # whether pushed files are read, and designs worked out, in processes of their own
    longest_design: float = 30.0  # seconds that working out a design may take
    hosts: tuple[str, ...] = ()  # what requests may call this server; anything where none is listed
    behind_proxy: bool = False  # whether X-Forwarded-For tells the address
