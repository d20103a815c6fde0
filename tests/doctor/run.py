#!/usr/bin/env python3
"""The checks of doctor against real servers on loopback.

Each case runs in a network and a mount namespace of its own, where name servers listen at port 53,
registries at 443 and clocks at 123, and /etc/resolv.conf is the case's. Programs of clouds are
stand-ins that answer as the real ones do; the vCenter is the simulator.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from support.cases import case_arguments, chosen, outcome, run_all  # noqa: E402
from support.program import Tally, skip  # noqa: E402
from doctor import cases_clouds, cases_network, cases_vsphere  # noqa: E402
from doctor.network import Authority  # noqa: E402
from doctor.scene import Scene  # noqa: E402

CASES = [*cases_network.CASES, *cases_clouds.CASES, *cases_vsphere.CASES]
NAMESPACES = ["unshare", "--net", "--mount", "--propagation", "private"]
CASE_S = 240


def namespaces():
    words = NAMESPACES if os.geteuid() == 0 else [*NAMESPACES, "--user", "--map-root-user"]
    for tool in ("unshare", "ip", "mount", "openssl"):
        if not shutil.which(tool):
            skip("doctor", f"no {tool}")
    if subprocess.run([*words, "ip", "link", "set", "lo", "up"], capture_output=True,
                      check=False).returncode:
        skip("doctor", "no namespaces here")
    return words


def inside(name, options):
    """One case, in its namespaces: prints what failed, and how much was right."""
    function = dict(CASES)[name]
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        scene = Scene(options.gpuctl, folder, Authority(options.authority))
        with scene.stack:
            done = outcome(name, scene, lambda: function(scene))
    print(f"checked {done[1]}")
    for failure in done[2]:
        print("failed " + failure.replace("\n", "\n       "))
    sys.stdout.flush()
    os._exit(0)  # threads of servers


def outside(job):
    name, words, options = job
    started = time.monotonic()
    done = subprocess.run([*words, sys.executable, __file__, "--gpuctl", str(options.gpuctl),
                           "--authority", options.authority, "--case", name], capture_output=True,
                          check=False, timeout=CASE_S, stdin=subprocess.DEVNULL)
    text = done.stdout.decode(errors="replace")
    checked = [line for line in text.splitlines() if line.startswith("checked ")]
    failures = [part for part in text.split("failed ")[1:]]
    if not checked:
        failures.append(f"no end: {text}{done.stderr.decode(errors='replace')}")
    return (name, int(checked[0].split()[1]) if checked else 0, failures, [],
            time.monotonic() - started)


def add_options(parser):
    parser.add_argument("--authority", default="", help="folder with certificates")
    parser.add_argument("--case", default="", help="this case, in its namespaces")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count())


def main():
    options = case_arguments(__doc__, add_options)
    if options.case:
        inside(options.case, options)
    tally = Tally()
    names = [(name, function, ()) for name, function in CASES]
    picked = chosen(names, options, tally)
    words = namespaces()
    cases_vsphere.prepare()
    with tempfile.TemporaryDirectory() as folder:
        options.authority = folder
        Authority(folder).make()
        run_all(outside, [(case[0], words, options) for case in picked], options.jobs, tally)
    print(f"{len(picked)} cases")
    tally.close()


if __name__ == "__main__":
    main()
