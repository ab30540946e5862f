"""Profile files made to order, by the tables of sonde-profile(5), so that tests know what is in them."""

import sqlite3

PROCEDURE, INLINE, LOOP, LINE = range(4)
ROOT, FRAME, LEAF, KERNEL, WAIT, PARTIAL = range(6)

TABLES = """
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE metric(id INTEGER PRIMARY KEY, name TEXT NOT NULL, unit TEXT NOT NULL, period INTEGER NOT NULL);
CREATE TABLE image(id INTEGER PRIMARY KEY, path TEXT NOT NULL, build_id TEXT, file_size INTEGER NOT NULL, mtime INTEGER NOT NULL, problem TEXT);
CREATE TABLE process(id INTEGER PRIMARY KEY, pid INTEGER NOT NULL, parent INTEGER REFERENCES process, name TEXT NOT NULL);
CREATE TABLE thread(id INTEGER PRIMARY KEY, process INTEGER NOT NULL REFERENCES process, tid INTEGER NOT NULL, name TEXT NOT NULL);
CREATE TABLE scope(id INTEGER PRIMARY KEY, parent INTEGER REFERENCES scope, image INTEGER NOT NULL REFERENCES image, kind INTEGER NOT NULL, flags INTEGER NOT NULL, name TEXT NOT NULL, file TEXT NOT NULL, first_line INTEGER NOT NULL, last_line INTEGER NOT NULL, call_file TEXT NOT NULL, call_line INTEGER NOT NULL, address INTEGER NOT NULL);
CREATE TABLE node(id INTEGER PRIMARY KEY, parent INTEGER REFERENCES node, kind INTEGER NOT NULL, image INTEGER REFERENCES image, address INTEGER NOT NULL, scope INTEGER REFERENCES scope);
CREATE TABLE value(node INTEGER NOT NULL REFERENCES node, thread INTEGER NOT NULL REFERENCES thread, metric INTEGER NOT NULL REFERENCES metric, samples INTEGER NOT NULL, amount INTEGER NOT NULL, PRIMARY KEY(node, thread, metric)) WITHOUT ROWID;
CREATE TABLE count(name TEXT PRIMARY KEY, samples INTEGER NOT NULL) WITHOUT ROWID;
"""

PERIOD = 1000000  # nanoseconds


class Profile:
    """One process; the first thread and the root are there from the start."""

    def __init__(self, program="/opt/app/program", build_id="0123456789abcdef"):
        self.rows = {name: [] for name in ("metric", "image", "process", "thread", "scope", "node")}
        self.values, self.meta = {}, {"schema": "1", "fused": "1", "finished": "1", "command": "program --fast"}
        self.add("metric", "cpu-clock", "ns", PERIOD)
        self.image = self.add("image", program, build_id, 1000, 1700000000, None)
        self.add("process", 100, None, "program")
        self.thread(100, "program")
        self.add("node", None, ROOT, None, 0, None)

    def add(self, table, *row):
        self.rows[table].append(row)
        return len(self.rows[table]) - 1

    def thread(self, tid, name):
        return self.add("thread", 0, tid, name)

    def scope(self, kind, parent, name="", file="", first=0, last=0, call=("", 0), flags=0):
        return self.add("scope", parent, self.image, kind, flags, name, file, first, last, call[0], call[1],
                        0x1000 + 0x10 * len(self.rows["scope"]))

    def procedure(self, name, file="/src/program.c", first=1, last=100):
        return self.scope(PROCEDURE, None, name, file, first, last)

    def node(self, parent, scope, kind=FRAME):
        code = kind in (FRAME, LEAF)
        return self.add("node", parent, kind, self.image if code else None,
                        0x1008 + 0x10 * scope if code else 0, scope)

    def value(self, node, samples, thread=0, metric=0, amount=None):
        old = self.values.get((node, thread, metric), (0, 0))
        amount = samples * PERIOD if amount is None else amount
        self.values[node, thread, metric] = (old[0] + samples, old[1] + amount)

    def write(self, path):
        db = sqlite3.connect(path)
        db.executescript("PRAGMA synchronous=OFF; PRAGMA application_id=1936682596; PRAGMA user_version=1;" + TABLES)
        for table, rows in self.rows.items():
            for number, row in enumerate(rows):
                db.execute(f"INSERT INTO {table} VALUES({','.join('?' * (len(row) + 1))})", (number, *row))
        db.executemany("INSERT INTO value VALUES(?,?,?,?,?)", [(*k, *v) for k, v in self.values.items()])
        db.executemany("INSERT INTO meta VALUES(?,?)", self.meta.items())
        samples = sum(v[0] for v in self.values.values())
        db.execute("INSERT INTO count VALUES('complete', ?)", (samples,))
        db.commit()
        db.close()
        return path
