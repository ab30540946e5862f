"""Evidence of searches as text: of a profile, what findings are made of, and nothing else.

A file of statements for SQLite, a row in a line, for tables as any profile of this sonde has them."""

import contextlib
import os
import shutil
import sqlite3
import subprocess
import tempfile

# What the report of findings reads of the facts.
FACTS = ("attached", "command", "ended", "finished", "fused", "loops", "note", "overhead", "sampler", "search_seconds", "seconds", "strategy")
# In the order in which they may refer to each other; all of them but what nothing refers to.
TABLES = ("meta", "module", "process", "resource", "experiment", "refinement", "scope", "node", "evidence", "code_name", "seen_thread",
          "object", "chain", "chain_part", "amount", "holder", "trip_count", "command")
# Table and column -> what it is a number of.
REFERENCES = {("scope", "parent"): "scope", ("scope", "module"): "module", ("node", "parent"): "node", ("node", "module"): "module",
              ("node", "scope"): "scope", ("chain", "node"): "node", ("holder", "node"): "node", ("resource", "module"): "module"}
NUMBERED = ("node", "scope", "module")


class Tables:
    def __init__(self, path):
        with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db:
            db.row_factory = sqlite3.Row
            self.rows = {t: [dict(row) for row in db.execute(f"SELECT * FROM {t}")] for t in TABLES}
        self.rows["meta"] = [row for row in self.rows["meta"] if row["key"] in FACTS]

    def used(self, table):
        """Numbers of rows that others refer to, with all above them."""
        by_id = {row["id"]: row for row in self.rows[table]}
        todo = {row[column] for (of, column), to in REFERENCES.items() if to == table and of != table for row in self.rows[of]}
        todo |= {0} if table == "node" else set()
        found = set()
        while todo - {None}:
            number = todo.pop()
            if number is not None and number not in found:
                found.add(number)
                todo.add(by_id[number].get("parent"))
        return found

    def keep(self, table):
        """Only what is used, numbered anew."""
        used = self.used(table)
        self.rows[table] = [row for row in self.rows[table] if row["id"] in used]
        number = {row["id"]: i for i, row in enumerate(self.rows[table])}
        for row in self.rows[table]:
            row["id"] = number[row["id"]]
        for (of, column), to in REFERENCES.items():
            for row in self.rows[of] if to == table else ():
                row[column] = number.get(row[column])


def literal(value):
    if value is None:
        return "NULL"
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    # A nanosecond more or less says nothing.
    return f"{value:.9g}" if isinstance(value, float) else str(value)


def dump(path):
    tables = Tables(path)
    for table in NUMBERED:
        tables.keep(table)
    return "".join(f"INSERT INTO {name} VALUES\n" + ",\n".join(f"({','.join(map(literal, row.values()))})" for row in rows) + ";\n"
                   for name, rows in tables.rows.items() if rows)


def empty_profile(sonde, folder):
    """One that has all tables, and nothing in them."""
    path = os.path.join(folder, "empty")
    subprocess.run([sonde, "record", "-o", path, "--", "true"], check=True, capture_output=True)
    with contextlib.closing(sqlite3.connect(path)) as db, db:
        for (name,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall():
            db.execute(f"DELETE FROM {name}")
    return path


class Replayer:
    """Makes profiles of dumps, and reports of those."""

    def __init__(self, sonde):
        self.sonde, self.folder = sonde, tempfile.TemporaryDirectory(prefix="sonde-replay-")
        self.empty = empty_profile(sonde, self.folder.name)

    def profile(self, statements):
        path = os.path.join(self.folder.name, "profile")
        shutil.copy(self.empty, path)
        with contextlib.closing(sqlite3.connect(path)) as db:
            db.executescript(f"BEGIN; {statements} COMMIT;")
        return path

    def report(self, statements, *options):
        done = subprocess.run([self.sonde, "report", "--view=findings", *options, self.profile(statements)],
                              capture_output=True, text=True, check=False, env={**os.environ, "LC_ALL": "C.UTF-8"})
        assert done.returncode == 0, done.stderr
        return done.stdout.partition("\nMore: ")[0]  # commands that name the file
