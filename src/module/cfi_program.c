/* The virtual machine of DWARF section 6.4, as far as compilers and assemblers use it. The only
 * expression that it understands is the one for a CFA that was stored in memory. */
#include "module/cfi_program.h"

#include <dwarf.h>

#include "base/vec.h"

/* Instructions after which the return address is signed, or no longer signed. Signatures need no
 * further handling: code that follows return addresses strips them anyway. The form with the pc in
 * the signature is newer. */
enum { NEGATE_RA_STATE_WITH_PC = 0x2c, NEGATE_RA_STATE = 0x2d };

/* Translates DWARF's register numbers to ours. Vector registers and the like are ignored. */
static unsigned column_of(const struct arch *arch, uint64_t dwarf)
{
	const struct arch_file *f = arch->file;
	unsigned reg = dwarf < f->dwarf_count ? f->dwarf[dwarf] : DWARF_IGNORED;
	return reg == DWARF_RETURN ? CFI_COLUMN_RETURN : reg;
}

static void set_rule(struct cfi_program *p, uint64_t dwarf, enum cfi_rule rule, uint64_t offset)
{
	unsigned column = column_of(p->cie->arch, dwarf);
	if (column == DWARF_IGNORED)
		return;
	p->state.rule[column] = (uint8_t)rule;
	p->state.offset[column] = (int64_t)offset;
}

static void set_restored(struct cfi_program *p, uint64_t dwarf)
{
	unsigned column = column_of(p->cie->arch, dwarf);
	if (column == DWARF_IGNORED)
		return;
	p->state.rule[column] = p->cie->initial.rule[column];
	p->state.offset[column] = p->cie->initial.offset[column];
}

static void set_register(struct cfi_program *p, uint64_t dwarf, uint64_t other)
{
	unsigned column = column_of(p->cie->arch, other);
	set_rule(p, dwarf, column < CFI_REGISTERS ? CFI_REGISTER : CFI_UNKNOWN, column);
}

static void set_cfa(struct cfi_program *p, uint64_t dwarf, uint64_t offset)
{
	unsigned column = column_of(p->cie->arch, dwarf);
	struct cfi_state *s = &p->state;
	s->cfa = column < CFI_REGISTERS ? CFI_CFA_REGISTER : CFI_CFA_UNKNOWN;
	s->cfa_reg = column < CFI_REGISTERS ? (uint8_t)column : 0;
	s->cfa_offset = (int64_t)offset;
	s->cfa_add = 0;
}

static void set_cfa_register(struct cfi_program *p, uint64_t dwarf)
{
	if (p->state.cfa == CFI_CFA_REGISTER)
		set_cfa(p, dwarf, (uint64_t)p->state.cfa_offset);
	else
		p->state.cfa = CFI_CFA_UNKNOWN;
}

static void set_cfa_offset(struct cfi_program *p, uint64_t offset)
{
	if (p->state.cfa == CFI_CFA_REGISTER)
		p->state.cfa_offset = (int64_t)offset;
	else
		p->state.cfa = CFI_CFA_UNKNOWN;
}

static struct cursor take_block(struct cursor *c)
{
	uint64_t size = cursor_uleb(c);
	const uint8_t *at = cursor_take(c, size);
	return cursor_over(at, at ? size : 0);
}

/* breg REG OFFSET; deref [; plus_uconst N] */
static void set_cfa_expression(struct cfi_program *p, struct cursor c)
{
	uint8_t op = cursor_u8(&c);
	uint64_t reg = op == DW_OP_bregx ? cursor_uleb(&c) : (uint64_t)op - DW_OP_breg0;
	uint64_t offset = cursor_sleb(&c), add = 0;
	bool is_base = op == DW_OP_bregx || (op >= DW_OP_breg0 && op <= DW_OP_breg31);
	bool is_load = cursor_u8(&c) == DW_OP_deref;
	if (is_base && is_load && cursor_left(&c))
		is_load = cursor_u8(&c) == DW_OP_plus_uconst && (add = cursor_uleb(&c), true);
	set_cfa(p, reg, offset);
	if (!is_base || !is_load || c.bad || cursor_left(&c))
		p->state.cfa = CFI_CFA_UNKNOWN;
	if (p->state.cfa == CFI_CFA_REGISTER) {
		p->state.cfa = CFI_CFA_MEMORY;
		p->state.cfa_add = (int64_t)add;
	}
}

/* Ends the program: nothing is known from here on. */
static void give_up(struct cfi_program *p)
{
	p->state.cfa = CFI_CFA_UNKNOWN;
	p->code.at = p->code.end;
	p->depth = 0;
}

static void remember_state(struct cfi_program *p)
{
	if (p->depth == CFI_DEPTH)
		give_up(p);
	else
		p->stack[p->depth++] = p->state;
}

static void restore_state(struct cfi_program *p)
{
	if (p->depth)
		p->state = p->stack[--p->depth];
	else
		give_up(p);
}

static void advance(struct cfi_program *p, uint64_t units)
{
	uint64_t bytes;
	if (__builtin_mul_overflow(units, p->cie->code_align, &bytes) ||
	    bytes > p->fde_end - p->next)
		p->next = p->fde_end;
	else
		p->next += bytes;
}

static void set_location(struct cfi_program *p)
{
	uint64_t va;
	if (!read_encoded(&p->code, p->cie->address_encoding, p->base, &va) || va < p->next)
		give_up(p);
	else
		p->next = va < p->fde_end ? va : p->fde_end;
}

static void run_moving(struct cfi_program *p, uint8_t code)
{
	struct cursor *c = &p->code;
	switch (code) {
	case DW_CFA_set_loc: set_location(p); break;
	case DW_CFA_advance_loc1: advance(p, cursor_u8(c)); break;
	case DW_CFA_advance_loc2: advance(p, cursor_uint(c, 2)); break;
	case DW_CFA_advance_loc4: advance(p, cursor_u32(c)); break;
	case DW_CFA_MIPS_advance_loc8: advance(p, cursor_u64(c)); break;
	case DW_CFA_remember_state: remember_state(p); break;
	case DW_CFA_restore_state: restore_state(p); break;
	case DW_CFA_nop: break;
	case NEGATE_RA_STATE:
	case NEGATE_RA_STATE_WITH_PC: p->state.is_signed = !p->state.is_signed; break;
	case DW_CFA_GNU_args_size: cursor_uleb(c); break;
	default: give_up(p);
	}
}

static void run_cfa(struct cfi_program *p, uint8_t code)
{
	struct cursor *c = &p->code;
	uint64_t align = p->cie->data_align, reg;
	switch (code) {
	case DW_CFA_def_cfa: reg = cursor_uleb(c), set_cfa(p, reg, cursor_uleb(c)); break;
	case DW_CFA_def_cfa_sf:
		reg = cursor_uleb(c), set_cfa(p, reg, cursor_sleb(c) * align);
		break;
	case DW_CFA_def_cfa_register: set_cfa_register(p, cursor_uleb(c)); break;
	case DW_CFA_def_cfa_offset: set_cfa_offset(p, cursor_uleb(c)); break;
	case DW_CFA_def_cfa_offset_sf: set_cfa_offset(p, cursor_sleb(c) * align); break;
	case DW_CFA_def_cfa_expression: set_cfa_expression(p, take_block(c)); break;
	default: run_moving(p, code);
	}
}

/* Runs an instruction whose first operand is a register. */
static void run_rule(struct cfi_program *p, uint8_t code)
{
	struct cursor *c = &p->code;
	uint64_t align = p->cie->data_align, reg = cursor_uleb(c);
	switch (code) {
	case DW_CFA_offset_extended: set_rule(p, reg, CFI_SAVED, cursor_uleb(c) * align); break;
	case DW_CFA_offset_extended_sf: set_rule(p, reg, CFI_SAVED, cursor_sleb(c) * align); break;
	case DW_CFA_GNU_negative_offset_extended:
		set_rule(p, reg, CFI_SAVED, -(cursor_uleb(c) * align));
		break;
	case DW_CFA_restore_extended: set_restored(p, reg); break;
	case DW_CFA_undefined: set_rule(p, reg, CFI_UNDEFINED, 0); break;
	case DW_CFA_same_value: set_rule(p, reg, CFI_SAME, 0); break;
	case DW_CFA_register: set_register(p, reg, cursor_uleb(c)); break;
	case DW_CFA_val_offset:
	case DW_CFA_val_offset_sf:
		cursor_uleb(c);
		set_rule(p, reg, CFI_UNKNOWN, 0);
		break;
	default: /* expression, val_expression */ take_block(c); set_rule(p, reg, CFI_UNKNOWN, 0);
	}
}

static bool has_register(uint8_t code)
{
	switch (code) {
	case DW_CFA_offset_extended:
	case DW_CFA_offset_extended_sf:
	case DW_CFA_GNU_negative_offset_extended:
	case DW_CFA_restore_extended:
	case DW_CFA_undefined:
	case DW_CFA_same_value:
	case DW_CFA_register:
	case DW_CFA_val_offset:
	case DW_CFA_val_offset_sf:
	case DW_CFA_expression:
	case DW_CFA_val_expression: return true;
	default: return false;
	}
}

static void run_one(struct cfi_program *p)
{
	uint8_t code = cursor_u8(&p->code), low = code & 0x3f;
	switch (code & 0xc0) {
	case DW_CFA_advance_loc: advance(p, low); break;
	case DW_CFA_offset:
		set_rule(p, low, CFI_SAVED, cursor_uleb(&p->code) * p->cie->data_align);
		break;
	case DW_CFA_restore: set_restored(p, low); break;
	default:
		if (has_register(code))
			run_rule(p, code);
		else
			run_cfa(p, code);
	}
	if (p->code.bad)
		give_up(p);
}

bool cfi_next_row(struct cfi_program *p)
{
	p->start = p->next;
	if (p->start >= p->fde_end)
		return false;
	while (p->next == p->start && p->code.at < p->code.end)
		run_one(p);
	if (p->next == p->start)
		p->next = p->fde_end;
	p->end = p->next;
	return true;
}

void cfi_run_initial(struct cfi_cie *cie, struct cursor code, const struct encoding_base *base)
{
	struct cfi_program p = {.cie = cie, .base = base, .code = code, .fde_end = 1};
	/* The psABI's rule, in case the CIE says nothing; all other registers keep their values. */
	p.state.rule[CFI_COLUMN_RETURN] = CFI_SAVED;
	p.state.offset[CFI_COLUMN_RETURN] = -8;
	cie->initial = p.state;
	cfi_next_row(&p);
	cie->initial = p.state;
}

void cfi_start(struct cfi_program *p, const struct cfi_cie *cie, struct cursor code,
	       const struct encoding_base *base, uint64_t start, uint64_t end)
{
	p->cie = cie;
	p->base = base;
	p->code = code;
	p->start = p->end = p->next = start;
	p->fde_end = end;
	p->state = cie->initial;
	p->depth = 0;
}

bool cfi_begins_initial(const struct cfi_cie *cie, struct cursor code)
{
	enum { OPERATION = 0xc0, OPERAND = 0x3f };
	while (code.at < code.end && *code.at == DW_CFA_nop)
		code.at++;
	if (code.at == code.end)
		return true;
	return (*code.at & OPERATION) == DW_CFA_advance_loc && *code.at & OPERAND &&
	       cie->code_align;
}

/* Undefined rules do not count: a frame without a return address is the outermost one, so it is not
 * in the middle of a function. */
bool cfi_is_entry(const struct cfi_program *p)
{
	const struct cfi_state *now = &p->state, *initial = &p->cie->initial;
	if (now->cfa != initial->cfa || now->cfa_reg != initial->cfa_reg ||
	    now->cfa_offset != initial->cfa_offset || now->is_signed != initial->is_signed)
		return false;
	for (unsigned i = 0; i < CFI_COLUMNS; i++)
		if (now->rule[i] != CFI_UNDEFINED &&
		    (now->rule[i] != initial->rule[i] || now->offset[i] != initial->offset[i]))
			return false;
	return true;
}

void cfi_fill_row(const struct cfi_program *p, struct cfi_row *out)
{
	const struct cfi_state *s = &p->state;
	unsigned ret = column_of(p->cie->arch, p->cie->return_column);
	*out = (struct cfi_row){
		.start = p->start,
		.end = p->end,
		.cfa = s->cfa,
		.cfa_reg = s->cfa_reg,
		.cfa_offset = s->cfa_offset,
		.cfa_add = s->cfa_add,
		.is_signal = p->cie->is_signal,
		.ret = ret < CFI_COLUMNS ? s->rule[ret] : (uint8_t)CFI_UNKNOWN,
		.ret_offset = ret < CFI_COLUMNS ? s->offset[ret] : 0,
	};
	memcpy(out->rule, s->rule, sizeof(out->rule));
	memcpy(out->offset, s->offset, sizeof(out->offset));
}
