"""The programs that are measured: those of this system, packages of the other architecture, and Debian's sources
built here. Everything is kept in one work folder and made once.

Packages come through apt with a private configuration derived from the system's own list of sources: the host's
apt state is only read."""

import glob
import os
import re
import shutil
import subprocess

TRIPLES = {"a64": "aarch64-linux-gnu", "x64": "x86_64-linux-gnu"}
DEBIAN = {"a64": "arm64", "x64": "amd64"}
HOST = {"aarch64": "a64", "x86_64": "x64"}[os.uname().machine]


class Missing(Exception):
    """A program cannot be had here; the measurement says so and goes on."""


def run(*command, **options):
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    if done.returncode != 0:
        raise Missing(f"{' '.join(command[:4])}: {done.stderr.strip()[-300:]}")
    return done.stdout


class Apt:
    """apt-get on a private state: kind is deb-src, or deb for packages of one architecture."""

    def __init__(self, folder, kind, architecture):
        self.folder, self.kind = folder, kind
        self.options = []
        for name in ("lists/partial", "cache/archives/partial"):
            os.makedirs(os.path.join(folder, name), exist_ok=True)
        self._write_sources()
        settings = {"Dir::Etc::sourcelist": self._sources_path(), "Dir::Etc::sourceparts": "/dev/null",
                    "Dir::State::Lists": os.path.join(folder, "lists"), "Dir::Cache": os.path.join(folder, "cache"),
                    "Dir::State::status": os.path.join(folder, "status"), "APT::Architecture": architecture,
                    "APT::Architectures": architecture, "APT::Sandbox::User": "root"}
        open(settings["Dir::State::status"], "a", encoding="ascii").close()
        for key, value in settings.items():
            self.options += ["-o", f"{key}={value}"]
        if not glob.glob(os.path.join(folder, "lists", "*_dists_*")):
            run("apt-get", "-qq", *self.options, "update")

    def _sources_path(self):
        return os.path.join(self.folder, "system.sources")

    def _write_sources(self):
        """All the system's sources in the one form that has fields."""
        entries = []
        for path in glob.glob("/etc/apt/sources.list.d/*.sources"):
            with open(path, encoding="utf-8") as f:
                text = re.sub(r"(?m)^#.*\n", "", f.read())
            text = re.sub(r"(?m)^Types:.*$", f"Types: {self.kind}", text)
            entries.append(re.sub(r"(?m)^Architectures:.*\n", "", text).strip())
        for path in ["/etc/apt/sources.list", *glob.glob("/etc/apt/sources.list.d/*.list")]:
            if os.path.exists(path):
                with open(path, encoding="utf-8") as f:
                    entries += [self._from_line(line) for line in f if line.startswith("deb ")]
        with open(self._sources_path(), "w", encoding="utf-8") as f:
            f.write("\n\n".join(entries) + "\n")

    def _from_line(self, line):
        m = re.match(r"deb\s+(?:\[(.*?)\]\s+)?(\S+)\s+(\S+)\s*(.*)", line)
        fields = [f"Types: {self.kind}", f"URIs: {m[2]}", f"Suites: {m[3]}"]
        if m[4]:
            fields.append(f"Components: {m[4]}")
        signed = re.search(r"signed-by=(\S+)", m[1] or "")
        if signed:
            fields.append(f"Signed-By: {signed[1]}")
        return "\n".join(fields)

    def source(self, package, folder):
        """Unpacks a source package; returns its folder."""
        os.makedirs(folder, exist_ok=True)
        if not [d for d in os.listdir(folder) if os.path.isdir(os.path.join(folder, d))]:
            run("apt-get", "-qq", *self.options, "source", package, cwd=folder)
        return os.path.join(folder, next(d for d in sorted(os.listdir(folder)) if os.path.isdir(os.path.join(folder, d))))

    def binary(self, package, folder):
        """Unpacks a binary package into a folder."""
        if not os.path.isdir(folder):
            part = folder + ".part"
            shutil.rmtree(part, ignore_errors=True)
            os.makedirs(part)
            run("apt-get", "-qq", *self.options, "download", package, cwd=part)
            run("dpkg-deb", "-x", glob.glob(os.path.join(part, "*.deb"))[0], part)
            os.rename(part, folder)
        return folder


class Programs:
    def __init__(self, work):
        self.work = os.path.abspath(work)
        os.makedirs(self.work, exist_ok=True)
        self.apts = {}

    def path(self, *names):
        return os.path.join(self.work, *names)

    # What the system has

    def system(self, name):
        """A file of this system by its short name."""
        triple = TRIPLES[HOST]
        places = {
            "gdb": ["/usr/bin/gdb"],
            "python3": ["/usr/bin/python3.*[0-9]"],
            "cc1": [f"/usr/lib/gcc/{triple}/*/cc1", f"/usr/libexec/gcc/{triple}/*/cc1"],
            "libc": [f"/lib/{triple}/libc.so.6"],
            "libstdc++": [f"/usr/lib/{triple}/libstdc++.so.6"],
            "libcrypto": [f"/usr/lib/{triple}/libcrypto.so.3"],
            "libm": [f"/lib/{triple}/libm.so.6"],
            "libz": [f"/lib/{triple}/libz.so.1", f"/usr/lib/{triple}/libz.so.1"],
            "ls": ["/usr/bin/ls"],
        }
        for pattern in places[name]:
            for found in sorted(glob.glob(pattern)):
                return os.path.realpath(found)
        raise Missing(f"{name} is not installed")

    # Debian packages

    def apt(self, kind, architecture):
        key = (kind, architecture)
        if key not in self.apts:
            self.apts[key] = Apt(self.path(f"apt-{kind}-{architecture}"), kind, architecture)
        return self.apts[key]

    def package_file(self, arch, package, pattern):
        """A file from a binary package of either architecture."""
        debian = DEBIAN[arch]
        folder = self.apt("deb", debian).binary(package, self.path("packages", f"{package}-{debian}"))
        found = [p for p in sorted(glob.glob(os.path.join(folder, pattern), recursive=True)) if os.path.isfile(p)]
        if not found:
            raise Missing(f"{package} of {debian} has no {pattern}")
        return os.path.realpath(found[0])

    def source(self, package):
        return self.apt("deb-src", DEBIAN[HOST]).source(package, self.path("sources", package))

    # What is built here

    def build(self, name, arch, sources, flags=(), compiler="gcc", level="-O2", libraries=()):
        """Compiles C or C++ sources into one program with symbols; sources may be a function that gives them."""
        out = self.path("built", f"{name}-{arch}-{compiler}{level}")
        if os.path.exists(out):
            return out
        os.makedirs(os.path.dirname(out), exist_ok=True)
        files = sources() if callable(sources) else sources
        if compiler.startswith("clang"):
            driver = [compiler, f"--target={TRIPLES[arch]}"]
        else:
            driver = [f"{TRIPLES[arch]}-{compiler}"]
        run(*driver, level, "-w", *flags, *files, "-o", out + ".part", *libraries, cwd=os.path.dirname(out))
        os.rename(out + ".part", out)
        return out

    def sqlite_sources(self):
        """The amalgamation, made as the source package makes it."""
        folder = self.source("sqlite3")
        made = os.path.join(folder, "made")
        if not os.path.exists(os.path.join(made, "shell.c")):
            os.makedirs(made, exist_ok=True)
            run("../configure", "--disable-tcl", "--disable-readline", cwd=made)
            run("make", "-j", str(os.cpu_count()), "sqlite3.c", "shell.c", cwd=made)
        return [os.path.join(made, "sqlite3.c"), os.path.join(made, "shell.c")]

    def sqlite(self, arch, compiler="gcc", level="-O2", debug=False):
        flags = ["-DSQLITE_OMIT_LOAD_EXTENSION", "-DSQLITE_THREADSAFE=0", "-DSQLITE_ENABLE_FTS5", "-DSQLITE_ENABLE_RTREE",
                 "-DSQLITE_ENABLE_FTS4", "-DSQLITE_ENABLE_GEOPOLY"]
        return self.build("sqlite3" + ("-debug" if debug else ""), arch, self.sqlite_sources,
                          flags + (["-g"] if debug else []), compiler, level, ["-lm"])

    def lua(self, arch, compiler="gcc", level="-O2"):
        def sources():
            folder = os.path.join(self.source("lua5.4"), "src")
            with open(os.path.join(folder, "lua5.4-deb-multiarch.h"), "w", encoding="ascii") as f:
                f.write('#define DEB_HOST_MULTIARCH "any"\n')
            return [os.path.join(folder, f) for f in sorted(os.listdir(folder)) if f.endswith(".c") and f != "luac.c"]
        return self.build("lua", arch, sources, ["-DLUA_USE_LINUX", "-Wl,-E"], compiler, level, ["-lm"])

    def bzip2(self, arch, compiler="gcc", level="-O2"):
        def sources():
            folder = self.source("bzip2")
            return [os.path.join(folder, f + ".c") for f in ("blocksort", "huffman", "crctable", "randtable", "compress",
                                                             "decompress", "bzlib", "bzip2")]
        return self.build("bzip2", arch, sources, ["-D_FILE_OFFSET_BITS=64", "-g"], compiler, level)

    def corpus(self, name, arch, compiler, flags=(), level="-O2"):
        here = os.path.dirname(os.path.abspath(__file__))
        folder = os.path.join(here, "..", "tests", "corpus")
        return self.build(name.replace(".", "-") + "".join(flags).replace("/", "-"), arch,
                          [os.path.join(folder, name)], [f"-I{folder}", *flags], compiler, level)

    def rust(self):
        out = self.path("built", "rust-hello")
        if not os.path.exists(out):
            if not shutil.which("rustc"):
                raise Missing("rustc is not installed")
            os.makedirs(os.path.dirname(out), exist_ok=True)
            with open(out + ".rs", "w", encoding="ascii") as f:
                f.write("use std::collections::HashMap;\nfn main() {\n    let mut m: HashMap<String, usize> = HashMap::new();\n"
                        "    for a in std::env::args() { *m.entry(a).or_insert(0) += 1; }\n    println!(\"{:?}\", m);\n}\n")
            run("rustc", "-O", out + ".rs", "-o", out)
        return out
