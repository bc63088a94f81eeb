"""Tan and Ng (2007): kernel resampling at many sites, what it costs classifiers, and what it discloses."""

from sfumato.papers.tan07 import kernel, privacy_loss, projection, sites, tables

FIGURES = (
    kernel.FIGURE1,
    kernel.FIGURE2,
    *projection.LEMMAS,
    privacy_loss.SECTION6_1,
    tables.TABLE1,
    tables.TABLE2,
    *sites.FIGURES,
)
