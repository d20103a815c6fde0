"""Stands in for torchrun and for PyTorch: one of the processes that torchrun starts, on a machine without GPUs.

What it must be started with is looked at. Time passes as all-reduce makes it pass: BUS says how many bytes a second the
network carries, for messages of 2 GiB and more half of it. FREE is the memory of a GPU in bytes; FAULT is `sum` where
sums come out wrong, `network` where processes do not find each other, and `device` where there is no card. VIA is the
end of the line by which NCCL tells of a connection to another machine; several are parted by spaces.
"""

import os
import runpy
import sys
import time
import types

SETTINGS = os.environ
RANKS = int(SETTINGS["MACHINES"]) * int(SETTINGS["GPUS"])
RANK = int(SETTINGS["JOB_COMPLETION_INDEX"]) * int(SETTINGS["GPUS"])
GIB = 2**30
clock = [0.0]


class Tensor:
    """As many numbers as it is asked for, all of them the same."""

    def __init__(self, count, width, value=None):
        self.count, self.width, self.value = count, width, value

    def __getitem__(self, part):
        assert part.stop <= self.count, "a message is larger than the memory that was taken"
        return Tensor(part.stop, self.width)

    def fill_(self, value):
        self.value = value

    def zero_(self):
        self.value = 0

    def min(self):
        return self

    max = min

    def item(self):
        return self.value


def all_reduce(data, op="sum"):
    size = data.count * data.width
    if op == "sum":
        data.value *= 1 if SETTINGS.get("FAULT") == "sum" else RANKS
        speed = int(SETTINGS.get("BUS", "8000000000")) / (2 if size >= 2 * GIB else 1)
        clock[0] += size * 2 * (RANKS - 1) / RANKS / speed


def init_process_group(backend, timeout):
    wanted = {"pods": ("Socket", "WARN"), "rdma": ("IB", "INFO")}[SETTINGS["NETWORK"]]
    assert (SETTINGS["NCCL_NET"], SETTINGS["NCCL_DEBUG"]) == wanted
    assert backend == "nccl" and timeout.total_seconds() == 600
    if SETTINGS.get("FAULT") == "device":
        print("gpu-0:71:71 [0] NCCL INFO NET/IB : No device found.", flush=True)
        raise RuntimeError("NCCL error: invalid usage")
    if SETTINGS.get("FAULT") == "network":
        raise RuntimeError("the network is down")
    print("gpu-0:71:71 [0] NCCL INFO Channel 00/0 : 1[1] -> 0[0] via P2P/CUMEM")
    for i, via in enumerate(SETTINGS.get("VIA", "").split()):
        print(f"gpu-0:71:90 [0] NCCL INFO Channel {i:02}/0 : 7[7] -> 8[0] [send] via NET/{via}", flush=True)


def module(name, **members):
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(members)
    return sys.modules[name]


WANTED = [
    "--nnodes=" + SETTINGS["MACHINES"],
    "--node_rank=" + SETTINGS["JOB_COMPLETION_INDEX"],
    "--nproc_per_node=" + SETTINGS["GPUS"],
    f"--master_addr={SETTINGS['JOB']}-0.between-machines",
    "--master_port=29500",
    "--rdzv_conf=timeout=" + SETTINGS["WAIT"],
    "all_reduce.py",
]
if sys.argv[1:] != WANTED:
    raise SystemExit(f"started with {sys.argv[1:]}, not with {WANTED}")
SETTINGS["LOCAL_RANK"] = "0"
time.perf_counter = lambda: clock[0]
distributed = module(
    "torch.distributed", ReduceOp=types.SimpleNamespace(MAX="max", MIN="min"), all_reduce=all_reduce,
    init_process_group=init_process_group, get_world_size=lambda: RANKS, get_rank=lambda: RANK,
    destroy_process_group=lambda: None)
cuda = types.SimpleNamespace(
    set_device=lambda index: None, synchronize=lambda: None,
    mem_get_info=lambda: (int(SETTINGS.get("FREE", str(40 * GIB))), 40 * GIB))
module("torch", distributed=distributed, cuda=cuda, float32=4, float64=8,
       empty=lambda count, dtype, device: Tensor(count, dtype),
       tensor=lambda values, dtype, device: Tensor(len(values), dtype, values[0]))
runpy.run_path(sys.argv[-1], run_name="__main__")
