"""Sfumato: mine data that nobody may see in the clear."""
