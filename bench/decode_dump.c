/* Prints what our decoders make of a file, for bench/decode-oracle: one line an instruction,
 *
 *	address length kind target [class op core-reads core-writes vec-reads vec-writes stack]
 *
 * in hexadecimal but for the names; with --full the part in brackets too. Length 0 is no
 * instruction; the sweep then goes on at the next byte that may start one.
 *
 *	decode_dump [--full] FILE                executable sections of an ELF file
 *	decode_dump [--full] --raw MACHINE FILE  bytes, as if they stood at address 0 */
#include <fcntl.h>
#include <gelf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "isa/arch.h"

static bool full;

static void print_stack(const struct insn *in)
{
	if (in->stack_known)
		printf(" %d\n", in->stack);
	else
		puts(" ?");
}

static void print(const struct insn *in, uint64_t pc, size_t length)
{
	if (length == 0) {
		printf("%" PRIx64 " 0\n", pc);
		return;
	}
	printf("%" PRIx64 " %zx %s %" PRIx64, pc, length, insn_kind_name[in->kind], in->target);
	if (!full) {
		putchar('\n');
		return;
	}
	printf(" %s %d %" PRIx64 " %" PRIx64 " %x %x", insn_class_name[in->class], in->op,
	       in->reads.core, in->writes.core, in->reads.vec, in->writes.vec);
	print_stack(in);
}

static void sweep(const struct arch *arch, const uint8_t *p, size_t n, uint64_t pc)
{
	struct insn in;
	for (size_t at = 0; at < n;) {
		size_t length = arch->decode(p + at, n - at, pc + at,
					     full ? DECODE_FULL : DECODE_FLOW, &in);
		print(&in, pc + at, length);
		at += length ? length : arch->insn_align;
	}
}

static int dump_elf(const char *path)
{
	int fd = open(path, O_RDONLY);
	Elf *elf = fd < 0 ? NULL : elf_begin(fd, ELF_C_READ_MMAP, NULL);
	GElf_Ehdr ehdr;
	if (!elf || !gelf_getehdr(elf, &ehdr)) {
		fprintf(stderr, "decode_dump: %s is not an ELF file\n", path);
		return 1;
	}
	const struct arch *arch = arch_of_machine(ehdr.e_machine);
	if (!arch) {
		fprintf(stderr, "decode_dump: %s is for a machine that we do not know\n", path);
		return 1;
	}
	for (Elf_Scn *s = elf_nextscn(elf, NULL); s; s = elf_nextscn(elf, s)) {
		GElf_Shdr shdr;
		Elf_Data *data;
		if (!gelf_getshdr(s, &shdr) || !(shdr.sh_flags & SHF_EXECINSTR) ||
		    shdr.sh_type != SHT_PROGBITS || !(data = elf_rawdata(s, NULL)))
			continue;
		sweep(arch, data->d_buf, data->d_size, shdr.sh_addr);
	}
	elf_end(elf);
	close(fd);
	return 0;
}

static int dump_raw(const char *machine, const char *path)
{
	const struct arch *arch = strcmp(machine, arch_a64.name) == 0 ? &arch_a64 : &arch_x64;
	FILE *f = fopen(path, "rb");
	if (!f) {
		perror(path);
		return 1;
	}
	fseek(f, 0, SEEK_END);
	size_t n = (size_t)ftell(f);
	rewind(f);
	uint8_t *bytes = malloc(n + 1);
	if (bytes && fread(bytes, 1, n, f) == n)
		sweep(arch, bytes, n, 0);
	free(bytes);
	fclose(f);
	return 0;
}

int main(int argc, char **argv)
{
	elf_version(EV_CURRENT);
	if (argc > 1 && strcmp(argv[1], "--full") == 0) {
		full = true;
		argc--;
		argv++;
	}
	if (argc == 2)
		return dump_elf(argv[1]);
	if (argc == 4 && strcmp(argv[1], "--raw") == 0)
		return dump_raw(argv[2], argv[3]);
	fputs("usage: decode_dump [--full] [--raw MACHINE] FILE\n", stderr);
	return 2;
}
