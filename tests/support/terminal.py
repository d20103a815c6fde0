"""A pseudo terminal for programs that behave otherwise on one."""

import os
import pty
import subprocess
import time


def on_terminal(command, env):
    """(what standard error received on a terminal, exit code, seconds)."""
    reader, terminal = pty.openpty()
    start = time.monotonic()
    process = subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=terminal)
    os.close(terminal)
    got = b""
    while True:
        try:
            chunk = os.read(reader, 65536)
        except OSError:  # the other side is closed
            break
        if not chunk:
            break
        got += chunk
    os.close(reader)
    return got.decode("utf-8", "replace"), process.wait(), time.monotonic() - start
