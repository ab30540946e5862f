"""The work of work.py again and again, and when: each line is the time by the wall, CPU time and rounds done."""
import os
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True
import work

end, rounds = time.monotonic() + float(sys.argv[1]), 0
while time.monotonic() < end:
    work.matrices(30)
    work.paths.cache_clear()
    work.paths(20, 20)
    rounds += 1
    print(f"{time.monotonic():.6f} {time.process_time():.6f} {rounds}", flush=True)
