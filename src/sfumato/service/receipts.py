"""Receipts: digests over what the server took, which whoever sent it can compute again."""

from __future__ import annotations

import hashlib


def response_receipt(study: str, id: str, fingerprint: str, form: int, codes: str) -> bytes:
    """SHA-256 over all that was stored; the respondent computes it again from the answer that the device keeps."""
    return hashlib.sha256(f"sfumato response 1|{study}|{id}|{fingerprint}|{form}|{codes}".encode()).digest()


def upload_receipt(study: str, id: str, digest: str, rows: int) -> str:
    """SHA-256 over a file that was taken, by its digest and its rows."""
    return hashlib.sha256(f"sfumato upload 1|{study}|{id}|{digest}|{rows}".encode()).hexdigest()
