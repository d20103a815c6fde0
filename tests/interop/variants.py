"""Samples as they would be with the other GitOps engine."""

import pathlib
import re
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from support.program import ROOT  # noqa: E402


def engines():
    """The engines that the blueprint schema knows."""
    text = (ROOT / "providers/gitops/schema.yaml").read_text()
    match = re.search(r"engine:.*?enum: \[([^\]]+)\]", text, re.S)
    if not match:
        sys.exit("providers/gitops/schema.yaml: no enum of engines")
    return [word.strip() for word in match[1].split(",")]


def write_variant(sample, engine, folder):
    """Copies the sample, its facts and what it refers to, with this engine; gives the copy."""
    text = sample.read_text()
    changed, count = re.subn(r"\bengine:\s*[a-z]+", f"engine: {engine}", text)
    if count != 1:
        sys.exit(f"{sample}: names {count} engines, wanted one")
    shutil.copytree(sample.parent, folder)
    target = folder / sample.name
    target.write_text(changed)
    return target
