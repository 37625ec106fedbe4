"""kill -9 of both servers of real rounds: `python -m tests.crash.gather.kills 200` does more of it."""

import os
import subprocess
import sys


def test_every_sum_is_right_or_refused():
    # In a process of its own: it forks, and one with threads may not be forked safely.
    small = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "tests.crash.gather.kills", "24"], capture_output=True, text=True, check=False,
        timeout=900, env=os.environ | small,
    )  # fmt: skip
    print(done.stdout)
    assert done.returncode == 0, done.stdout + done.stderr[-3000:]
    assert "wrong 0" in done.stdout
