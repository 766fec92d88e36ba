"Sphinx settings; what the project is called and where it lives stands in settings.ini"
import re
from configparser import ConfigParser
from html import escape
from pathlib import Path

from docutils import nodes
from sphinx.util.nodes import make_refnode

root = Path(__file__).resolve().parents[2]
ini = ConfigParser(delimiters=['=']); ini.read(root/'settings.ini', encoding='utf-8'); cfg = ini['DEFAULT']

project, author, copyright, release = cfg['title'], cfg['author'], cfg['copyright'], cfg['version']
extensions = ['myst_nb']
nb_execution_mode = 'off'
nb_merge_streams = True
nb_code_prompt_show, nb_code_prompt_hide = 'Show the {type}', 'Hide the {type}'
nb_ipywidgets_js = {'widgets/embed.js': {}}
myst_enable_extensions = ['dollarmath', 'amsmath', 'colon_fence', 'fieldlist']
myst_update_mathjax = False
myst_heading_anchors = 3
mathjax_path = 'mathjax/tex-chtml-full.js'
add_module_names = False
python_maximum_signature_line_length = 88
toc_object_entries_show_parents = 'hide'

html_theme = 'sphinx_book_theme'
html_title = cfg['title']
html_static_path = [str(root/'_proc'/'static')]
html_css_files, html_js_files = ['site.css'], [('site.js', {'priority': 100})]
html_favicon = str(root/'.ci'/'site'/'favicon.svg')
html_copy_source = False
html_last_updated_fmt = None
html_baseurl = f"{cfg['doc_host']}{cfg['doc_baseurl']}/"
html_theme_options = dict(
    repository_url=cfg['git_url'], repository_branch=cfg['branch'], path_to_docs='nbs',
    use_repository_button=True, use_source_button=True, use_download_button=False, use_fullscreen_button=False,
    launch_buttons=dict(colab_url='https://colab.research.google.com', binderhub_url='https://mybinder.org', notebook_interface='jupyterlab'),
    home_page_in_toc=False, show_toc_level=2, show_navbar_depth=1, extra_footer=f"{escape(cfg['description'])}. Apache-2.0.",
)


def link_names(app, doctree, docname):
    "A name of the package in backticks leads to its entry"
    domain = app.env.get_domain('py')
    short = {}
    for full, obj in domain.objects.items():
        if obj.objtype == 'module': continue
        short[full] = obj
        inner = full.split('.', 2)[-1] # dp_pmt.module.Name.method -> Name.method
        short[inner] = obj
    ids = {id(o): full for full, o in domain.objects.items()}
    for lit in list(doctree.findall(nodes.literal)):
        name = re.sub(r'\(.*\)$', '', lit.astext())
        if name not in short or isinstance(lit.parent, (nodes.reference, nodes.title)) or any(isinstance(p, nodes.reference) for p in (lit.parent, lit.parent.parent)): continue
        obj = short[name]
        if obj.docname == docname and any(obj.node_id in p.get('ids', []) for p in [getattr(lit.parent.parent, 'parent', None)] if isinstance(p, nodes.Element)): continue
        lit.replace_self(make_refnode(app.builder, docname, obj.docname, obj.node_id, lit.deepcopy(), ids[id(obj)]))


def meta(app, pagename, templatename, context, doctree):
    "Description and social card; pages that no notebook makes offer no link to one"
    text = ''
    if doctree is not None:
        quote = next(iter(doctree.findall(nodes.block_quote)), None)
        text = quote.astext() if quote is not None else cfg['description']
        tags = {'og:title': context['title'], 'og:description': text, 'og:image': html_baseurl + '_static/card.png', 'og:type': 'article', 'og:site_name': project,
                'og:url': f'{html_baseurl}{pagename}.html', 'twitter:card': 'summary_large_image'}
        context['metatags'] = context.get('metatags', '') + f'<meta name="description" content="{escape(text)}">' + \
            ''.join(f'<meta property="{k}" content="{escape(re.sub("<[^>]+>", "", v))}">' for k, v in tags.items())


def setup(app):
    app.connect('doctree-resolved', link_names)
    app.connect('html-page-context', meta)
