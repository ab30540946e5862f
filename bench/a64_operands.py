"""Registers that an A64 instruction reads and writes, from objdump's text alone.

The rule is: the first operand is written, the others are read. What follows are the exceptions, by mnemonic. It
is deliberately written from the assembly language and not from encodings, so that it errs in other places than
the decoder which it checks."""

import re

REGISTER = re.compile(r"\b(?:([xw])(\d+)|w?(sp)|([bhsdqvz])(\d+)|(p)(\d+))\b")
RANGE = re.compile(r"([vz])(\d+)\.\w+\s*-\s*[vz](\d+)")


def words(text):
    return set(text.split())


COMPARES = words("cmp cmn tst fcmp fcmpe cmpp")
CONDITIONAL_COMPARES = words("ccmp ccmn fccmp fccmpe")
FLAGS_WRITTEN = COMPARES | words(
    "adds subs ands bics negs subps fjcvtzs match nmatch ptest pfirst pnext "
    "eors orrs orns nors nands movs nots brkas brkbs brkns brkpas brkpbs ptrues rdffrs eret eretaa eretab drps")
FLAGS_BOTH = CONDITIONAL_COMPARES | words(
    "adcs sbcs ngcs rmif setf8 setf16 cfinv axflag xaflag ctermeq ctermne")
STREAMING = {"v%d" % i for i in range(32)} | {"p%d" % i for i in range(16)} | {"ffr"}
FLAGS_READ = words("adc sbc ngc csel csinc csinv csneg cset csetm cinc cinv cneg fcsel")

# All operands are read, none is written.
READ_ONLY = COMPARES | CONDITIONAL_COMPARES | words(
    "rmif setf8 setf16 cbz cbnz tbz tbnz br blr ret braa brab braaz brabz blraa blrab blraaz blrabz msr dc ic at "
    "tlbi sys cfp dvp cpp wfet wfit ptest wrffr ctermeq ctermne prfm prfum prfb prfh prfw prfd dsb dmb isb bti "
    "fmopa fmops bfmopa bfmops smopa smops umopa umops sumopa sumops usmopa usmops addha addva zero "
    "stadd staddl staddb staddlb staddh staddlh")
READ_ONLY |= {"st%s%s%s" % (op, order, size) for op in "add clr eor set smax smin umax umin".split()
              for order in ("", "l") for size in ("", "b", "h")}
STORES = re.compile(r"st(r|ur|tr|lr|llr|lur|p|np|gp?$|z2?g|2g|gm|zgm|64b$|[1-4](?:$|[bhwdq]$)|nt1)")
STATUS_STORES = re.compile(r"st(lx|x)[rp]|st64bv")
TWO_LOADED = words("ldp ldnp ldpsw ldxp ldaxp")
ATOMIC = re.compile(r"(ld(add|clr|eor|set|[su]max|[su]min)|swp)(a|l|al)?[bh]?$")
COMPARE_AND_SWAP = re.compile(r"cas(p?)(a|l|al)?[bh]?$")
COPY = re.compile(r"(cpy|set)(f|g)?([pme])")

# The first operand is read as well as written.
ACCUMULATES = re.compile("|".join("(?:%s)$" % p for p in (
    "movk", "bf(i|xil|c|m)", "(pac|aut)(ia|ib|da|db|iza|izb|dza|dzb)", "xpac[id]", "ldg",
    "f?ml[as]", "fmlal2?", "fmlsl2?", "f?ml[as]l[bt]", "bfml[as]l[bt]", "[su]ml[as]l2?", "[su]ml[as]l[bt]",
    "sqdml[as]l2?", "sqdml[as]l(b|t|bt)", "[su]aba", "[su]abal2?", "[su]abal[bt]", "[su]adalp", "suqadd", "usqadd",
    "[su]r?sra", "s[rl]i", "b(sl|it|if)", "tbx", "[us]dot", "usdot", "sudot", "bfdot", "cdot", "[us]mmla",
    "usmmla", "f?mmla", "bfmmla", "fcmla", "cmla", "sqrdml[as]h", "sqrdcmlah", "aes[ed]", "sha1(c|p|m|su0|su1)",
    "sha256(h|h2|su0|su1)", "sha512(h|h2|su0|su1)", "sm3(tt..|partw[12])", "sm4e", "r?(add|sub)hn2",
    "(xtn|sqxtn|uqxtn|sqxtun|fcvtn|fcvtxn|bfcvtn|r?shrn|sqr?shrn|uqr?shrn|sqr?shrun)2",
    "r?(add|sub)hnt", "(sqxtn|uqxtn|sqxtun|r?shrn|sqr?shrn|uqr?shrn|sqr?shrun)t", "eor(bt|tb)", "(adc|sbc)l[bt]",
    "[su]clamp", "insr", "[su]?q?(inc|dec)[bhwdp]")))


def split(operands):
    """Operands, at the commas outside brackets."""
    result, depth, current = [], 0, ""
    for c in operands:
        depth += c in "[{"
        depth -= c in "]}"
        if c == "," and depth == 0:
            result.append(current.strip())
            current = ""
        else:
            current += c
    return result + [current.strip()] if current.strip() else result


def names(operand):
    """Registers in an operand: xN, sp, vN (for every name of a vector register), pN."""
    found = set()
    for kind, first, last in RANGE.findall(operand):
        n = int(first)
        while n != int(last):
            found.add("v%d" % n)
            n = (n + 1) % 32
    for general, n, sp, _, v, p, pn in REGISTER.findall(operand):
        found.add("x" + n if general else "sp" if sp else "v" + v if v else p + pn)
    return found


def clean(operands):
    """Without comments and addresses."""
    operands = re.sub(r"\b[0-9a-f]+ <.*", "", operands)
    for mark in ("//", ";"):
        operands = operands.split(mark)[0]
    return operands.strip()


def following(operand, count):
    n = int(operand[1:])
    return {"x%d" % i for i in range(n, n + count)}


def destinations(mnemonic, ops):
    """How many of the first operands are written, and whether they are read too."""
    if mnemonic in READ_ONLY or (STORES.match(mnemonic) and not STATUS_STORES.match(mnemonic)):
        return 0, False
    if mnemonic in TWO_LOADED:
        return 2, False
    swap = COMPARE_AND_SWAP.match(mnemonic)
    if swap:
        return (2 if swap.group(1) else 1), True
    if ACCUMULATES.match(mnemonic):
        return 1, True
    merged = len(ops) > 1 and re.match(r"p\d+/m", ops[1])
    lane = re.match(r"(v\d+|\{.*\})\.?\w*\[\d+\]$", ops[0]) is not None
    constant = mnemonic in ("orr", "bic") and ops[0][0] == "v" and ops[1].startswith("#")
    return 1, bool(merged or lane or constant)


def flags(mnemonic, ops, reads, writes):
    sve_compare = mnemonic.startswith("cmp") and ops and ops[0].startswith("p")
    if mnemonic in FLAGS_WRITTEN or sve_compare or mnemonic.startswith("while"):
        writes.add("flags")
    if mnemonic in FLAGS_BOTH:
        reads.add("flags")
        writes.add("flags")
    conditional = mnemonic.startswith(("b.", "bc.")) and not mnemonic.endswith((".al", ".nv"))
    if mnemonic in FLAGS_READ or conditional:
        reads.add("flags")


def system(mnemonic, ops, reads, writes):
    """Instructions whose registers are not (all) in the text."""
    if mnemonic == "ret" and not ops:
        reads.add("x30")
    if mnemonic in ("retaa", "retab"):
        reads.update(("x30", "sp"))
    if mnemonic in ("eretaa", "eretab"):
        reads.add("sp")
    if mnemonic.startswith("bl"):
        writes.add("x30")
    if mnemonic == "svc":
        reads.update("x%d" % i for i in (0, 1, 2, 3, 4, 5, 8))
        writes.add("x0")
    if mnemonic in ("hvc", "smc"):
        reads.update("x%d" % i for i in range(18))
        writes.update("x%d" % i for i in range(18))
    if re.match(r"(pac|aut)i[ab](z|sp)$|xpaclri$", mnemonic):
        reads.add("x30")
        writes.add("x30")
        if mnemonic.endswith("sp"):
            reads.add("sp")
    if re.match(r"(pac|aut)i[ab]1716$", mnemonic):
        reads.update(("x16", "x17"))
        writes.add("x17")
    if mnemonic == "hint" and ops[0] == "#0x28":
        reads.add("x16")
        writes.add("x16")
    if mnemonic in ("smstart", "smstop") and "za" not in ops:
        reads |= STREAMING
        writes |= STREAMING
    if mnemonic in ("mrs", "msr"):
        registers_of_system(ops[1] if mnemonic == "mrs" else ops[0], mnemonic == "msr", reads, writes)
    if re.match(r"ld(ff|nf)1", mnemonic) or mnemonic in ("rdffr", "rdffrs"):
        reads.add("ffr")
    if re.match(r"ld(ff|nf)1", mnemonic) or mnemonic in ("wrffr", "setffr"):
        writes.add("ffr")


def registers_of_system(name, written, reads, writes):
    if name == "nzcv":
        (writes if written else reads).add("flags")
    if name in ("fpcr", "fpsr"):
        reads.add("fpcr")
        if written:
            writes.add("fpcr")
    if name == "svcr" and written:
        reads |= STREAMING
        writes |= STREAMING
    if name in ("rndr", "rndrrs") and not written:
        writes.add("flags")


def copied(mnemonic, ops):
    """cpy and set: what has a ! is updated; the prologue makes the flags, the others go on from them."""
    reads, writes = set(), set()
    for op in ops:
        reads |= names(op)
        if op.endswith("!"):
            writes |= names(op)
    writes.add("flags")
    if COPY.match(mnemonic).group(3) != "p":
        reads.add("flags")
    return reads, writes


def registers(mnemonic, operands):
    """The sets read and written."""
    ops = split(clean(operands))
    if COPY.match(mnemonic) and ops and ops[0].endswith("]!"):
        return copied(mnemonic, ops)
    reads, writes = set(), set()
    if ops:
        count, also_read = destinations(mnemonic, ops)
        if ATOMIC.match(mnemonic):
            writes |= names(ops[1])
            reads |= names(ops[0])
        for i, op in enumerate(ops):
            if ATOMIC.match(mnemonic) and i < 2:
                continue
            elif i < count and not op.startswith(("za", "{za")):
                writes |= names(op)
                if also_read:
                    reads |= names(op)
            else:
                reads |= names(op)
        if mnemonic in ("ld64b", "st64b"):
            (writes if mnemonic == "ld64b" else reads).update(following(ops[0], 8))
        if mnemonic in ("st64bv", "st64bv0"):
            reads |= following(ops[1], 8)
        for i, op in enumerate(ops):
            if op.startswith("[") and (op.endswith("!") or i + 1 < len(ops)):
                writes |= names(op[:op.find(",")] if "," in op else op)
    flags(mnemonic, ops, reads, writes)
    system(mnemonic, ops, reads, writes)
    return reads, writes


def from_masks(core_reads, core_writes, vec_reads, vec_writes):
    def named(core, vec):
        found = {"v%d" % i for i in range(32) if vec >> i & 1}
        for i in range(64):
            if core >> i & 1:
                found.add("x%d" % i if i < 31 else "sp" if i == 31 else "flags" if i == 32
                          else "p%d" % (i - 33) if i < 49 else "ffr" if i == 49 else "fpcr")
        return found
    return named(core_reads, vec_reads), named(core_writes, vec_writes)
