/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * GTU: what the driver and user space agree on. Descriptors, completions and doorbells, which user
 * space handles without the driver, are in gtu/hw.h.
 */
#ifndef _UAPI_GTU_H
#define _UAPI_GTU_H

#include <linux/ioctl.h>
#include <linux/types.h>

/**
 * DOC: The protocol
 *
 * An open file of /dev/gtuN is a context: regions, queues and mappings belong to it and end with
 * it. Memory becomes reachable for the device as a region, which descriptors name by its key. A
 * queue is two rings and a doorbell page that user space maps and then works on without a system
 * call.
 *
 * Every ioctl takes a pointer to a struct that begins with @size, the bytes of the struct as the
 * caller knows it, and @flags. A struct grows at its end only. Shorter than the first version:
 * %EINVAL; longer than the driver knows: %E2BIG unless what is beyond is zero. The driver writes
 * back min(@size, its own). Reserved fields must be zero. The layout is the same for 32-bit
 * callers; pointers are __u64.
 *
 * What an error means, for every ioctl:
 *
 * ============ ==================================================================================
 * %ENOTTY      no such ioctl
 * %EINVAL      @size is too small, or a value has no meaning (alignment, range)
 * %E2BIG       @size is larger than the driver's and what is beyond is not zero
 * %EOPNOTSUPP  a flag or reserved field that this driver does not know is set, or a kind of memory
 *              that cannot be made reachable: the platform would have to copy it (swiotlb), or it
 *              is a private mapping of a file, to be read only (the kernel would copy it)
 * %EFAULT      a pointer does not lead to the caller's memory, or not with the rights asked for
 * %EOVERFLOW   address plus length wraps around
 * %ENOENT      no such key or queue in this context
 * %ENOSPC      nothing of that kind is left: contexts, queues, region slots, driver buffers
 * %EDQUOT      the pages would exceed the caller's RLIMIT_MEMLOCK
 * %ENOMEM      no memory
 * %EACCES      mmap with rights that the mapping does not give
 * %ETIMEDOUT   the deadline has passed
 * %EINTR       a signal came; nothing was changed, except where said; never restarted by the kernel
 * %EIO         the queue is in error, or the device refused; a queue's error ends with QUEUE_RESET
 * %ECANCELED   the queue was reset or destroyed while the call waited for it
 * %ENODEV      the device is gone, or was reset after this file was opened: close it
 * ============ ==================================================================================
 */

#define GTU_IOCTL_MAGIC		0xE9

/* The size is in the struct, not in the number: a struct that has grown keeps its ioctl. */
#define GTU_IOCTL_INFO		_IO(GTU_IOCTL_MAGIC, 0x00)
#define GTU_IOCTL_REGION_ADD	_IO(GTU_IOCTL_MAGIC, 0x01)
#define GTU_IOCTL_BUFFER_ALLOC	_IO(GTU_IOCTL_MAGIC, 0x02)
#define GTU_IOCTL_REGION_REMOVE	_IO(GTU_IOCTL_MAGIC, 0x03)
#define GTU_IOCTL_QUEUE_CREATE	_IO(GTU_IOCTL_MAGIC, 0x04)
#define GTU_IOCTL_QUEUE_DESTROY	_IO(GTU_IOCTL_MAGIC, 0x05)
#define GTU_IOCTL_QUEUE_RESET	_IO(GTU_IOCTL_MAGIC, 0x06)
#define GTU_IOCTL_WAIT		_IO(GTU_IOCTL_MAGIC, 0x07)
#define GTU_IOCTL_REG_READ	_IO(GTU_IOCTL_MAGIC, 0x08)
#define GTU_IOCTL_REG_WRITE	_IO(GTU_IOCTL_MAGIC, 0x09)

#define GTU_UAPI_VERSION	1	/* grows with what is added; nothing is taken away */

/**
 * struct gtu_ioctl_info - ioctl(GTU_IOCTL_INFO): what the device is, from its registers
 * @size: sizeof(struct gtu_ioctl_info)
 * @flags: 0
 * @uapi_version: out: GTU_UAPI_VERSION of the driver
 * @hw_version: out: of the programming model, major << 16 | minor
 * @caps: out: GTU_CAP_*
 * @units: out: GTU_UNIT_* present
 * @epoch: out: the device's epoch in which this context lives
 * @max_contexts: out
 * @max_queues: out: of the device
 * @max_regions_log2: out: of a context of this driver
 * @max_ring_log2: out
 * @vectors: out: interrupt vectors in use
 * @doorbell_stride_log2: out
 * @clock_hz: out: of the logical cycles
 * @aperture_bytes: out
 * @fdt_bytes: out: length of the device tree blob in sysfs (attribute "fdt"); 0: there is none
 * @fdt_crc: out: its CRC-32, as the device's register gives it
 * @ctx_queues: out: queues a context may have
 * @reserved: out: 0
 */
struct gtu_ioctl_info {
	__u32 size;
	__u32 flags;
	__u32 uapi_version;
	__u32 hw_version;
	__aligned_u64 caps;
	__u32 units;
	__u32 epoch;
	__u32 max_contexts;
	__u32 max_queues;
	__u32 max_regions_log2;
	__u32 max_ring_log2;
	__u32 vectors;
	__u32 doorbell_stride_log2;
	__aligned_u64 clock_hz;
	__aligned_u64 aperture_bytes;
	__u32 fdt_bytes;
	__u32 fdt_crc;
	__u32 ctx_queues;
	__u32 reserved;
};

/* What the device may do with a region. */
#define GTU_RIGHT_READ		(1u << 0)
#define GTU_RIGHT_WRITE		(1u << 1)

/**
 * struct gtu_ioctl_region_add - ioctl(GTU_IOCTL_REGION_ADD): make memory of the caller reachable
 * @size: sizeof(struct gtu_ioctl_region_add)
 * @flags: 0
 * @addr: of byte 0, 8-byte aligned
 * @length: bytes, not 0
 * @rights: GTU_RIGHT_*, at least one
 * @key: out: names the region in descriptors
 *
 * The pages are pinned where they are, for as long as the region lives, and charged to the caller's
 * RLIMIT_MEMLOCK. Anonymous memory, hugetlb, memfd and shared file mappings will do; of a private
 * file mapping only memory that the device may write.
 */
struct gtu_ioctl_region_add {
	__u32 size;
	__u32 flags;
	__aligned_u64 addr;
	__aligned_u64 length;
	__u32 rights;
	__u32 key;
};

/**
 * struct gtu_ioctl_buffer_alloc - ioctl(GTU_IOCTL_BUFFER_ALLOC): zeroed memory, as a region
 * @size: sizeof(struct gtu_ioctl_buffer_alloc)
 * @flags: 0
 * @length: bytes, not 0; rounded up to pages
 * @rights: GTU_RIGHT_*, at least one
 * @key: out: names the region in descriptors
 * @mmap_offset: out: for mmap(MAP_SHARED) of all of its pages
 *
 * Not charged to RLIMIT_MEMLOCK but to the memory control group, and capped by the module's
 * parameter buffer_mib. A mapping of it outlives REGION_REMOVE, as memory that no device reaches.
 */
struct gtu_ioctl_buffer_alloc {
	__u32 size;
	__u32 flags;
	__aligned_u64 length;
	__u32 rights;
	__u32 key;
	__aligned_u64 mmap_offset;
};

/**
 * struct gtu_ioctl_region_remove - ioctl(GTU_IOCTL_REGION_REMOVE): the device lets go of a region
 * @size: sizeof(struct gtu_ioctl_region_remove)
 * @flags: 0
 * @key: of the region; it is never valid again
 * @reserved: 0
 *
 * When this returns 0 nothing in flight uses the memory any more and it is unpinned. Jobs that name
 * the key from now on complete with GTU_CPL_KEY.
 */
struct gtu_ioctl_region_remove {
	__u32 size;
	__u32 flags;
	__u32 key;
	__u32 reserved;
};

/**
 * struct gtu_ioctl_queue_create - ioctl(GTU_IOCTL_QUEUE_CREATE): a queue of two rings
 * @size: sizeof(struct gtu_ioctl_queue_create)
 * @flags: 0
 * @sq_log2: log2 of the submission ring's entries
 * @cq_log2: log2 of the completion ring's entries
 * @id: out: names the queue in this context
 * @reserved: 0
 * @sq_offset: out: for mmap of the submission ring, to read and write
 * @cq_offset: out: for mmap of the completion ring and the status behind it, to read only
 * @db_offset: out: for mmap of the doorbell page, to write
 * @sq_bytes: out: exactly what to map there; likewise
 * @cq_bytes: out
 * @db_bytes: out
 *
 * Map with MAP_SHARED and without PROT_EXEC. Mappings are not inherited by fork(). When the queue
 * ends (QUEUE_DESTROY, close, removal of the device) memory of zeroes takes their place, in which
 * the queue's status reads GTU_QUEUE_DISABLED and doorbells lead nowhere.
 */
struct gtu_ioctl_queue_create {
	__u32 size;
	__u32 flags;
	__u32 sq_log2;
	__u32 cq_log2;
	__u32 id;
	__u32 reserved;
	__aligned_u64 sq_offset;
	__aligned_u64 cq_offset;
	__aligned_u64 db_offset;
	__aligned_u64 sq_bytes;
	__aligned_u64 cq_bytes;
	__aligned_u64 db_bytes;
};

/**
 * struct gtu_ioctl_queue - ioctl(GTU_IOCTL_QUEUE_DESTROY) and ioctl(GTU_IOCTL_QUEUE_RESET)
 * @size: sizeof(struct gtu_ioctl_queue)
 * @flags: 0
 * @id: of the queue
 * @reserved: 0
 *
 * Either drops a running job without a completion. A reset empties the rings, sets all indices to 0
 * and clears a sticky error; nobody else may use the rings meanwhile.
 */
struct gtu_ioctl_queue {
	__u32 size;
	__u32 flags;
	__u32 id;
	__u32 reserved;
};

#define GTU_WAIT_FOREVER	(~0ull)

/**
 * struct gtu_ioctl_wait - ioctl(GTU_IOCTL_WAIT): sleep until a completion is there
 * @size: sizeof(struct gtu_ioctl_wait)
 * @flags: 0
 * @id: of the queue
 * @index: number of the completion that is to be there (modulo 2^32, the first is 0)
 * @deadline_ns: CLOCK_MONOTONIC; in the past: only look; GTU_WAIT_FOREVER: none
 * @cq_tail: out: completions written so far
 * @state: out: GTU_QUEUE_*
 *
 * %EIO when the queue is in error. On %EIO, %ETIMEDOUT and %EINTR the out fields are written too.
 */
struct gtu_ioctl_wait {
	__u32 size;
	__u32 flags;
	__u32 id;
	__u32 index;
	__aligned_u64 deadline_ns;
	__u32 cq_tail;
	__u32 state;
};

/**
 * struct gtu_ioctl_reg - ioctl(GTU_IOCTL_REG_READ) and ioctl(GTU_IOCTL_REG_WRITE)
 * @size: sizeof(struct gtu_ioctl_reg)
 * @flags: 0
 * @offset: of the register in BAR0, its first byte
 * @reserved: 0
 * @value: in or out: all of the register, 32 or 64 bits
 *
 * Read: identity in the global page; parameters, settings and counters of the units that are
 * present. Write: their settings, and their control (snapshot, clear). Others: %EINVAL. Settings
 * and counters are the device's, not the context's: all users share them.
 */
struct gtu_ioctl_reg {
	__u32 size;
	__u32 flags;
	__u32 offset;
	__u32 reserved;
	__aligned_u64 value;
};

#endif
