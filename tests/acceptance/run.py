#!/usr/bin/env python3
"""The scripts of acceptance tests, with programs in place of those that measure.

The Jobs of a golden case are rendered; each script runs in the shell of this machine, with folders of its own, and
programs that print what the real ones print: figures, errors, nothing. What counts is the exit code, and the last line,
which is also the message of the container.
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from support import jobs  # noqa: E402
from support.program import ROOT, Tally, arguments  # noqa: E402

BLUEPRINT = ROOT / "tests/golden/render/acceptance-openshift/blueprint.yaml"
MACHINES = ROOT / "tests/golden/render/acceptance-machines-openshift/blueprint.yaml"
RDMA = ROOT / "tests/golden/render/acceptance-rdma-vsphere/blueprint.yaml"
MATRIX = """Device 0: NVIDIA A100-SXM4-40GB (00000000:07:00)

Running host_to_device_memcpy_ce.
memcpy CE CPU(row) -> GPU(column) bandwidth (GB/s)
           0         1
 0     {first}     25.94

SUM host_to_device_memcpy_ce 51.97

Running device_to_host_memcpy_ce.
memcpy CE CPU(row) <- GPU(column) bandwidth (GB/s)
           0         1
 0     26.10     26.20

Running device_to_device_memcpy_read_ce.
memcpy CE GPU(row) -> GPU(column) bandwidth (GB/s)
           0         1
 0       N/A    276.07
 1    276.19       N/A
{more}
NOTE: The reported results may not reflect the full capabilities of the platform.
"""
REDUCED = """# nThread 1 nGpus 8 minBytes 536870912 maxBytes 8589934592 step: 2(factor)
   536870912     134217728     float     sum      -1   4100.1  130.94  229.15      0
# Out of bounds values : 0 OK
# Avg bus bandwidth    : 231.405 
#
# Collective test concluded: all_reduce_perf
"""


def says(text, code=0, stream=1):
    return f"#!/bin/sh\ncat >&{stream} <<'END'\n{text}\nEND\nexit {code}\n"


def ended(container, programs, **variables):
    """Exit code, last line and message of a script that has these programs."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for part in ("bin", "tmp", "data"):
            (folder / part).mkdir()
        for program, text in programs.items():
            jobs.put_program(folder / "bin", program, text)
        places = {"/dev/termination-log": "message", "/tmp": "tmp", "/data": "data"}
        script = re.sub("|".join(places), lambda found: f"{folder}/{places[found[0]]}", container["args"][0])
        env = {"PATH": f"{folder}/bin:/usr/bin:/bin"} | {one["name"]: one["value"] for one in container["env"] if "value" in one}
        done = subprocess.run([*container["command"], script, *container["args"][1:]], env=env | variables,
                              capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=jobs.TIMEOUT_S)
        message = folder / "message"
        lines = done.stdout.splitlines()
        return done.returncode, lines[-1] if lines else "", message.read_text().strip() if message.exists() else ""


def containers_of(gpuctl, blueprint, name):
    with tempfile.TemporaryDirectory() as scratch:
        job = jobs.rendered(gpuctl, blueprint, pathlib.Path(scratch), f"job-*-{name}-*.yaml")
    pod = job["spec"]["template"]["spec"]
    return {one["name"]: one for one in pod.get("initContainers", []) + pod["containers"]}


def cases(tests):
    """Name, container, programs, variables, and how it ends: whether it passes, and its last line."""
    engine = {"nv-hostengine": says("Started host engine"), "sleep": says("")}
    found = engine | {"dcgmi": says("Successfully ran diagnostic for group.")}
    yield "healthy GPUs", tests["diagnostics"], found, {}, True, "diagnosticsLevel=3"
    ill = engine | {"dcgmi": "#!/bin/sh\n[ \"$1\" = discovery ] || exit 226\n"}
    yield "an ill GPU", tests["diagnostics"], ill, {}, False, "diagnostics of level 3 failed with exit code 226"
    mute = engine | {"dcgmi": says("Error: unable to establish a connection", 255)}
    yield "no host engine", tests["diagnostics"], mute, {}, False, "the host engine of DCGM does not answer"

    matrix = MATRIX.format(first="26.03", more="")
    figures = "hostToDeviceGBps=25.94 deviceToHostGBps=26.1 deviceToDeviceGBps=276.07"
    yield "fast copies", tests["bandwidth"], {"nvbandwidth": says(matrix)}, {}, True, figures
    started = {"nvbandwidth": says(matrix), "mpirun": "#!/bin/sh\nshift 4\nexec \"$1\"\n"}
    yield "copies by MPI", tests["bandwidth"], started, {"EXPECT": ""}, True, figures
    slow = {"nvbandwidth": says(MATRIX.format(first="12.50", more=""))}
    yield ("one slow GPU", tests["bandwidth"], slow, {}, False,
           figures.replace("25.94", "12.5") + " below what is expected: hostToDeviceGBps<20")
    wrong = {"nvbandwidth": says(MATRIX.format(first="26.03", more="ERROR: Verification failed"))}
    yield "wrong copies", tests["bandwidth"], wrong, {}, False, "nvbandwidth found no bandwidth"
    ended_early = {"nvbandwidth": says("[CUDA_ERROR_NO_DEVICE] no CUDA-capable device", 1, 2)}
    yield "no GPU", tests["bandwidth"], ended_early, {}, False, "nvbandwidth failed with exit code 1"

    reduced = {"all_reduce_perf": says(REDUCED)}
    yield "fast links", tests["all-reduce"], reduced, {}, True, "busBandwidthGBps=231.405"
    yield ("slow links", tests["all-reduce"], reduced, {"EXPECT": "busBandwidthGBps=300"}, False,
           "busBandwidthGBps=231.405 below what is expected: busBandwidthGBps<300")
    other = {"all_reduce_perf_mpi": says(REDUCED)}
    yield "another name", tests["all-reduce"], other, {}, True, "busBandwidthGBps=231.405"
    bad = {"all_reduce_perf": says(REDUCED.replace("0 OK", "7 FAILED"), 7)}
    yield "wrong sums", tests["all-reduce"], bad, {}, False, "all_reduce_perf failed with exit code 7"
    yield "no program", tests["all-reduce"], {}, {}, False, "the image has no all_reduce_perf"

    copied = "20+0 records in\n20+0 records out\n21474836480 bytes (21 GB, 20 GiB) copied, 28.6331 s, 750 MB/s"
    yield "fast volume", tests["storage"], {"dd": says(copied, 0, 2)}, {}, True, "readMBps=750"
    yield ("slow volume", tests["storage"], {"dd": says(copied, 0, 2)}, {"EXPECT": "readMBps=900"}, False,
           "readMBps=750 below what is expected: readMBps<900")
    yield ("another dd", tests["storage"], {"dd": says("20+0 records in\n20+0 records out", 0, 2)}, {}, False,
           "dd is not that of GNU coreutils")
    full = {"dd": says("dd: error writing '/data/test': No space left on device", 1, 2)}
    yield "full volume", tests["storage"], full, {}, False, "the volume cannot be written"


def cases_between_machines(test):
    """The same of the test between machines, which are three of eight GPUs each."""
    torchrun = {"torchrun": f"#!{sys.executable}\n" + (pathlib.Path(__file__).parent / "torchrun.py").read_text()}
    first = {"JOB": "between-training-1a2b3c4d", "JOB_COMPLETION_INDEX": "0"}
    other = first | {"JOB_COMPLETION_INDEX": "2"}
    # 8 GB/s for two sizes, and half of it for three.
    figures = "betweenMachinesBusBandwidthGBps=5.60 network=pods"
    yield ("machines below what is expected", test, torchrun, first, False,
           figures + " below what is expected: betweenMachinesBusBandwidthGBps<6")
    yield "machines fast enough", test, torchrun, first | {"EXPECT": "betweenMachinesBusBandwidthGBps=5"}, True, figures
    yield ("machines, nothing expected", test, torchrun, first | {"EXPECT": "", "BUS": "100000000"}, True,
           "betweenMachinesBusBandwidthGBps=0.07 network=pods")
    yield ("another machine", test, torchrun, other, True, "the figure is in the message of the pod with index 0")
    small = {"FREE": str(3 * 2**30), "EXPECT": ""}
    yield ("small GPUs", test, torchrun, first | small, True, "betweenMachinesBusBandwidthGBps=8.00 network=pods")
    yield ("full GPUs", test, torchrun, other | {"FREE": str(2**29)}, False, "a GPU has less than 1 GiB of free memory")
    for pod in first, other:
        yield "machines, wrong sums", test, torchrun, pod | {"FAULT": "sum"}, False, "sums are wrong"
        yield ("machines that do not meet", test, torchrun, pod | {"FAULT": "network"}, False,
               "all-reduce among machines failed with exit code 1")
    if not shutil.which("torchrun", path="/usr/bin:/bin"):
        yield "no torchrun", test, {}, first, False, "the image has no torchrun"


def cases_over_rdma(test):
    """The test between three machines of four GPUs each, and what NCCL says of its connections."""
    torchrun = {"torchrun": f"#!{sys.executable}\n" + (pathlib.Path(__file__).parent / "torchrun.py").read_text()}
    first = {"JOB": "between-h100-1a2b3c4d", "JOB_COMPLETION_INDEX": "0", "BUS": "100000000000"}
    other = first | {"JOB_COMPLETION_INDEX": "1"}
    figures = "betweenMachinesBusBandwidthGBps=70.00 network=rdma transport=IB gpuDirect="
    yield "RDMA", test, torchrun, first | {"VIA": "IB/0/GDRDMA IB/1(3)/GDRDMA(PCI)/Shared"}, True, figures + "all"
    yield "RDMA past some GPUs", test, torchrun, first | {"VIA": "IB/0/GDRDMA IB/1(3)"}, True, figures + "some"
    yield "RDMA past GPUs", test, torchrun, first | {"VIA": "IB/0 IB/1"}, True, figures + "none"
    yield ("slow RDMA", test, torchrun, first | {"VIA": "IB/0", "BUS": "10000000000"}, False,
           figures.replace("70", "7") + "none below what is expected: betweenMachinesBusBandwidthGBps<40")
    yield ("RDMA on another machine", test, torchrun, other | {"VIA": "IB/0/GDRDMA"}, True,
           "the figure is in the message of the pod with index 0")
    for pod in first, other:
        yield ("sockets", test, torchrun, pod | {"VIA": "Socket/0 Socket/0"}, False,
               "NCCL took Socket between machines, not RDMA (IB)")
        yield ("sockets, too", test, torchrun, pod | {"VIA": "IB/0/GDRDMA Socket/0 IB/1/GDRDMA"}, False,
               "NCCL took Socket between machines, not RDMA (IB)")
        yield ("a plug-in", test, torchrun, pod | {"VIA": "IBext_v10/0/GDRDMA"}, False,
               "NCCL took IBext_v10 between machines, not RDMA (IB)")
        yield ("no word of a network", test, torchrun, pod, False,
               "NCCL took no network that its log names between machines, not RDMA (IB)")
        yield "no card", test, torchrun, pod | {"FAULT": "device"}, False, "NCCL found no RDMA device in the pod"
        yield ("machines that do not meet", test, torchrun, pod | {"FAULT": "network"}, False,
               "all-reduce among machines failed with exit code 1")


def main():
    options = arguments(__doc__)
    tally = Tally()
    tests = containers_of(options.gpuctl, BLUEPRINT, "gpu-training")
    between = containers_of(options.gpuctl, MACHINES, "between-training")["between-machines"]
    rdma = containers_of(options.gpuctl, RDMA, "between-h100")["between-machines"]
    context = rdma["securityContext"]
    tally.check(context["capabilities"] == {"drop": ["ALL"], "add": ["IPC_LOCK"]}
                and not context["allowPrivilegeEscalation"] and "privileged" not in context, f"over RDMA: {context}")
    tally.check(list(tests) == ["diagnostics", "bandwidth", "all-reduce", "storage"], f"tests are {list(tests)}")
    for what, container, programs, variables, passes, wanted in [*cases(tests), *cases_between_machines(between), *cases_over_rdma(rdma)]:
        code, last, message = ended(container, programs, **variables)
        tally.check((code == 0) == passes, f"{what}: ends with {code}, last line `{last}`")
        tally.check(last == wanted, f"{what}: last line `{last}`, wanted `{wanted}`")
        tally.check(message == wanted, f"{what}: message `{message}`, wanted `{wanted}`")
    tally.close()


if __name__ == "__main__":
    main()
