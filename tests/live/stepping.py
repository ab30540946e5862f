#!/usr/bin/env python3
"""Builds the victims of tests/victims/step in many ways and steps through them: see README.md.

usage: stepping.py build [--arch=ARCH] DIR [PATTERN]    for another machine, say; ARCH as uname says it
       stepping.py run DIR [PATTERN]                    steps through what was built there
       stepping.py list

A PATTERN (of a shell) chooses configurations by their names. check-unwind-* do both at once."""

import fnmatch
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
VICTIMS = os.path.join(os.path.dirname(HERE), "victims", "step")
BUILD = os.environ.get("BUILD", "build")
STEP = os.path.join(BUILD, "tests", "step")
LIMIT = 400  # seconds for one program
LONG = bool(os.environ.get("TESTS_LONG"))
SHOWN = 3  # functions that fail, of one configuration

COMMON = ["calls", "registers", "frames", "exits", "switches", "tails", "arguments", "jumps", "signals", "aligned",
          "vectors", "builtins", "library", "oddities"]
SAVED = {"aarch64": ["x%d" % n for n in range(19, 29)], "x86_64": ["rbx", "r12", "r13", "r14", "r15"]}
DEBIAN = {"aarch64": "arm64", "x86_64": "amd64"}

WITHOUT_TABLES = ["-fno-asynchronous-unwind-tables", "-fno-unwind-tables", "-fno-exceptions"]
FRAMES = {"omit": ["-fomit-frame-pointer"], "frame": ["-fno-omit-frame-pointer"]}
PROTECTED = {"aarch64": ["-mbranch-protection=standard"], "x86_64": ["-fcf-protection=full"]}


class Config:
    """One way to build the victims, and to step through them."""

    def __init__(self, name, compiler, flags, options=(), strip=False, source="c", machines=SAVED):
        self.name, self.compiler, self.flags = name, compiler, list(flags)
        self.options, self.strip, self.source, self.machines = list(options), strip, source, machines


def matrix(compiler):
    """Every level, with and without frame pointer, with tables, without, and with nothing left at all."""
    for level in ("-O0", "-O1", "-O2", "-O3"):
        for frame, flags in FRAMES.items():
            name = f"{compiler}{level}/{frame}"
            yield Config(f"{name}/tables", compiler, [level, *flags])
            yield Config(f"{name}/no-tables", compiler, [level, *flags, *WITHOUT_TABLES])
            yield Config(f"{name}/stripped", compiler, [level, *flags], strip=True)


def extras(compiler):
    """What bends frames besides; and the analysis alone, in all modules."""
    yield Config(f"{compiler}-Os/tables", compiler, ["-Os"])
    yield Config(f"{compiler}-O2/no-cfi", compiler, ["-O2"], ["--no-cfi"])
    yield Config(f"{compiler}-O0/no-cfi", compiler, ["-O0"], ["--no-cfi"])
    yield Config(f"{compiler}-O2/static", compiler, ["-O2", "-static"])
    yield Config(f"{compiler}-O2/static/stripped", compiler, ["-O2", "-static"], strip=True)
    yield Config(f"{compiler}-O2/now/entry", compiler, ["-O2", "-Wl,-z,now"], ["--from=entry"])
    yield Config(f"{compiler}-O2/protector", compiler, ["-O2", "-fstack-protector-all", "-fstack-clash-protection"])
    for machine, flags in PROTECTED.items():
        yield Config(f"{compiler}-O2/landings", compiler, ["-O2", *flags], machines=[machine])
    yield Config(f"{compiler}-O2/exceptions", compiler, ["-O2"], source="c++")
    yield Config(f"{compiler}-O0/exceptions", compiler, ["-O0"], source="c++")
    yield Config(f"{compiler}-O2/exceptions/no-cfi", compiler, ["-O2"], ["--no-cfi"], source="c++")


def chosen(configs, words):
    """Those that a pattern names; all with tests/run --long. Otherwise of each three the next one: each level and frame
    with one of tables, none and nothing left, and with another one by the next compiler."""
    configs = list(configs)
    if words:
        return [c for c in configs if fnmatch.fnmatch(c.name, words[0])]
    first = ("gcc", "clang").index(configs[0].compiler)
    return [c for i, c in enumerate(configs) if LONG or i % 3 == (i // 3 + first) % 3]


def all_configs():
    return [c for compiler in ("gcc", "clang") for c in (*matrix(compiler), *extras(compiler))]


class Builder:
    """Builds for one machine; what differs in steps or stripping only is compiled once."""

    def __init__(self, machine, folder):
        self.machine, self.folder, self.done = machine, folder, {}
        self.native = machine == platform.machine()
        cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
        self.root = os.path.join(cache, "sonde-vm", DEBIAN[machine], "root")  # of tests/vm

    def tool(self, name):
        return name if self.native else f"{self.machine}-linux-gnu-{name}"

    def compiler(self, config):
        cxx = config.source == "c++"
        if config.compiler == "gcc":
            command = [self.tool("g++" if cxx else "gcc")]
        else:
            command = ["clang++" if cxx else "clang"] + ([] if self.native else [f"--target={self.machine}-linux-gnu"])
        return command + ([] if self.native else [f"--sysroot={self.root}"])

    def sources(self, config):
        if config.source == "c++":
            return [os.path.join(VICTIMS, "exceptions.cc")]
        names = ["main", *COMMON] + (["nested"] if config.compiler == "gcc" else [])
        return [os.path.join(VICTIMS, f"{n}.c") for n in names] + [
            os.path.join(VICTIMS, f"oddities-{self.machine}.S")]

    def compile(self, config):
        key = (config.compiler, config.source, *config.flags)
        if key not in self.done:
            out = os.path.join(self.folder, config.name.replace("/", "_"))
            saved = ",".join(f'"{r}"' for r in SAVED[self.machine])
            subprocess.run([*self.compiler(config), "-w", f"-DSAVED_REGISTERS={saved}", "-Wl,-z,lazy", *config.flags,
                            "-o", out, *self.sources(config)], check=True)
            self.done[key] = out
        return self.done[key]

    def main_of(self, program):
        """Where to begin, also once the symbols are gone."""
        listing = subprocess.run([self.tool("nm"), program], check=True, capture_output=True, text=True).stdout
        return next("0x" + line.split()[0] for line in listing.splitlines() if line.split()[-2:] == ["T", "main"])

    def strip(self, program, config):
        out = os.path.join(self.folder, config.name.replace("/", "_"))
        subprocess.run([self.tool("objcopy"), "--strip-all", "--remove-section=.eh_frame",
                        "--remove-section=.eh_frame_hdr", program, out], check=True)
        return out

    def make(self, config):
        """What is needed to step: a program and options."""
        program = self.compile(config)
        options = list(config.options)
        if config.strip:
            options.append(f"--from={self.main_of(program)}")
            program = self.strip(program, config)
        return {"name": config.name, "program": os.path.basename(program), "options": options}


def has_compiler(compiler):
    return shutil.which(compiler) is not None


def configs_for(machine, pattern):
    return [c for c in all_configs() if machine in c.machines and fnmatch.fnmatch(c.name, pattern)]


def answer(program):
    """What the program prints when nobody watches."""
    done = subprocess.run([program], capture_output=True, text=True, timeout=LIMIT, check=False)
    if done.returncode:
        raise RuntimeError(f"{program} ends with {done.returncode} by itself")
    return done.stdout


class Checker:
    """Steps, and knows what each victim must answer: the same in every configuration."""

    def __init__(self, folder):
        self.folder, self.failed, self.known = folder, False, {}

    def wrong_answers(self, printed):
        return [line for line in printed if self.known.setdefault(line.split()[0], line) != line]

    def case(self, plan):
        program = os.path.join(self.folder, plan["program"])
        command = [STEP, f"--report={SHOWN}", *plan["options"], program]
        begin = time.monotonic()
        expected = answer(program)
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=False)
        lines = done.stdout.splitlines()
        printed = lines[:len(expected.splitlines())]
        why = []
        if done.returncode:
            why.append("the walks differ")
        if printed != expected.splitlines() or self.wrong_answers(printed):
            why.append("the program answers otherwise")
        for line in lines[len(printed):] if why else lines[-1:]:
            print(f"# {line}")
        if why:
            print(f"# to see it again: {os.path.relpath(__file__)} build DIR '{plan['name']}', then run DIR; or by hand:")
            print(f"# {' '.join([STEP, *plan['options'], 'DIR/' + plan['program']])}")
        self.report(plan["name"], ", ".join(why), time.monotonic() - begin)

    def report(self, name, why, seconds):
        self.failed |= bool(why)
        print(f"{'not ok' if why else 'ok'} {name}" + (f" - {why}" if why else ""), flush=True)
        print(f"# {seconds:.1f} s")


def check(configs):
    """Builds and steps in turn; returns the status to end with."""
    with tempfile.TemporaryDirectory(prefix="step-") as folder:
        builder, checker = Builder(platform.machine(), folder), Checker(folder)
        for config in configs:
            if platform.machine() not in config.machines:
                continue
            if not has_compiler(config.compiler):
                print(f"ok {config.name} # SKIP there is no {config.compiler}")
                continue
            try:
                checker.case(builder.make(config))
            except (subprocess.SubprocessError, RuntimeError, OSError) as why:
                checker.report(config.name, str(why), 0)
    return 1 if checker.failed else 0


def build(machine, folder, pattern):
    os.makedirs(folder, exist_ok=True)
    builder = Builder(machine, folder)
    plans = [builder.make(c) for c in configs_for(machine, pattern)]
    with open(os.path.join(folder, "plan.json"), "w", encoding="ascii") as out:
        json.dump(plans, out, indent=1)


def run(folder, pattern):
    checker = Checker(folder)
    with open(os.path.join(folder, "plan.json"), encoding="ascii") as file:
        for plan in json.load(file):
            if fnmatch.fnmatch(plan["name"], pattern):
                checker.case(plan)
    return 1 if checker.failed else 0


def main(args):
    machine = platform.machine()
    if len(args) > 1 and args[1].startswith("--arch="):
        machine = args.pop(1).split("=")[1]
    pattern = args[2] if len(args) > 2 else "*"
    if args[:1] == ["list"]:
        print("\n".join(c.name for c in all_configs()))
        return 0
    if args[:1] == ["build"] and len(args) > 1:
        return build(machine, args[1], pattern)
    if args[:1] == ["run"] and len(args) > 1:
        return run(args[1], pattern)
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
