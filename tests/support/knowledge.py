"""A copy of the project's knowledge to change, and the whole program on it.

`gpuctl_beside` is gpuctl that reads the file knowledge.image beside it: knowledge that was changed is checked and
packed as the build does it, but nothing is compiled or linked again.
"""

import pathlib
import shutil

from support.program import ROOT, run


class Copy:
    """Knowledge below `root`, and a program on it: `root`/build/release/gpuctl."""

    def __init__(self, root, build):
        """`build` is the folder of the build whose gpuctl_pack and gpuctl_beside are taken."""
        self.root, self.packer = pathlib.Path(root), pathlib.Path(build) / "gpuctl_pack"
        for part in ("providers", "templates", "docs/codes", "docs/reference", "blueprints"):
            if not (self.root / part).exists():
                shutil.copytree(ROOT / part, self.root / part)
        self.gpuctl = self.root / "build/release/gpuctl"
        self.gpuctl.parent.mkdir(parents=True)
        shutil.copy(pathlib.Path(build) / "tests/gpuctl_beside", self.gpuctl)

    def pack(self):
        """Checks and packs the knowledge as the build does; the messages of gpuctl_pack, empty when it took all."""
        image = self.gpuctl.parent / "knowledge.image"
        done = run([self.packer, self.root, image])
        return "" if done.returncode == 0 else done.stderr.decode() or f"gpuctl_pack: exit code {done.returncode}"

    def read(self, path):
        return (self.root / path).read_text()

    def write(self, path, text):
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text)
