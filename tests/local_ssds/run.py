#!/usr/bin/env python3
"""The script that makes a file system of raw local SSDs, with doubles of the programs that touch disks.

  run.py [--gpuctl FILE]
"""

import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from support import jobs  # noqa: E402
from support.program import ROOT, Tally, arguments, run  # noqa: E402

BLUEPRINT = ROOT / "tests/golden/render/local-storage-gke/blueprint.yaml"
PROGRAMS = ("mountpoint", "blkid", "lsblk", "mdadm", "mkfs.ext4", "mount")
TYPE = 'case "$*" in *TYPE*) echo {};; esac; exit 0'
# What a machine has: number of disks, what programs do beyond noting their call, exit, calls that change something.
CREATE = "mdadm --create /dev/md/0 --run --force --level=0 --raid-devices=2 DISKS/google-local-ssd-block0 DISKS/google-local-ssd-block1"
FORMAT, MOUNT = "mkfs.ext4 -q /dev/md/0", "mount -t ext4 -o discard,defaults {} MNT/raid/0"
CASES = {
    "empty disks": (2, {"blkid": "exit 2"}, 0, [CREATE, FORMAT, MOUNT.format("/dev/md/0")]),
    "mounted": (2, {"mountpoint": "exit 0"}, 0, []),
    "a file system of somebody": (1, {"blkid": TYPE.format("xfs")}, 1, []),
    "signatures that contradict": (1, {"blkid": "exit 8"}, 1, []),
    "an array, not started": (1, {"blkid": TYPE.format("linux_raid_member")}, 0,
                              ["mdadm --assemble --run /dev/md/0 DISKS/google-local-ssd-block0", MOUNT.format("/dev/md/0")]),
    "an array, started": (1, {"blkid": TYPE.format("linux_raid_member"), "lsblk": "echo '/dev/nvme0n1 disk'; echo '/dev/md127 raid0'"},
                          0, [MOUNT.format("/dev/md127")]),
    "no disks": (0, {}, 1, []),
    "an array that cannot be made": (2, {"blkid": "exit 2", "mdadm": "exit 1"}, 1, [CREATE]),
}


def script_of(gpuctl, place):
    container = jobs.container_of(jobs.rendered(gpuctl, BLUEPRINT, place, "daemonset-*-local-ssd-disks.yaml"))
    return next(one["value"] for one in container["env"] if one["name"] == "STARTUP_SCRIPT")


def machine(place, script, disks, answers):
    """Runs the script; its exit, and the calls that change something."""
    (place / "bin").mkdir()
    (place / "disks").mkdir()
    for number in range(disks):
        (place / f"disks/google-local-ssd-block{number}").touch()
    answers = {"mountpoint": "exit 1", **answers}
    for name in PROGRAMS:
        program = place / "bin" / name
        program.write_text(f'#!/bin/bash\necho "{name} $*" >> {place}/calls\n{answers.get(name, "")}\n')
        program.chmod(0o755)
    script = script.replace("/dev/disk/by-id", f"{place}/disks").replace("/mnt/disks", f"{place}/mnt")
    outcome = run(["bash", "-c", script], env={"PATH": f"{place}/bin:/usr/bin:/bin"})
    calls = (place / "calls").read_text().replace(f"{place}/disks", "DISKS").replace(f"{place}/mnt", "MNT").splitlines()
    return outcome, [call for call in calls if call.split()[0] in ("mdadm", "mkfs.ext4", "mount")]


def main():
    options = arguments(__doc__)
    tally = Tally()
    with tempfile.TemporaryDirectory() as directory:
        place = pathlib.Path(directory)
        (place / "out").mkdir()
        script = script_of(options.gpuctl, place / "out")
        for number, (name, (disks, answers, code, changes)) in enumerate(CASES.items()):
            (place / str(number)).mkdir()
            outcome, calls = machine(place / str(number), script, disks, answers)
            tally.check(outcome.returncode == code and calls == changes,
                        f"{name}: exit {outcome.returncode}, {calls}, {outcome.stderr.decode()}")
    tally.close()


if __name__ == "__main__":
    main()
