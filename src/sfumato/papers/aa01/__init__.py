"""Agrawal and Aggarwal (2001): densities from additive noise, what they lose, and what privacy is left."""

from sfumato.papers.aa01 import example1, information, reconstructed, size, trade_off

FIGURES = (
    example1.EXAMPLE1,
    information.FIGURE1,
    *reconstructed.FIGURES,
    *trade_off.FIGURES,
    size.FIGURE9,
)
