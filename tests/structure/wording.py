#!/usr/bin/env python3
"""What people read uses the field's terms and plain English: no phrase of WORDINGS stands in pages, messages, help,
templates or samples. Decisions are left as they were written.
"""

import re

from common import ROOT, close, relative

# What is not written -> what is instead.
WORDINGS = {
    r"without a word": "silently",
    r"belongs? into": "belongs in",
    r"for ever": "forever",
    r"MIG parts?": "MIG instance",
    r"memory units?": "memory slice",
    r"GPUs? that (?:can be|are|is) cut": "GPUs that support MIG, or are partitioned",
    r"GitOps engines?|[Tt]he engine's|[Ee]ither engine": "GitOps controller",
    r"run-books?": "runbook",
    r"nothing to object to": "success",
    r"the same again": "second run",
    r"somebody else was faster": "the branch moved",
    r"is said when": "means",
    r"[Ii]t takes git": "Requires git",
}
# What README says.
SENTENCES = ("Plan MIG layouts before you deploy",)
FOLDERS = ("docs", "providers", "templates", "blueprints", "src")
SUFFIXES = {".md", ".yaml", ".cpp", ".hpp", ".sh", ".yml"}
LEFT = (ROOT / "docs/decisions", ROOT / "docs/coverage")


def pages():
    found = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*") if path.suffix in SUFFIXES]
    found += [*ROOT.glob("*.md"), *(ROOT / "tests").rglob("README.md"), ROOT / "install.sh"]
    return sorted(path for path in found
                  if not any(path.is_relative_to(folder) for folder in LEFT))


def main():
    findings = []
    files = pages()
    wordings = {re.compile(r"\b" + phrase.replace(" ", r"[ \n]+") + r"\b"): better for phrase, better in WORDINGS.items()}
    for path in files:
        text = path.read_text()
        for phrase, better in wordings.items():
            for found in phrase.finditer(text):
                line = text.count("\n", 0, found.start()) + 1
                findings.append(f"{relative(path)}:{line}: `{' '.join(found[0].split())}`: write {better}")
    readme = " ".join((ROOT / "README.md").read_text().split())
    findings += [f"README.md: does not say `{sentence}`" for sentence in SENTENCES if sentence not in readme]
    return close(findings, len(files), "files")


if __name__ == "__main__":
    raise SystemExit(main())
