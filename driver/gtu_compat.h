/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the packaged module needs to build on more than one kernel; in a kernel tree this file goes.
 */
#ifndef GTU_COMPAT_H
#define GTU_COMPAT_H

#include <linux/mm.h>

#ifndef GTU_HAS_VM_FLAGS_MOD
static inline void vm_flags_mod(struct vm_area_struct *vma, vm_flags_t set, vm_flags_t clear)
{
	vma->vm_flags = (vma->vm_flags | set) & ~clear;
}
#endif

#endif
