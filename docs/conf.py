"""How the documentation site is built: `make docs`, pages in docs/_build/html."""

import shutil
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "extensions"))

import saved_pictures  # noqa: E402

import sfumato  # noqa: E402

project = "Sfumato"
author = "the Sfumato authors"
version = release = sfumato.__version__
language = "en"

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_gallery.gen_gallery",
    "mathml",
    "plain_docstrings",
]
exclude_patterns = ["_build", "extensions", "gallery/*.py", "gallery/*.ipynb"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
default_role = "literal"
nitpicky = False

myst_enable_extensions = ["colon_fence", "dollarmath", "deflist"]
myst_heading_anchors = 4

autodoc_typehints = "none"
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True, "no-value": True}
autosummary_generate = True
autosummary_imported_members = True
autosummary_ignore_module_all = False

# Examples write their pictures and files where they run: they run on a copy.
EXAMPLES = HERE / "_build" / "examples"
shutil.rmtree(EXAMPLES, ignore_errors=True)
shutil.copytree(HERE.parent / "examples", EXAMPLES, ignore=shutil.ignore_patterns("__pycache__"))
sphinx_gallery_conf = {
    "examples_dirs": str(EXAMPLES),
    "gallery_dirs": "gallery",
    "filename_pattern": r"/(?!spark_job)\w+\.py$",  # Java may be missing where the site is built
    "image_scrapers": (saved_pictures.SavedPictures(),),
    "reset_modules": (),
    "default_thumb_file": str(HERE / "pictures" / "idea.png"),
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "ignore_repr_types": r"matplotlib\.",  # the picture itself is shown
    "min_reported_time": 10**6,
    "remove_config_comments": True,
    "write_computation_times": False,
    "within_subsection_order": "FileNameSortKey",
}

html_theme = "pydata_sphinx_theme"
html_title = "Sfumato"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_favicon = "static/mark.svg"
html_context = {"default_mode": "auto"}
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "logo": {"text": "Sfumato"},
    "navbar_end": ["theme-switcher"],
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "show_prev_next": True,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
