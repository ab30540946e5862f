/* The runtime's first bytes, struct rt_entry_table. Both architectures' entry_*.S include this and
 * define the entry points. */
	.section .rt.head, "ax"
	.globl	rt_entries
	.hidden	rt_entries
rt_entries:
	.quad	0, 0, 0
	.long	hit - rt_entries, find - rt_entries, remote - rt_entries
	.long	rt_trap - rt_entries, restorer - rt_entries
	.long	called - rt_entries, returned - rt_entries, landed - rt_entries, tripped - rt_entries, 0
