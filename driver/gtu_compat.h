/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Compatibility of the out-of-tree module with several kernel versions. Not
 * needed in a kernel tree.
 */
#ifndef GTU_COMPAT_H
#define GTU_COMPAT_H

#include <linux/dma-buf.h>
#include <linux/eventfd.h>
#include <linux/mm.h>
#include <linux/version.h>

#ifndef GTU_HAS_VM_FLAGS_MOD
static inline void vm_flags_mod(struct vm_area_struct *vma, vm_flags_t set, vm_flags_t clear)
{
	vma->vm_flags = (vma->vm_flags | set) & ~clear;
}
#endif

/* Long-term read pins break copy-on-write since Linux 6.2. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 2, 0)
#define GTU_PIN_PRIVATE (FOLL_WRITE | FOLL_FORCE)
#else
#define GTU_PIN_PRIVATE 0
#endif

/* The page frame number had a type of its own before Linux 6.17. */
#ifdef GTU_HAS_PFN_T
#include <linux/pfn_t.h>
#define GTU_PFN(pfn) __pfn_to_pfn_t(pfn, PFN_DEV)
#else
#define GTU_PFN(pfn) (pfn)
#endif
#define gtu_insert_huge(vmf, pfn)                                                                  \
	vmf_insert_pfn_pmd(vmf, GTU_PFN(pfn), (vmf)->flags & FAULT_FLAG_WRITE)

/*
 * Drivers can map huge pages of their own since Linux 6.16. Before, a fault that
 * returned a huge page was enough, until kernels began to compare it with the
 * size of the file, which is 0 for a device.
 */
#ifdef GTU_HAS_INSERT_FOLIO_PMD
#define GTU_HUGE_BUFFERS IS_ENABLED(CONFIG_TRANSPARENT_HUGEPAGE)
#else
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 2, 0)
#define GTU_HUGE_BUFFERS IS_ENABLED(CONFIG_TRANSPARENT_HUGEPAGE)
#else
#define GTU_HUGE_BUFFERS 0
#endif
#endif

#ifndef GTU_HAS_MAP_ATTACHMENT_UNLOCKED
#define dma_buf_map_attachment_unlocked dma_buf_map_attachment
#define dma_buf_unmap_attachment_unlocked dma_buf_unmap_attachment
#endif

/*
 * move_notify was renamed. Kernels that have the new name pin no memory of importers
 * that follow moves, which was an option before.
 */
#ifdef GTU_HAS_INVALIDATE_MAPPINGS
#define GTU_MOVE_NOTIFY invalidate_mappings
#define GTU_MOVES_IMPORTS 1
#else
#define GTU_MOVE_NOTIFY move_notify
#define GTU_MOVES_IMPORTS IS_ENABLED(CONFIG_DMABUF_MOVE_NOTIFY)
#define dma_buf_invalidate_mappings dma_buf_move_notify
#endif

/* The namespace argument was a bare word before Linux 6.13. */
#ifdef GTU_HAS_IMPORT_NS_WORD
#define GTU_IMPORT_DMA_BUF() MODULE_IMPORT_NS(DMA_BUF)
#else
#define GTU_IMPORT_DMA_BUF() MODULE_IMPORT_NS("DMA_BUF")
#endif

#ifdef GTU_HAS_EVENTFD_SIGNAL_ONE
#define gtu_eventfd_signal(eventfd) eventfd_signal(eventfd)
#else
#define gtu_eventfd_signal(eventfd) eventfd_signal(eventfd, 1)
#endif

/* The callback without return value was named remove_new for some releases. */
#ifdef GTU_HAS_REMOVE_NEW
#define GTU_PLATFORM_REMOVE remove_new
#else
#define GTU_PLATFORM_REMOVE remove
#endif

/* Binary attributes became const. */
#ifdef GTU_HAS_BIN_ATTRS_CONST
#define GTU_BIN_CONST const
#else
#define GTU_BIN_CONST
#endif

#endif
