"Sphinx settings; what the project is called and where it lives stands in settings.ini"
import re
from configparser import ConfigParser
from html import escape
from pathlib import Path

from docutils import nodes
from sphinx import addnodes
from sphinx.util.nodes import make_refnode

root = Path(__file__).resolve().parents[2]
ini = ConfigParser(delimiters=['=']); ini.read(root/'settings.ini', encoding='utf-8'); cfg = ini['DEFAULT']

project, author, copyright, release = cfg['title'], cfg['author'], cfg['copyright'], cfg['version']
extensions = ['myst_nb']
nb_execution_mode = 'off'
nb_merge_streams = True
nb_render_markdown_format = 'myst' # tables of pipes in outputs too
nb_code_prompt_show, nb_code_prompt_hide = 'Show the {type}', 'Hide the {type}'
nb_ipywidgets_js = {}
myst_enable_extensions = ['dollarmath', 'amsmath', 'colon_fence', 'fieldlist']
myst_update_mathjax = False
myst_dmath_double_inline = True # $$ may stand inside a paragraph, as in Jupyter
myst_heading_anchors = 3
mathjax_path = 'mathjax.js' # taken out again: finish.py turns formulas into MathML
add_module_names = False
python_maximum_signature_line_length = 120
toc_object_entries_show_parents = 'hide'

html_theme = 'sphinx_book_theme'
html_title = cfg['title']
html_static_path = [str(root/'_proc'/'static')]
html_css_files, html_js_files = ['site.css'], [('site.js', {'priority': 100})]
html_favicon = str(root/'.ci'/'site'/'favicon.svg')
html_context = {'default_mode': 'auto'}
html_copy_source = False
html_last_updated_fmt = None
html_baseurl = f"{cfg['doc_host']}{cfg['doc_baseurl']}/"
html_theme_options = dict(
    repository_url=cfg['git_url'], repository_branch=cfg['branch'], path_to_docs='nbs',
    use_repository_button=True, use_source_button=True, use_download_button=False, use_fullscreen_button=False,
    launch_buttons=dict(colab_url='https://colab.research.google.com', binderhub_url='https://mybinder.org', notebook_interface='jupyterlab'),
    navbar_start=[], navbar_center=[], navbar_end=[], navbar_persistent=[],
    home_page_in_toc=False, show_toc_level=1, show_navbar_depth=1, extra_footer=f"{escape(cfg['description'])}. Apache-2.0.",
)


PARAMETERS = {'eps', 'rho', 'delta', 'B', 'y', 'd', 'n'} # short names that mean a parameter, not an entry


def link_names(app, doctree, docname):
    "A name of the package in backticks leads to its entry; a method only as `Name.method`, or where no other has the name"
    objects = app.env.get_domain('py').objects
    public = {full.rsplit('.', 1)[-1]: obj for full, obj in objects.items() if obj.objtype in ('function', 'class', 'data', 'exception')}
    known = {**{full.split('.', 2)[-1]: obj for full, obj in objects.items()}, **public, **objects}
    here = {full.rsplit('.', 1)[-1]: obj for full, obj in objects.items() if obj.docname == docname and obj.objtype in ('function', 'class', 'data')}
    for literal in list(doctree.findall(nodes.literal)):
        text = literal.astext()
        name = re.sub(r'^dp_pmt\.|\(.*\)$', '', text)
        entry = literal.parent
        while entry is not None and not isinstance(entry, addnodes.desc): entry = entry.parent
        own = set() if entry is None else set(re.findall(r'\w+', entry.astext().split(')')[0])) # its own parameters
        if name in own or name in PARAMETERS and name not in here: continue
        obj = here.get(name) or known.get(name)
        above = [literal.parent, literal.parent.parent]
        if obj and not any(isinstance(n, (nodes.reference, nodes.title)) for n in above):
            literal.replace_self(make_refnode(app.builder, docname, obj.docname, obj.node_id, literal.deepcopy()))


def meta(app, pagename, templatename, context, doctree):
    "A description from the page's promise, and the social card"
    if doctree is None: return
    promise = next(iter(doctree.findall(nodes.block_quote)), None)
    text = promise.astext() if promise else cfg['description']
    tags = {'og:title': re.sub('<[^>]+>', '', context['title']), 'og:description': text, 'og:image': html_baseurl + '_static/card.png', 'og:type': 'article',
            'og:site_name': project, 'og:url': f'{html_baseurl}{pagename}.html', 'twitter:card': 'summary_large_image'}
    context['metatags'] += f'<meta name="description" content="{escape(text)}">' + ''.join(f'<meta property="{k}" content="{escape(v)}">' for k, v in tags.items())


def buttons(app, pagename, templatename, context, doctree):
    "A page that no notebook made has no notebook to open"
    if not (root/'nbs'/f'{pagename}.ipynb').exists(): context['header_buttons'] = [b for b in context.get('header_buttons', []) if b.get('label') not in ('launch-buttons', 'source-buttons')]


def setup(app):
    app.connect('doctree-resolved', link_names)
    app.connect('html-page-context', meta)
    app.connect('html-page-context', buttons, priority=900) # after the theme has added its own
