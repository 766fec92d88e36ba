"The command as a user runs it: killed half-way, resumed, on one process and on two"
import gzip
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

COMMAND = [Path(sys.executable).parent/'dp_pmt_reproduce', '--only', 'wine', '--trials', '12']


def errors(folder):
    "Saved errors, without the times, which differ"
    lines = gzip.decompress((folder/'results.csv.gz').read_bytes()).decode().splitlines()
    at = lines[0].split(',').index('seconds')
    return [[v for i, v in enumerate(line.split(',')) if i != at] for line in lines]


def test_killed_run_resumes(tmp_path):
    "A run that is killed loses nothing that was finished, and ends in the numbers of an undisturbed one"
    whole, cut = tmp_path/'whole', tmp_path/'cut'
    subprocess.run([*COMMAND, '--out', whole, '--jobs', '2'], check=True, capture_output=True)
    run = subprocess.Popen([*COMMAND, '--out', cut, '--jobs', '1'], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    parts = lambda: [ln for f in cut.glob('parts/*.jsonl') for ln in f.read_bytes().splitlines(keepends=True) if ln.endswith(b'\n')]
    for _ in range(6000): # until some trials are done
        if len(parts()) >= 3 or run.poll() is not None: break
        time.sleep(.02)
    if run.poll() is None: os.kill(run.pid, signal.SIGKILL)
    run.wait(); before = parts()
    assert len(before) >= 3
    done = subprocess.run([*COMMAND, '--out', cut, '--jobs', '1'], check=True, capture_output=True, text=True)
    assert parts()[:len(before)] == before and len(parts()) == 12
    assert errors(whole) == errors(cut)
    assert 'exact' in done.stdout and 'too few trials' in done.stdout # 12 are
    assert 'standard errors' in done.stdout # what the verdicts mean
    assert (cut/'wine.png').stat().st_size > 10_000


def test_bad_arguments_get_a_sentence(tmp_path):
    for bad, says in ((['--only', 'beer'], 'must be one of'), (['--trials', 'many'], 'invalid int')):
        done = subprocess.run([COMMAND[0], '--out', tmp_path/'x', *bad], capture_output=True, text=True)
        assert done.returncode and says in done.stderr and 'Traceback' not in done.stderr, (bad, done.stderr)
    assert not Path(tmp_path/'x').exists() or not list(Path(tmp_path/'x').glob('*.csv*'))
