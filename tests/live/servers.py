"""Debian's servers, with clients that keep them busy: what check-servers and bench/servers.py search.

    servers.py list               their names
    servers.py run NAME [SECONDS]  runs one, and prints what to search: sonde -p PID

All of it is on the loopback interface and in a temporary folder, and ends with the program that started it: nothing leaves the
process group of a test, which tests/run ends as a whole."""

import contextlib
import glob
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

from victims import run_tool

from case import NOBODY, Skip

SOON = 30    # seconds for a server to start or end
FOREVER = "1000000000"   # requests
SMALL_FILES = 2000
LARGE_FILE = 20000       # bytes of text, to be compressed
SMALL, TEXT = ("/small%d.html", SMALL_FILES), ("/text.html", 1)  # paths, and how many


def tool(*names):
    """The first of these programs that there is."""
    for name in names:
        path = shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin:/sbin")
        if path:
            return path
    raise Skip(f"no {' or '.join(names)}")


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def listens(port):
    with socket.socket() as s:
        return s.connect_ex(("127.0.0.1", port)) == 0


def as_user():
    """Servers refuse to be root, or change to another user on their own."""
    return {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.getuid() == 0 else {}


class Running:
    """A process and its children, until the end of a `with`. A server listens on its port by then, and has said `says`."""

    def __init__(self, command, port=None, ending=signal.SIGTERM, says="", **more):
        self.command, self.port, self.ending, self.says = command, port, ending, says
        self.log = tempfile.TemporaryFile()
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=self.log, stderr=subprocess.STDOUT, **more)
        self.pid = self.process.pid

    def serves(self):
        return not self.port or (self.says in self.said() and listens(self.port))

    def __enter__(self):
        end = time.monotonic() + SOON
        while not self.serves():
            if self.process.poll() is not None or time.monotonic() > end:
                self.__exit__()
                raise AssertionError(f"{self.command[0]} does not start: {self.said()}")
            time.sleep(0.02)
        return self

    def __exit__(self, *_):
        self.process.send_signal(self.ending)
        try:
            self.process.wait(SOON)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def said(self):
        self.log.seek(0)
        return self.log.read().decode(errors="replace")[-1000:]

    def works(self):
        assert self.process.poll() is None, f"{self.command[0]} has ended: {self.said()}"


@contextlib.contextmanager
def a_folder():
    """That servers of every user can use."""
    with tempfile.TemporaryDirectory(prefix="server-") as folder:
        os.chmod(folder, 0o755)
        if os.getuid() == 0:
            os.chown(folder, NOBODY, NOBODY)
        yield folder


# redis

@contextlib.contextmanager
def redis():
    """The server has this name; the package of that name would start one for good, the tools have the same program."""
    program = shutil.which("redis-server") or tool("redis-check-rdb")
    with a_folder() as folder:
        server = os.path.join(folder, "redis-server")
        os.symlink(program, server)
        port = free_port()
        with Running([server, "--port", str(port), "--save", "", "--appendonly", "no", "--dir", folder], port, **as_user()) as it:
            yield it


def redis_clients(server, *what, count=20):
    """They ask as fast as they are answered, until they are told to stop."""
    return Running([tool("redis-benchmark"), "-p", str(server.port), "-c", str(count), "-n", FOREVER, "-q", *what])


def redis_cli(server, *words):
    run_tool(tool("redis-cli"), "-p", str(server.port), *words)


@contextlib.contextmanager
def redis_replies():
    with redis() as server, redis_clients(server, "-t", "set,get", count=50):
        yield server


@contextlib.contextmanager
def redis_keys():
    """Each KEYS goes through the whole database."""
    with redis() as server:
        redis_cli(server, "eval", "for i = 1, 200000 do redis.call('set', 'key:' .. i, i) end", "0")
        with redis_clients(server, "keys", "nothing*", count=2):
            yield server


@contextlib.contextmanager
def redis_script():
    """A script that computes."""
    script = "local s = 0 for i = 1, 300000 do s = s + i % 7 end return s"
    with redis() as server, redis_clients(server, "eval", script, "0", count=2):
        yield server


@contextlib.contextmanager
def redis_idle():
    with redis() as server:
        yield server


# nginx

NGINX = """daemon off;
worker_processes 1;
error_log stderr;
pid {folder}/nginx{port}.pid;
events {{ worker_connections 1000; }}
http {{
    access_log off;
    keepalive_requests 1000000000;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    {more}
    server {{
        listen 127.0.0.1:{port};
        location / {{ {location} }}
    }}
}}
"""


def nginx(folder, location, more=""):
    port = free_port()
    path = os.path.join(folder, f"nginx{port}.conf")
    with open(path, "w", encoding="ascii") as f:
        f.write(NGINX.format(folder=folder, port=port, location=location, more=more))
    it = Running([tool("nginx"), "-c", path, "-p", folder, "-e", "stderr"], port, **as_user())
    it.folder = folder
    return it


def web_command(server, path, count, *options):
    """Clients that ask for one path after the other: it has a number, from 0 to count."""
    with open(f"{server.folder}/paths.lua", "w", encoding="ascii") as f:
        f.write("n = 0\nfunction request()\n\tn = n + 1\n\t"
                f"return wrk.format(nil, string.format('{path}', n % {count}))\nend\n")
    return [tool("wrk"), "-t", "1", "-c", "8", *options, "-H", "Accept-Encoding: gzip",
            "-s", f"{server.folder}/paths.lua", f"http://127.0.0.1:{server.port}"]


def web_clients(server, path, count):
    return Running(web_command(server, path, count, "-d", "1h"))


def write_small_files(folder):
    for i in range(SMALL_FILES):
        with open(f"{folder}/small{i}.html", "w", encoding="ascii") as f:
            f.write("<p>" + "word " * 200)


def write_text(folder):
    """Words that come in ever another order, as in a text."""
    with open(f"{folder}/text.html", "w", encoding="ascii") as f:
        size = n = 0
        while size < LARGE_FILE:
            n = (n * 1103515245 + 12345) % (1 << 31)
            size += f.write(f"word{n >> 20} ")


@contextlib.contextmanager
def nginx_of_files():
    with a_folder() as folder:
        write_small_files(folder)
        with nginx(folder, f"root {folder};") as it:
            yield it


@contextlib.contextmanager
def nginx_of_text():
    with a_folder() as folder:
        write_text(folder)
        with nginx(folder, f"root {folder}; gzip on; gzip_comp_level 9;") as it:
            yield it


@contextlib.contextmanager
def nginx_static():
    with nginx_of_files() as server, web_clients(server, *SMALL):
        yield server


@contextlib.contextmanager
def nginx_gzip():
    with nginx_of_text() as server, web_clients(server, *TEXT):
        yield server


@contextlib.contextmanager
def nginx_proxy():
    """What it answers comes from another one, which compresses and so takes all the time."""
    location = "proxy_pass http://behind; proxy_http_version 1.1; proxy_set_header Connection '';"
    with a_folder() as folder, nginx_of_text() as other:
        behind = f"upstream behind {{ server 127.0.0.1:{other.port}; keepalive 32; }}"
        with nginx(folder, location, behind) as server, web_clients(server, *TEXT):
            server.behind = other
            yield server


# postgres

def postgres_tool(name):
    paths = sorted(glob.glob(f"/usr/lib/postgresql/*/bin/{name}"))
    return paths[-1] if paths else tool(name)


@contextlib.contextmanager
def postgres(scale=1):
    with a_folder() as folder:
        data, port = f"{folder}/data", free_port()
        run_tool(postgres_tool("initdb"), "-N", "-A", "trust", "-U", "postgres", "-D", data, cwd=folder, **as_user())
        server = [postgres_tool("postgres"), "-D", data, "-p", str(port), "-k", folder, "-h", "127.0.0.1"]
        with Running(server, port, signal.SIGQUIT,
                     "ready to accept connections", cwd=folder, **as_user()) as it:
            it.folder = folder
            run_tool(*pgbench(it), "-i", "-q", "-s", str(scale))
            yield it


def pgbench(server):
    return [postgres_tool("pgbench"), "-h", "127.0.0.1", "-p", str(server.port), "-U", "postgres", "postgres"]


def pgbench_clients(server, *what, count=4):
    return Running([*pgbench(server), "-n", "-c", str(count), "-T", "3600", *what])


@contextlib.contextmanager
def postgres_select():
    with postgres() as server, pgbench_clients(server, "-S"):
        yield server


@contextlib.contextmanager
def postgres_standard():
    with postgres(scale=5) as server, pgbench_clients(server):
        yield server


@contextlib.contextmanager
def postgres_row():
    """All clients update the same row, and each keeps it for a while."""
    with postgres() as server:
        script = f"{server.folder}/row.sql"
        with open(script, "w", encoding="ascii") as f:
            f.write("BEGIN;\nUPDATE pgbench_branches SET bbalance = bbalance + 1 WHERE bid = 1;\n"
                    "SELECT pg_sleep(0.002);\nCOMMIT;\n")
        with pgbench_clients(server, "-f", script):
            yield server


@contextlib.contextmanager
def postgres_idle():
    with postgres() as server:
        yield server


ALL = {f.__name__: f for f in (redis_replies, redis_keys, redis_script, redis_idle, nginx_static, nginx_gzip, nginx_proxy,
                               postgres_select, postgres_standard, postgres_row, postgres_idle)}


def main():
    words = sys.argv[1:]
    if words == ["list"]:
        print("\n".join(ALL))
    elif words[:1] == ["run"] and len(words) > 1:
        with ALL[words[1]]() as server:
            print(f"sonde -p {server.pid}", flush=True)
            time.sleep(float(words[2]) if len(words) > 2 else 3600)
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
