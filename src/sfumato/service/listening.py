"""Sockets that listen, taken before anything is written: a port in use is said in a line."""

from __future__ import annotations

import errno
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from sfumato.errors import SfumatoError

#: An address that a name has and this machine does not: the others of that name will do.
_ELSEWHERE = (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT)


@contextmanager
def listening(host: str, port: int) -> Iterator[list[socket.socket]]:
    """Listen at every address of a host, all with one port; port 0 takes any free one."""
    with ExitStack() as held:
        found: list[socket.socket] = []
        for family, address in _addresses(host, port):
            own = socket.socket(family)
            try:
                _listen(own, (address, found[0].getsockname()[1] if found else port))
            except OSError as problem:
                own.close()
                if problem.errno not in _ELSEWHERE:
                    raise SfumatoError(_why_not(problem, port, host)) from None
            else:
                found.append(held.enter_context(own))
        if not found:
            raise SfumatoError(f"{host} is no address of this machine: give another --host, 0.0.0.0 for all of its own")
        yield found


def _addresses(host: str, port: int) -> list[tuple[socket.AddressFamily, str]]:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise SfumatoError(f"{host} is no address: give another --host, 0.0.0.0 for all of this machine") from None
    return list(dict.fromkeys((family, str(address[0])) for family, _, _, _, address in found))


def _listen(own: socket.socket, address: tuple[str, int]) -> None:
    own.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if own.family == socket.AF_INET6:
        own.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
    own.bind(address)
    own.listen()


def _why_not(problem: OSError, port: int, host: str) -> str:
    if problem.errno == errno.EADDRINUSE:
        return f"port {port} of {host} is in use: give another with --port, 0 for any free one"
    if problem.errno in (errno.EACCES, errno.EPERM):
        return f"port {port} of {host} may not be listened on: give another with --port, 1024 or above"
    return f"port {port} of {host} cannot be listened on: give another with --port"
