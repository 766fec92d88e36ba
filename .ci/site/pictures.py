"""Pictures as lines: every figure of a notebook as SVG, for a light page and for a dark one

Notebooks keep their figures as PNG. Here the cells behind the figures run once more. If all pictures are those that are
saved, they are taken as SVG. If not, the whole notebook runs: noise without a seed gives another picture each time, and
its checks hold for each. The figure of a slow cell keeps its PNG."""
import hashlib
import json
import os
import re
import sys
from base64 import b64decode
from colorsys import hls_to_rgb, rgb_to_hls
from html import escape
from io import BytesIO


def key_of(png):
    "What a saved picture is known by"
    return hashlib.sha256(''.join(png).strip().encode()).hexdigest()[:20]


# Runs

def same(a, b, strict):
    "Are two PNGs, in base64, the same picture? A rounded edge may differ, a curve may not; if not strict, they need the same size"
    import numpy as np
    from PIL import Image
    a, b = (Image.open(BytesIO(b64decode(''.join(x)))).convert('L') for x in (a, b))
    if max(abs(p - q) for p, q in zip(a.size, b.size)) > 3: return False
    if not strict: return True
    size = min(a.width, b.width), min(a.height, b.height)
    a, b = (np.asarray(x.crop((0, 0, *size)), float) for x in (a, b))
    return bool((abs(a - b) > 60).mean() < .004)


def pngs(cell): return [o['data']['image/png'] for o in cell.get('outputs', []) if 'image/png' in o.get('data', {})]


def run(path, cells, strict):
    "Run some cells of a notebook in order; {key of the saved PNG: [SVG, width]} of the figures that came out as they are saved"
    from execnb.shell import CaptureShell
    from matplotlib.figure import Figure
    from dp_pmt.figures import _svg
    shell, found = CaptureShell(path, mpl_format='png'), {}
    shell.display_formatter.formatters['image/svg+xml'].for_type(Figure, lambda fig: json.dumps(_svg(fig)))
    for c in cells:
        saved = pngs(c)
        shell.cell(c)
        if shell.exc: continue # it reads what a slow cell sets
        new = [o['data'] for o in c.outputs if 'image/svg+xml' in o.get('data', {})]
        for png, data in zip(saved, new if len(new) == len(saved) else []):
            if same(png, data['image/png'], strict): found[key_of(png)] = json.loads(''.join(data['image/svg+xml']))
    return found


def draw(path, target, needed, skip):
    "Run what a notebook's figures need, and all of it if that doesn't give every picture again; write what was found"
    os.environ.update(MPLBACKEND='module://matplotlib_inline.backend_inline')
    os.chdir(path.parent)
    from execnb.nbio import read_nb
    nb = read_nb(path)
    last = max(i for i, c in enumerate(nb.cells) if pngs(c))
    wanted = {key_of(p) for c in nb.cells if c.cell_type == 'code' and not skip(c) for p in pngs(c)}
    some = [nb.cells[i] for i in needed(nb.cells, pngs)]
    found = run(path, [c for c in some if not skip(c)], strict=True)
    if wanted - set(found):
        nb = read_nb(path) # with the outputs as they are saved
        found = run(path, [c for c in nb.cells[:last + 1] if c.cell_type == 'code' and not skip(c)], strict=False) | found
    target.write_text(json.dumps(found))


# Colours

def at_night(color):
    "A colour for a dark page: black and grey turned round, dark colours lightened, the hue kept"
    r, g, b = (int(color[i:i + 2], 16)/255 for i in (1, 3, 5))
    h, light, s = rgb_to_hls(r, g, b)
    if max(r, g, b) - min(r, g, b) < .08: light = .07 if light > .985 else .98 - .8*light # white -> the page's own dark, light grey -> still seen on it
    elif light > .75: light, s = .98 - .8*light, .6*s # a pale ground, with words on it that turn white
    else: light = light + (.62 - light)*.85 if light < .61 else light + .14 # the pale of two blues stays the paler
    return '#' + ''.join(f'{round(255*v):02x}' for v in hls_to_rgb(h, light, s))


def dark(svg):
    "An SVG for a dark page; one that holds an image, with words on it perhaps, is turned round as a whole"
    if '<image' in svg: return svg.replace('<svg ', '<svg style="filter: invert(1) hue-rotate(180deg)" ', 1)
    svg = re.sub(r'#[0-9a-fA-F]{6}\b', lambda m: at_night(m[0]), svg)
    # what has no colour is black
    return svg.replace('<svg ', f'<svg fill="{at_night("#000000")}" ', 1)


def write(svg, folder):
    "Both files; their names"
    name = hashlib.sha256(svg.encode()).hexdigest()[:20]
    folder.mkdir(exist_ok=True, parents=True)
    for suffix, text in (('', svg), ('-dark', dark(svg))): (folder/f'{name}{suffix}.svg').write_text(text, encoding='utf-8')
    return f'{name}.svg', f'{name}-dark.svg'


def tags(svg, folder, address, attributes):
    "Two `<img>`, of which the page shows one"
    day, night = write(svg, folder)
    return ''.join(f'<img class="{when}" {attributes} loading="lazy" src="{address}{name}">' for when, name in (('day', day), ('night', night)))


def size(svg, width):
    "Width and height on a page: larger than in a notebook by three tenths, but not beyond a screen"
    w, h = (float(re.search(rf'{side}="([\d.]+)pt"', svg)[1]) for side in ('width', 'height'))
    scale = min(1.3, max(1., 700/(width*h/w)))
    least = .52*scale*width # on a phone it fits, or scrolls in its box, its letters then a third larger
    wide = f' style="min-width: {min(1.3*least, 800):.0f}px"' if least > 445 else ''
    return f'width="{scale*width:.0f}" height="{scale*width*h/w:.0f}"{wide}'


def image(svg, width, alt, folder, address):
    "A figure of a page"
    return tags(svg, folder, address, f'alt="{escape(alt)}" {size(svg, width)}')


def frame(svg, attributes, folder, address):
    "A frame of a demo; it says its width itself"
    width = int(re.search(r' width="(\d+)"', attributes)[1])
    return tags(svg, folder, address, re.sub(r' width="\d+"', ' ' + size(svg, width), attributes))


if __name__ == '__main__': sys.exit('build.py calls this')
