/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * GTU: what the driver and user space agree on. Descriptors, completions and doorbells, which user
 * space handles without the driver, are in uapi/gtu/hw.h.
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
 * %E2BIG       @size is larger than the driver's and what is beyond is not zero, or it is over 4096
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
 * %EINTR       a signal's handler has run; nothing was changed, except where said. WAIT and read() go
 *              on where a process was only stopped, or frozen while the system slept
 * %EIO         the queue is in error, or the device refused; a queue's error ends with QUEUE_RESET
 * %EAGAIN      SUBMIT: no place in the ring; read() without blocking: no event
 * %EBADF       no such file descriptor, or not of the kind wanted
 * %EMFILE      BUFFER_EXPORT: the process has no file descriptor left; %ENFILE: the system has none
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

#define GTU_IOCTL_BUFFER_EXPORT	_IO(GTU_IOCTL_MAGIC, 0x0A)
#define GTU_IOCTL_REGION_IMPORT	_IO(GTU_IOCTL_MAGIC, 0x0B)
#define GTU_IOCTL_SUBMIT	_IO(GTU_IOCTL_MAGIC, 0x0C)
#define GTU_IOCTL_QUEUE_CANCEL	_IO(GTU_IOCTL_MAGIC, 0x0D)
#define GTU_IOCTL_QUEUE_EVENTFD	_IO(GTU_IOCTL_MAGIC, 0x0E)

#define GTU_UAPI_VERSION	2	/* grows with what is added; nothing is taken away */

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

#define GTU_BUFFER_APERTURE	(1u << 0)	/* the device's own memory, not the host's */

/**
 * struct gtu_ioctl_buffer_alloc - ioctl(GTU_IOCTL_BUFFER_ALLOC): zeroed memory, as a region
 * @size: sizeof(struct gtu_ioctl_buffer_alloc)
 * @flags: GTU_BUFFER_*
 * @length: bytes, not 0; rounded up to pages
 * @rights: GTU_RIGHT_*, at least one
 * @key: out: names the region in descriptors
 * @mmap_offset: out: for mmap(MAP_SHARED) of all of its pages
 *
 * Not charged to RLIMIT_MEMLOCK but to the memory control group, and capped by the module's
 * parameter buffer_mib. A mapping of it outlives REGION_REMOVE, as memory that no device reaches.
 *
 * With GTU_BUFFER_APERTURE the memory is a piece of the device's aperture: %ENOSPC when no run of
 * that many pages is free, %EOPNOTSUPP where the device has none. A mapping is write-combining; it
 * keeps the piece from being given to others, and leads to zeroes once the device is gone.
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

#define GTU_QUEUE_SUBMIT	(1u << 0)	/* jobs go in by ioctl(GTU_IOCTL_SUBMIT) alone */

/**
 * struct gtu_ioctl_queue_create - ioctl(GTU_IOCTL_QUEUE_CREATE): a queue of two rings
 * @size: sizeof(struct gtu_ioctl_queue_create)
 * @flags: GTU_QUEUE_*
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
 *
 * With GTU_QUEUE_SUBMIT only the completion ring can be mapped; @sq_bytes and @db_bytes are 0. WAIT
 * does what the doorbell KICK would: the device looks at streams' rings again. A device that does not check accesses itself (no GTU_CAP_REGIONS) has no other queues: %EOPNOTSUPP.
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
#define GTU_WAIT_STREAM		(1u << 0)	/* or until @record of the running stream may be there */

/**
 * struct gtu_ioctl_wait - ioctl(GTU_IOCTL_WAIT): sleep until a completion is there
 * @size: sizeof(struct gtu_ioctl_wait)
 * @flags: GTU_WAIT_*
 * @id: of the queue
 * @index: number of the completion that is to be there (modulo 2^32, the first is 0)
 * @deadline_ns: CLOCK_MONOTONIC; in the past: only look; GTU_WAIT_FOREVER: none
 * @cq_tail: out: completions written so far
 * @state: out: GTU_QUEUE_*
 * @record: with GTU_WAIT_STREAM: number of the record in the stream's ring (modulo 2^32); else 0
 * @reserved: 0
 *
 * %EIO when the queue is in error. On %EIO, %ETIMEDOUT and %EINTR the out fields are written too.
 *
 * With GTU_WAIT_STREAM 0 means: look at the ring and at the completion again. It may come early.
 * %EOPNOTSUPP where the device raises no events for streams (GTU_CAP_STREAM_EVENTS).
 */
struct gtu_ioctl_wait {
	__u32 size;
	__u32 flags;
	__u32 id;
	__u32 index;
	__aligned_u64 deadline_ns;
	__u32 cq_tail;
	__u32 state;
	__u32 record;
	__u32 reserved;
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

/**
 * struct gtu_ioctl_buffer_export - ioctl(GTU_IOCTL_BUFFER_EXPORT): a driver buffer as a dma-buf
 * @size: sizeof(struct gtu_ioctl_buffer_export)
 * @flags: O_CLOEXEC or 0
 * @key: of a region of BUFFER_ALLOC, not of the aperture (%EOPNOTSUPP); others: %EINVAL
 * @rights: GTU_RIGHT_*: with GTU_RIGHT_WRITE the file is O_RDWR, else O_RDONLY
 * @fd: out: file descriptor of the dma-buf
 * @reserved: 0
 *
 * The dma-buf keeps the pages, whatever becomes of region, context and device.
 */
struct gtu_ioctl_buffer_export {
	__u32 size;
	__u32 flags;
	__u32 key;
	__u32 rights;
	__s32 fd;
	__u32 reserved;
};

/**
 * struct gtu_ioctl_region_import - ioctl(GTU_IOCTL_REGION_IMPORT): a dma-buf as a region
 * @size: sizeof(struct gtu_ioctl_region_import)
 * @flags: 0
 * @fd: of a dma-buf of any driver whose memory has pages in the host
 * @rights: GTU_RIGHT_*, at least one; GTU_RIGHT_WRITE needs a file open for writing (%EACCES)
 * @key: out: names the region in descriptors
 * @reserved: 0
 * @length: out: its bytes
 */
struct gtu_ioctl_region_import {
	__u32 size;
	__u32 flags;
	__s32 fd;
	__u32 rights;
	__u32 key;
	__u32 reserved;
	__aligned_u64 length;
};

#define GTU_SUBMIT_MAX		(1u << 16)

/**
 * struct gtu_ioctl_submit - ioctl(GTU_IOCTL_SUBMIT): put jobs into a queue of GTU_QUEUE_SUBMIT
 * @size: sizeof(struct gtu_ioctl_submit)
 * @flags: 0
 * @id: of the queue
 * @count: descriptors at @descs, 0 (only @cq_head is told) to GTU_SUBMIT_MAX
 * @descs: user address of struct gtu_hw_desc[@count], 8-byte aligned
 * @cq_head: completions that the caller is done with (modulo 2^32)
 * @done: out: descriptors taken, from the first on
 * @sq_index: out: submission index of the first one taken
 * @status: out: with %EINVAL for a descriptor, the GTU_CPL_* that the device would give, else 0
 *
 * Each descriptor is copied once, checked, and then given to the device: opcode and parameters,
 * and, for each operand, key, rights and bounds. What is taken and what it would do cannot be
 * changed any more. A device without GTU_CAP_REGIONS gets only jobs whose accesses follow from the
 * descriptor alone; others end with %EOPNOTSUPP. So does a parameter block (GTU_DESC_BLOCK) that is
 * in the aperture or in a dma-buf.
 *
 * When a descriptor is refused, or the ring has no place for it (%EAGAIN), those before it have
 * been taken: 0 is returned if there are any, the error else.
 */
struct gtu_ioctl_submit {
	__u32 size;
	__u32 flags;
	__u32 id;
	__u32 count;
	__aligned_u64 descs;
	__u32 cq_head;
	__u32 done;
	__u32 sq_index;
	__u32 status;
};

#define GTU_CANCEL_ALL		(1u << 0)	/* all that has been submitted; @until must be 0 */

/**
 * struct gtu_ioctl_queue_cancel - ioctl(GTU_IOCTL_QUEUE_CANCEL): end jobs before they are done
 * @size: sizeof(struct gtu_ioctl_queue_cancel)
 * @flags: GTU_CANCEL_*
 * @id: of the queue
 * @until: jobs with a submission index before this one (modulo 2^32), as counted by the ring's tail
 *
 * Each job that has not ended does so with GTU_CPL_CANCELED, in order: its completion comes as ever,
 * and the queue goes on. %EINVAL when @until is beyond what was submitted, %EOPNOTSUPP where the
 * device cannot (GTU_CAP_CANCEL).
 */
struct gtu_ioctl_queue_cancel {
	__u32 size;
	__u32 flags;
	__u32 id;
	__u32 until;
};

/**
 * struct gtu_ioctl_queue_eventfd - ioctl(GTU_IOCTL_QUEUE_EVENTFD): tell an eventfd of events
 * @size: sizeof(struct gtu_ioctl_queue_eventfd)
 * @flags: 0
 * @id: of the queue
 * @fd: of an eventfd; -1: none any more
 *
 * It is signalled by every event of the queue: one that its doorbells ARM or ARM_STREAM asked for,
 * an error, its reset, its end; the device's reset or removal. It may be signalled without one:
 * look at the ring. A queue has one eventfd at most; a new one replaces it.
 *
 * A queue has one ARM. WAIT rings it too, in the place of the user's own, which then may be told as
 * late as two seconds after it came: a queue is waited for by WAIT, or by events, not by both.
 */
struct gtu_ioctl_queue_eventfd {
	__u32 size;
	__u32 flags;
	__u32 id;
	__s32 fd;
};

/**
 * struct gtu_event - what read() gives
 * @queue: id of a queue that had an event since it was last read
 * @cq_tail: completions written so far
 * @state: GTU_QUEUE_*
 * @reserved: 0
 *
 * poll() says EPOLLIN when a queue of the context had an event, EPOLLERR | EPOLLHUP when the device
 * is gone. Events are those that an eventfd hears of, but for a queue's end: its id may be another's
 * by then. read() takes as many events as there are, a queue once, and fit; it blocks while there are
 * none, unless O_NONBLOCK is set (%EAGAIN). Less room than one: %EINVAL.
 */
struct gtu_event {
	__u32 queue;
	__u32 cq_tail;
	__u32 state;
	__u32 reserved;
};

#endif
