"""What Python programs do: objects, dictionaries, text, sorting, generators, recursion, C modules."""
import functools
import json
import re


class Node:
    __slots__ = ("key", "left", "right")

    def __init__(self, key):
        self.key, self.left, self.right = key, None, None


def insert(node, key):
    if node is None:
        return Node(key)
    if key < node.key:
        node.left = insert(node.left, key)
    else:
        node.right = insert(node.right, key)
    return node


def inorder(node):
    if node is not None:
        yield from inorder(node.left)
        yield node.key
        yield from inorder(node.right)


@functools.lru_cache(maxsize=None)
def paths(a, b):
    return 1 if a == 0 or b == 0 else paths(a - 1, b) + paths(a, b - 1)


def numbers(count, x=1):
    for _ in range(count):
        x = (x * 1103515245 + 12345) & 0x7fffffff
        yield x


def trees():
    root = None
    for key in numbers(20000):
        root = insert(root, key)
    return sum(1 for _ in inorder(root))


def texts():
    records = [{"id": i, "name": f"record {x}", "tags": [str(x % 7), str(x % 11)]} for i, x in enumerate(numbers(6000))]
    text = json.dumps(records, indent=1)
    words = {}
    for word in re.findall(r"[a-z]+|\d{3,}", text):
        words[word] = words.get(word, 0) + 1
    return sorted(json.loads(text), key=lambda r: (r["tags"], -words.get(str(r["id"]), 0)))[0]["id"]


def matrices(size=60):
    a = [[(i * j) % 7 + 0.5 for j in range(size)] for i in range(size)]
    b = [[sum(x * y for x, y in zip(row, column)) for column in zip(*a)] for row in a]
    return sum(map(sum, b))


def main(rounds):
    for _ in range(rounds):
        paths.cache_clear()
        print(trees(), texts(), matrices(), paths(100, 100), 3 ** 20000 % 1000007)


if __name__ == "__main__":
    import sys
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 12)
