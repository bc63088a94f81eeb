"""Shows the PNG files that an example saves: our plots write files and open no figure, which the gallery looks for."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from sphinx_gallery.scrapers import figure_rst


class SavedPictures:
    """Every PNG beside the example that was not there at the block before."""

    def __init__(self) -> None:
        self.seen: set[tuple[Path, float]] = set()

    def __repr__(self) -> str:
        return "SavedPictures"

    def __call__(self, block: Any, variables: dict[str, Any], configuration: dict[str, Any]) -> str:
        shown = []
        for saved in sorted(Path(variables["src_file"]).parent.glob("*.png")):
            if (mark := (saved, saved.stat().st_mtime)) in self.seen:
                continue
            self.seen.add(mark)
            shown.append(variables["image_path_iterator"].next())
            shutil.copy(saved, shown[-1])
        return str(figure_rst(shown, configuration["src_dir"]))
