"""Samples as they would be with either GitOps engine, wired to a repository."""

import pathlib
import re
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from support.program import ROOT  # noqa: E402

REPOSITORY = "https://git.example.com/fleet.git"


def engines():
    """The engines that the blueprint schema knows."""
    text = (ROOT / "providers/gitops/schema.yaml").read_text()
    match = re.search(r"engine:.*?enum: \[([^\]]+)\]", text, re.S)
    if not match:
        sys.exit("providers/gitops/schema.yaml: no enum of engines")
    return [word.strip() for word in match[1].split(",")]


def engines_of(sample):
    """Those that can be asked of a sample: only Argo CD has fleets."""
    return ["argocd"] if re.search(r"^    fleets:", sample.read_text(), re.M) else engines()


def with_engine(text, engine):
    """The blueprint's text with this engine; what else it says about GitOps stays."""
    wanted = {"engine": engine}
    if "repoURL:" not in text:
        wanted["repoURL"] = REPOSITORY
    block = re.search(r"^  gitops:[ ]*(\{.*\})?[^\n]*\n", text, re.M)
    if not block:
        return text.rstrip("\n") + "\n  gitops:\n" + "".join(
            f"    {key}: {value}\n" for key, value in wanted.items())
    if block[1]:
        flow = re.sub(r"\bengine:\s*\w+,?\s*", "", block[1])
        added = ", ".join(f"{key}: {value}" for key, value in wanted.items())
        inner = flow[1:-1].strip()
        replaced = f"  gitops: {{{added}{', ' if inner else ''}{inner}}}\n"
        return text[:block.start()] + replaced + text[block.end():]
    rest = re.sub(r"^    engine:.*\n", "", text[block.end():], count=1, flags=re.M)
    return text[:block.end()] + "".join(
        f"    {key}: {value}\n" for key, value in wanted.items()) + rest


def write_variant(sample, engine, folder):
    """Copies the samples and what lies beside them, one with this engine; gives that one."""
    shutil.copytree(sample.parent, folder)
    target = folder / sample.name
    target.write_text(with_engine(sample.read_text(), engine))
    return target
