"""Configuration of Sphinx for the site; `docs/build.py` runs it on a folder of pages that it writes."""

from pathlib import Path

project = "Arignote"
author = "the Arignote developers"
html_title = "Arignote"
extensions = ["myst_parser", "sphinx_copybutton"]
source_suffix = {".md": "markdown"}
root_doc = "index"
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4
suppress_warnings = ["myst.xref_missing", "misc.highlighting_failure"]  # links.py checks links in the finished pages
add_module_names = False
python_maximum_signature_line_length = 88
python_display_short_literal_types = True
highlight_language = "python"
pygments_style = "tango"
pygments_dark_style = "github-dark"

html_theme = "furo"
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#303f9f", "color-brand-content": "#303f9f"},
    "dark_css_variables": {"color-brand-primary": "#8ab4ff", "color-brand-content": "#8ab4ff"},
    "navigation_with_keys": True,
}
html_static_path = ["assets"]
html_css_files = ["site.css"]
html_js_files = [("rules.js", {"defer": "defer"})]
html_favicon = "assets/icon.svg"
html_search_scorer = str(Path(__file__).parent / "assets" / "scorer.js")
html_use_index = False
html_show_search_summary = False  # it would fetch pages, which browsers refuse in the file system
html_copy_source = False
html_show_sourcelink = False
