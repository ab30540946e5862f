"""What `probe`, `count` and `diagnose` share: programs that are built on one machine and run on another."""

import os
import shutil
from pathlib import Path


def add_musl(folder, cpu, root):
    """A compiler for musl, as musl-tools has one for the machine it is on."""
    folder = folder / "tools"
    folder.mkdir(exist_ok=True)
    text = (Path(root) / f"usr/lib/{cpu}-linux-musl/musl-gcc.specs").read_text()
    for path in ("/usr/include/", "/usr/lib/"):
        text = text.replace(path, f"{root}{path}")
    (folder / "specs").write_text(text)
    (folder / "musl-gcc").write_text(f'#!/bin/sh\nexec {cpu}-linux-gnu-gcc "$@" -specs {folder / "specs"}\n')
    (folder / "musl-gcc").chmod(0o755)
    os.environ["PATH"] = f"{folder}:{os.environ['PATH']}"


def copied(folder, into):
    """The files of a folder in another one."""
    for path in folder.iterdir():
        if path.is_file():
            shutil.copy(path, into)
    return Path(into)


def chosen(names, words):
    """The cases among names that begin with one of the words, or all."""
    return {k: v for k, v in names.items() if any(k.startswith(f"test_{w}") for w in words or ("",))}
