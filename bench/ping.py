"""A client of its own that asks a server for something small every millisecond, and prints the longest time that it waited for an
answer, in seconds: what a person sees of a server that stands still.

    ping.py redis|http|postgres PORT SECONDS"""

import socket
import struct
import sys
import time

PAUSE = 0.001


def received(s, is_whole):
    data = b""
    while not is_whole(data):
        piece = s.recv(65536)
        if not piece:
            sys.exit("the server has hung up")
        data += piece
    return data


def message(kind, body):
    """Of postgres: its kind, its length and its text."""
    return kind + struct.pack("!I", len(body) + 4) + body


def is_ready(data):
    """Postgres has answered, and waits for the next question."""
    return data[-6:-1] == b"Z\0\0\0\5"


def ask_redis(s):
    s.sendall(b"PING\r\n")
    received(s, lambda data: data.endswith(b"\r\n"))


def ask_http(s):
    """For a head without a body, whatever it says."""
    s.sendall(b"HEAD / HTTP/1.1\r\nHost: localhost\r\n\r\n")
    received(s, lambda data: data.endswith(b"\r\n\r\n"))


def greet_postgres(s):
    s.sendall(message(b"", struct.pack("!I", 3 << 16) + b"user\0postgres\0database\0postgres\0\0"))
    received(s, is_ready)


def ask_postgres(s):
    s.sendall(message(b"Q", b"SELECT 1\0"))
    received(s, is_ready)


KINDS = {"redis": (None, ask_redis), "http": (None, ask_http), "postgres": (greet_postgres, ask_postgres)}


def main(kind, port, seconds):
    greet, ask = KINDS[kind]
    with socket.create_connection(("127.0.0.1", int(port))) as s:
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if greet:
            greet(s)
        longest, end = 0, time.monotonic() + float(seconds)
        while time.monotonic() < end:
            begin = time.monotonic()
            ask(s)
            longest = max(longest, time.monotonic() - begin)
            time.sleep(PAUSE)
    print(longest)


main(*sys.argv[1:])
