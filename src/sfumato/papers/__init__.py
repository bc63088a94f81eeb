"""Figures, tables and claims of published papers, measured again and set beside what was printed."""
