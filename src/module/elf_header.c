/* Checks whether Sonde can analyse a file, and if not, says what the file is. People point tools at
 * scripts, archives, object files and core dumps all the time; the sentence must tell them what to
 * do instead. */
#include <stdio.h>

#include "module/elf_reader.h"

static const struct magic {
	const char *bytes;
	uint8_t size;
	const char *sentence;
} magics[] = {
	{"!<arch>\n", 8, "it is a static library (ar archive); link it into a program first"},
	{"!<thin>\n", 8, "it is a static library (thin ar archive); link it into a program first"},
	{"\x1f\x8b", 2, "it is compressed with gzip; decompress it first (gzip -d)"},
	{"\xfd"
	 "7zXZ\0",
	 6, "it is compressed with xz; decompress it first (xz -d)"},
	{"\x28\xb5\x2f\xfd", 4, "it is compressed with zstd; decompress it first (zstd -d)"},
	{"BZh", 3, "it is compressed with bzip2; decompress it first (bzip2 -d)"},
	{"PK\x03\x04", 4, "it is a zip archive; unpack it first (unzip)"},
	{"MZ", 2, "it is a Windows program; Sonde reads Linux programs"},
	{"\xcf\xfa\xed\xfe", 4, "it is a macOS program; Sonde reads Linux programs"},
	{"BC\xc0\xde", 4, "it is LLVM bitcode; compile and link it first"},
	{"\0asm", 4, "it is WebAssembly; Sonde reads Linux programs for x86-64 and aarch64"},
	{"\xca\xfe\xba\xbe", 4, "it is a Java class or macOS program; Sonde reads Linux programs"},
};

static const struct known_machine {
	uint16_t number;
	const char *name;
} machines[] = {
	{EM_386, "i386"},        {EM_ARM, "arm"},
	{EM_RISCV, "riscv"},     {EM_PPC, "ppc"},
	{EM_PPC64, "ppc64"},     {EM_S390, "s390x"},
	{EM_MIPS, "mips"},       {EM_SPARC, "sparc"},
	{EM_SPARCV9, "sparc64"}, {EM_IA_64, "ia64"},
	{EM_68K, "m68k"},        {EM_PARISC, "hppa"},
	{EM_SH, "sh4"},          {EM_ALPHA, "alpha"},
	{EM_BPF, "bpf"},         {EM_LOONGARCH, "loongarch"},
	{EM_CUDA, "cuda"},       {EM_AMDGPU, "amdgpu"},
};

static bool looks_like_text(const uint8_t *bytes, uint64_t size)
{
	for (uint64_t i = 0; i < size && i < 512; i++)
		if (bytes[i] < 0x20 ? !strchr("\t\n\r\f\b\033", bytes[i]) || !bytes[i]
				    : bytes[i] == 0x7f)
			return false;
	return true;
}

/* A script that begins with "#! /usr/bin/env python3 -u" is run by python3, any other by its first
 * word. */
static int refuse_script(const char *line, uint64_t size, struct err *e)
{
	char word[2][200] = {"", ""}, text[400];
	size_t n = size < sizeof(text) ? (size_t)size : sizeof(text) - 1;
	memcpy(text, line, n);
	text[n] = '\0';
	text[strcspn(text, "\n")] = '\0';
	sscanf(text, "#! %199s %199s", word[0], word[1]);
	size_t length = strlen(word[0]);
	bool env = length >= 4 && !strcmp(word[0] + length - 4, "/env") && word[1][0];
	return err_set(e, ERR_INPUT, "it is a script; name the program that runs it instead (%s)",
		       env ? word[1] : word[0]);
}

int elf_refuse(const uint8_t *bytes, uint64_t size, struct err *e)
{
	if (!size)
		return err_set(e, ERR_INPUT, "the file is empty; build or copy it again");
	if (size >= 2 && !memcmp(bytes, "#!", 2))
		return refuse_script((const char *)bytes, size, e);
	for (size_t i = 0; i < ARRAY_SIZE(magics); i++)
		if (size >= magics[i].size && !memcmp(bytes, magics[i].bytes, magics[i].size))
			return err_set(e, ERR_INPUT, "%s", magics[i].sentence);
	return err_set(e, ERR_INPUT, "it is %s, not an ELF program or shared library",
		       looks_like_text(bytes, size) ? "a text file" : "some other kind of data");
}

static const char *machine_name(uint16_t number)
{
	static _Thread_local char unknown[32];
	for (size_t i = 0; i < ARRAY_SIZE(machines); i++)
		if (machines[i].number == number)
			return machines[i].name;
	snprintf(unknown, sizeof(unknown), "ELF machine %u", number);
	return unknown;
}

static int refuse_machine(const char *what, uint16_t machine, struct err *e)
{
	return err_set(e, ERR_UNSUPPORTED,
		       "it is %s for %s; Sonde reads 64-bit programs for x86-64 and aarch64", what,
		       machine_name(machine));
}

static int check_type(uint16_t type, struct err *e)
{
	switch (type) {
	case ET_EXEC:
	case ET_DYN: return 0;
	case ET_REL:
		return err_set(e, ERR_INPUT,
			       "it is an object file (.o, .ko) that is not linked yet; name the "
			       "program or shared library it goes into");
	case ET_CORE:
		return err_set(e, ERR_INPUT,
			       "it is a core file; name the program that left it instead");
	default:
		return err_set(e, ERR_INPUT,
			       "it is an ELF file of type %u, not a program or shared "
			       "library",
			       type);
	}
}

int elf_check_kind(const Elf64_Ehdr *h, struct err *e)
{
	uint16_t machine = h->e_machine;
	if (h->e_ident[EI_DATA] == ELFDATA2MSB)
		return refuse_machine("a big-endian program", __builtin_bswap16(machine), e);
	if (h->e_ident[EI_CLASS] == ELFCLASS32)
		return refuse_machine("a 32-bit program", machine, e);
	if (h->e_ident[EI_CLASS] != ELFCLASS64 || h->e_ident[EI_DATA] != ELFDATA2LSB)
		return err_set(e, ERR_INPUT, "its ELF header is damaged; build or copy it again");
	if (!arch_of_machine(machine))
		return refuse_machine("a program", machine, e);
	return check_type(h->e_type, e);
}

int elf_read_header(struct reader *r, struct err *e)
{
	enum { HEAD_SIZE = 4096 }; /* what a file that is not ELF is recognised by */
	struct module *m = r->module;
	size_t n = m->size < HEAD_SIZE ? m->size : HEAD_SIZE;
	const uint8_t *head = lazy_file_at(m->file, 0, n);
	if (n < SELFMAG || memcmp(head, ELFMAG, SELFMAG) != 0)
		return elf_refuse(head, n, e);
	memcpy(&r->header, head, n < sizeof(r->header) ? n : sizeof(r->header));
	if (n >= EI_NIDENT + 4) {
		int rc = elf_check_kind(&r->header, e);
		if (rc)
			return rc;
	}
	if (n < sizeof(r->header))
		return err_set(
			e, ERR_INPUT,
			"the file is truncated: it ends within the ELF header; copy it again");
	m->machine = r->header.e_machine;
	m->arch = arch_of_machine(m->machine);
	return 0;
}
