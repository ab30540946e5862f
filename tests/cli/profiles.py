"""Profile files made to order, by the tables of sonde-profile(5), so that tests know what is in them."""

import sqlite3

FUNCTION, INLINE, LOOP, LINE = range(4)
ROOT, FRAME, LEAF, KERNEL, WAIT, PARTIAL = range(6)

SCHEMA = 6

TABLES = """
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE metric(id INTEGER PRIMARY KEY, name TEXT NOT NULL, unit TEXT NOT NULL, period INTEGER NOT NULL);
CREATE TABLE module(id INTEGER PRIMARY KEY, path TEXT NOT NULL, build_id TEXT, file_size INTEGER NOT NULL, mtime INTEGER NOT NULL, problem TEXT);
CREATE TABLE process(id INTEGER PRIMARY KEY, pid INTEGER NOT NULL, parent INTEGER REFERENCES process, name TEXT NOT NULL);
CREATE TABLE thread(id INTEGER PRIMARY KEY, process INTEGER NOT NULL REFERENCES process, tid INTEGER NOT NULL, name TEXT NOT NULL);
CREATE TABLE scope(id INTEGER PRIMARY KEY, parent INTEGER REFERENCES scope, module INTEGER NOT NULL REFERENCES module, kind INTEGER NOT NULL, flags INTEGER NOT NULL, name TEXT NOT NULL, file TEXT NOT NULL, first_line INTEGER NOT NULL, last_line INTEGER NOT NULL, call_file TEXT NOT NULL, call_line INTEGER NOT NULL, address INTEGER NOT NULL);
CREATE TABLE node(id INTEGER PRIMARY KEY, parent INTEGER REFERENCES node, kind INTEGER NOT NULL, module INTEGER REFERENCES module, address INTEGER NOT NULL, scope INTEGER REFERENCES scope);
CREATE TABLE value(node INTEGER NOT NULL REFERENCES node, thread INTEGER NOT NULL REFERENCES thread, metric INTEGER NOT NULL REFERENCES metric, samples INTEGER NOT NULL, amount INTEGER NOT NULL, PRIMARY KEY(node, thread, metric)) WITHOUT ROWID;
CREATE TABLE count(name TEXT PRIMARY KEY, samples INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE counters(id INTEGER PRIMARY KEY, module INTEGER NOT NULL REFERENCES module, address INTEGER NOT NULL, loop INTEGER NOT NULL, thread INTEGER NOT NULL REFERENCES thread, scope INTEGER REFERENCES scope, flags INTEGER NOT NULL, entries INTEGER NOT NULL, iterations INTEGER NOT NULL, trip_min INTEGER NOT NULL, trip_max INTEGER NOT NULL, load INTEGER NOT NULL, store INTEGER NOT NULL, integer INTEGER NOT NULL, float INTEGER NOT NULL, simd INTEGER NOT NULL, branch INTEGER NOT NULL, atomic INTEGER NOT NULL, other INTEGER NOT NULL);
CREATE TABLE trips(counters INTEGER NOT NULL REFERENCES counters, low INTEGER NOT NULL, high INTEGER NOT NULL, entries INTEGER NOT NULL, PRIMARY KEY(counters, low)) WITHOUT ROWID;
CREATE TABLE uncovered(id INTEGER PRIMARY KEY, module INTEGER REFERENCES module, address INTEGER NOT NULL, name TEXT NOT NULL, share INTEGER, reason TEXT NOT NULL);
CREATE TABLE resource(id INTEGER PRIMARY KEY, parent INTEGER REFERENCES resource, hierarchy TEXT NOT NULL, kind TEXT NOT NULL, name TEXT NOT NULL, module INTEGER REFERENCES module, address INTEGER NOT NULL, file TEXT NOT NULL, first_line INTEGER NOT NULL, last_line INTEGER NOT NULL);
CREATE TABLE experiment(id INTEGER PRIMARY KEY, hypothesis TEXT NOT NULL, code INTEGER NOT NULL REFERENCES resource, machine INTEGER NOT NULL REFERENCES resource, sync INTEGER NOT NULL REFERENCES resource, file INTEGER NOT NULL REFERENCES resource, state TEXT NOT NULL, origin TEXT NOT NULL, priority TEXT NOT NULL, value REAL NOT NULL, threshold REAL NOT NULL, confidence REAL NOT NULL, created REAL, begun REAL, decided REAL, observed REAL NOT NULL, overhead REAL NOT NULL, tests INTEGER NOT NULL, sampled INTEGER NOT NULL, unsure INTEGER NOT NULL, over INTEGER NOT NULL);
CREATE TABLE refinement(parent INTEGER NOT NULL REFERENCES experiment, child INTEGER NOT NULL REFERENCES experiment, PRIMARY KEY(parent, child)) WITHOUT ROWID;
CREATE TABLE evidence(name TEXT PRIMARY KEY, value REAL NOT NULL) WITHOUT ROWID;
CREATE TABLE code_name(resource INTEGER PRIMARY KEY REFERENCES resource, function TEXT NOT NULL, chain TEXT NOT NULL);
CREATE TABLE seen_thread(id INTEGER PRIMARY KEY, resource INTEGER NOT NULL REFERENCES resource, tid INTEGER NOT NULL, name TEXT NOT NULL, cpu REAL NOT NULL, idle REAL NOT NULL);
CREATE TABLE object(id INTEGER PRIMARY KEY, kind TEXT NOT NULL, name TEXT NOT NULL, resource INTEGER REFERENCES resource, count INTEGER NOT NULL, bytes INTEGER NOT NULL, seconds REAL NOT NULL, rate REAL NOT NULL, peer TEXT NOT NULL, peer_pid INTEGER NOT NULL, peer_root INTEGER NOT NULL);
CREATE TABLE chain(id INTEGER PRIMARY KEY, class INTEGER NOT NULL, object INTEGER REFERENCES object, node INTEGER NOT NULL REFERENCES node, seconds REAL NOT NULL, samples INTEGER NOT NULL, length INTEGER NOT NULL);
CREATE TABLE chain_part(id INTEGER PRIMARY KEY, resource INTEGER NOT NULL REFERENCES resource);
CREATE TABLE amount(id INTEGER PRIMARY KEY, resource INTEGER NOT NULL REFERENCES resource, thread INTEGER NOT NULL REFERENCES seen_thread, object INTEGER REFERENCES object, cpu REAL NOT NULL, wait REAL NOT NULL, calls REAL NOT NULL, seen_cpu REAL NOT NULL, seen_wait REAL NOT NULL, asked REAL NOT NULL);
CREATE TABLE holder(id INTEGER PRIMARY KEY, object INTEGER NOT NULL REFERENCES object, thread INTEGER NOT NULL REFERENCES seen_thread, node INTEGER NOT NULL REFERENCES node, seconds REAL NOT NULL);
CREATE TABLE trip_count(id INTEGER PRIMARY KEY, resource INTEGER NOT NULL REFERENCES resource, seconds REAL NOT NULL, entries INTEGER NOT NULL, iterations INTEGER NOT NULL);
CREATE TABLE command(id INTEGER PRIMARY KEY, name TEXT NOT NULL, processes INTEGER NOT NULL, cpu REAL NOT NULL, wall REAL NOT NULL, longest REAL NOT NULL, argument TEXT NOT NULL, first REAL NOT NULL, last REAL NOT NULL, alone REAL NOT NULL, closing REAL NOT NULL);
CREATE TABLE finding(id INTEGER PRIMARY KEY, hypothesis TEXT NOT NULL, experiment INTEGER REFERENCES experiment, node INTEGER REFERENCES node, share REAL NOT NULL, confidence REAL NOT NULL, sentence TEXT NOT NULL);
CREATE TABLE remark(id INTEGER PRIMARY KEY, finding INTEGER REFERENCES finding, kind TEXT NOT NULL, text TEXT NOT NULL);
"""

PERIOD = 1000000  # nanoseconds


class Profile:
    """One process; the first thread and the root are there from the start."""

    def __init__(self, program="/opt/app/program", build_id="0123456789abcdef"):
        self.rows = {name: [] for name in ("metric", "module", "process", "thread", "scope", "node")}
        self.values, self.meta = {}, {"schema": str(SCHEMA), "fused": "1", "finished": "1", "command": "program --fast"}
        self.add("metric", "cpu-clock", "ns", PERIOD)
        self.module = self.add("module", program, build_id, 1000, 1700000000, None)
        self.add("process", 100, None, "program")
        self.thread(100, "program")
        self.add("node", None, ROOT, None, 0, None)

    def add(self, table, *row):
        self.rows[table].append(row)
        return len(self.rows[table]) - 1

    def thread(self, tid, name):
        return self.add("thread", 0, tid, name)

    def scope(self, kind, parent, name="", file="", first=0, last=0, call=("", 0), flags=0):
        return self.add("scope", parent, self.module, kind, flags, name, file, first, last, call[0], call[1],
                        0x1000 + 0x10 * len(self.rows["scope"]))

    def function(self, name, file="/src/program.c", first=1, last=100):
        return self.scope(FUNCTION, None, name, file, first, last)

    def node(self, parent, scope, kind=FRAME):
        code = kind in (FRAME, LEAF)
        return self.add("node", parent, kind, self.module if code else None,
                        0x1008 + 0x10 * scope if code else 0, scope)

    def value(self, node, samples, thread=0, metric=0, amount=None):
        old = self.values.get((node, thread, metric), (0, 0))
        amount = samples * PERIOD if amount is None else amount
        self.values[node, thread, metric] = (old[0] + samples, old[1] + amount)

    def write(self, path):
        db = sqlite3.connect(path)
        db.executescript("PRAGMA synchronous=OFF; PRAGMA application_id=1936682596;"
                         f"PRAGMA user_version={SCHEMA};" + TABLES)
        for table, rows in self.rows.items():
            for number, row in enumerate(rows):
                db.execute(f"INSERT INTO {table} VALUES({','.join('?' * (len(row) + 1))})", (number, *row))
        db.executemany("INSERT INTO value VALUES(?,?,?,?,?)", [(*k, *v) for k, v in self.values.items()])
        db.executemany("INSERT INTO meta VALUES(?,?)", self.meta.items())
        samples = sum(v[0] for v in self.values.values())
        db.execute("INSERT INTO count VALUES('complete', ?)", (samples,))
        self.write_more(db)
        db.commit()
        db.close()
        return path

    def write_more(self, db):
        pass


INSTRUCTIONS, CALLS = 0, 1
LOADS, STORES, INTEGERS, FLOATS, SIMD, BRANCHES, ATOMICS, OTHERS = range(8)
IRREDUCIBLE, ITERATIONS_UNKNOWN, TRIPS_UNKNOWN, MACHINE_ITERATIONS = 1, 2, 4, 8


class Counted(Profile):
    """What counting makes. Amounts are instructions; calls go with the first code of a callee."""

    def __init__(self, **more):
        super().__init__(**more)
        self.rows["metric"] = [("instructions", "", 0), ("calls", "", 0)]
        self.rows.update(counters=[], uncovered=[])
        self.trips = []

    def execute(self, parent, scope, times, instructions, calls=0, thread=0):
        """A run of instructions below a call site; with calls, it is the entry of its function."""
        node = self.node(parent, scope, LEAF)
        self.value(node, times, thread, INSTRUCTIONS, times * instructions)
        if calls:
            self.value(node, calls, thread, CALLS, calls)
        return node

    def counters(self, scope, entries, iterations=0, trips=None, mix=None, thread=0, flags=0, offset=0):
        """Of a loop with its trips, {count or (low, high): entries}; of a function without."""
        _, module, kind, *_, address = self.rows["scope"][scope]
        buckets = sorted((k if isinstance(k, tuple) else (k, k)) + (n,) for k, n in (trips or {}).items())
        least, most = (buckets[0][0], buckets[-1][1]) if buckets else (0, 0)
        classes = [(mix or {}).get(i, 0) for i in range(8)]
        row = self.add("counters", module, address + offset, int(kind == LOOP), thread, scope, flags, entries, iterations,
                       least, most, *classes)
        self.trips += [(row, *bucket) for bucket in buckets]

    def uncovered(self, name, share, reason):
        self.add("uncovered", self.module, 0x100000, name, share, reason)

    def write_more(self, db):
        db.executemany("INSERT INTO trips VALUES(?,?,?,?)", self.trips)


CODE, MACHINE, SYNC, FILES = range(4)
HIERARCHIES = ["code", "machine", "sync", "file"]


class Searched(Profile):
    """What a search for bottlenecks makes. Resource h is the root of hierarchy h."""

    def __init__(self, **more):
        super().__init__(**more)
        self.meta.update(seconds="12.4321", search_seconds="12.3", ended="exit", strategy="deep-start",
                         loops="1", overhead="0.0123")
        self.rows.update(resource=[], experiment=[], finding=[], remark=[])
        self.refinements = set()
        for hierarchy, name in enumerate(["Code", "Machine", "SyncObject", "File"]):
            self.add("resource", None, HIERARCHIES[hierarchy], "group", name, None, 0, "", 0, 0)

    def resource(self, parent, kind, name, file="", first=0, last=0):
        code = kind in ("function", "loop")
        return self.add("resource", parent, self.rows["resource"][parent][1], kind, name, self.module if code else None,
                        0x1000 if code else 0, file, first, last)

    def experiment(self, hypothesis, parents=(), code=CODE, machine=MACHINE, sync=SYNC, files=FILES, state="true",
                   value=0.5, threshold=0.2, origin="refined", decided=1.0, sampled=0, unsure=0, over=0, overhead=0.0,
                   tests=1):
        undecided = state not in ("true", "false")
        row = self.add("experiment", hypothesis, code, machine, sync, files, state, origin,
                       "high" if origin in ("deep-starter", "connecting") else "normal", value, threshold, 0.97, 0.25,
                       None if undecided and not value else 0.5, None if undecided else decided, 0.5, overhead, tests,
                       sampled, unsure, over)
        self.refinements |= {(parent, row) for parent in parents}
        return row

    def finding(self, hypothesis, experiment, node, share, sentence, *remarks, confidence=0.97):
        row = self.add("finding", hypothesis, experiment, node, share, confidence, sentence)
        for kind, text in remarks:
            self.add("remark", row, kind, text)
        return row

    def remark(self, kind, text):
        self.add("remark", None, kind, text)

    def write_more(self, db):
        db.executemany("INSERT INTO refinement VALUES(?,?)", sorted(self.refinements))
