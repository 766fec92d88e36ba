"Packaging: everything comes from settings.ini"
import shlex
from configparser import ConfigParser
from pathlib import Path

from setuptools import find_packages, setup

here = Path(__file__).parent
ini = ConfigParser(delimiters=['='])
ini.read(here/'settings.ini', encoding='utf-8')
cfg = ini['DEFAULT']
extras = {key.removesuffix('_requirements'): shlex.split(cfg[key]) for key in cfg if key.endswith('_requirements')}
minor = int(cfg['min_python'].split('.')[1])

setup(
    name=cfg['lib_name'], version=cfg['version'], description=cfg['description'], keywords=cfg['keywords'],
    author=cfg['author'], author_email=cfg['author_email'], url=cfg['git_url'], license='Apache-2.0',
    long_description=(here/'README.md').read_text(encoding='utf-8'), long_description_content_type='text/markdown',
    packages=find_packages(include=['dp_pmt', 'dp_pmt.*']), include_package_data=True, zip_safe=False,
    python_requires=f">={cfg['min_python']}", install_requires=shlex.split(cfg['requirements']), extras_require=extras,
    entry_points={'console_scripts': cfg['console_scripts'].split(), 'nbdev': [f"{cfg['lib_path']} = {cfg['lib_path']}._modidx:d"]},
    classifiers=['Development Status :: 3 - Alpha', 'Intended Audience :: Science/Research',
                 'Framework :: Jupyter', 'Topic :: Scientific/Engineering :: Mathematics', 'Programming Language :: Python :: 3']
        + [f'Programming Language :: Python :: 3.{v}' for v in range(minor, 14)],
)
