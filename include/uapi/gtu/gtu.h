/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * User-space interface of the GTU driver: ioctls, read() and poll() of
 * /dev/gtuN. User space handles descriptors, completions and doorbells without
 * the driver; uapi/gtu/hw.h defines them.
 */
#ifndef _UAPI_GTU_H
#define _UAPI_GTU_H

#include <linux/ioctl.h>
#include <linux/types.h>

/**
 * DOC: The protocol
 *
 * An open file of /dev/gtuN is a context. Regions, queues and mappings belong to
 * a context and end with it. A region makes memory accessible to the device;
 * descriptors name it by its key. A queue is two rings and a doorbell page, which
 * user space maps and uses without system calls.
 *
 * Every ioctl takes a pointer to a struct that begins with @size, the size of the
 * struct as the caller knows it, and @flags. Structs grow only at the end. A
 * @size below the first version returns %EINVAL. A @size above the driver's
 * returns %E2BIG unless the excess bytes are zero. The driver writes back
 * min(@size, its own). Reserved fields must be zero. The layout is the same for
 * 32-bit callers; pointers are __u64.
 *
 * Errors of all ioctls:
 *
 * ============ ==================================================================
 * %ENOTTY      no such ioctl
 * %EINVAL      @size is too small, or a value is invalid (alignment, range)
 * %E2BIG       @size exceeds the driver's and the excess is not zero, or is over
 *              4096
 * %EOPNOTSUPP  an unknown flag or a reserved field is set, or the device cannot
 *              access this kind of memory: the platform would bounce it
 *              (swiotlb), or it is a private file mapping to be read only (the
 *              kernel would copy it)
 * %EFAULT      invalid pointer, or one without the rights asked for
 * %EOVERFLOW   address plus length wraps around
 * %ENOENT      no such key or queue in this context
 * %ENOSPC      no context, queue, region slot or driver buffer is left
 * %EDQUOT      the pages would exceed the caller's RLIMIT_MEMLOCK, or the user who
 *              opened the file has his share of contexts, queues, aperture or buffers
 * %EPERM       a register that needs a privilege; see REG_READ
 * %ENOMEM      out of memory
 * %EACCES      mmap with rights that the mapping does not have
 * %ETIMEDOUT   the deadline has passed
 * %EINTR       a signal handler ran; unless noted, nothing was changed. WAIT and
 *              read() restart if the process was only stopped, or frozen during
 *              a system suspend
 * %EIO         the queue is in error, or the device refused; QUEUE_RESET clears a
 *              queue error
 * %EAGAIN      SUBMIT: the ring is full; non-blocking read(): no event
 * %EBADF       invalid file descriptor, or one of the wrong kind
 * %EMFILE      BUFFER_EXPORT: the process has no file descriptor left; %ENFILE:
 *              the system has none
 * %ECANCELED   the queue was reset or destroyed during the call
 * %ENODEV      the device is dead, or was reset after this file was opened: close
 *              the file
 * ============ ==================================================================
 */

#define GTU_IOCTL_MAGIC		0xE9

/*
 * The size is in the struct, not in the ioctl number, so that a struct can
 * grow.
 */
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
#define GTU_IOCTL_QUEUE_ARM	_IO(GTU_IOCTL_MAGIC, 0x0F)
#define GTU_IOCTL_WAIT_ANY	_IO(GTU_IOCTL_MAGIC, 0x10)

/*
 * Raised by one with every change after which the driver accepts or reports
 * something new: an ioctl, a flag, a field, a value, a mapping, a kind of memory.
 * Nothing is ever removed. Repairs, limits and new error codes do not raise it.
 * Programs use it only for what no errno, GTU_CAP_* or @size shows.
 * Documentation/ABI/uapi-version lists what each version added.
 */
#define GTU_UAPI_VERSION	4

/**
 * struct gtu_ioctl_info - ioctl(GTU_IOCTL_INFO): identity and limits of the device
 * @size: sizeof(struct gtu_ioctl_info)
 * @flags: 0
 * @uapi_version: out: GTU_UAPI_VERSION of the driver
 * @hw_version: out: version of the programming model, major << 16 | minor
 * @caps: out: GTU_CAP_*
 * @units: out: GTU_UNIT_* that are present
 * @epoch: out: device epoch to which this context belongs
 * @max_contexts: out: contexts of the device
 * @max_queues: out: queues of the device
 * @max_regions_log2: out: log2 of the regions of a context
 * @max_ring_log2: out: log2 of the entries of the largest ring
 * @vectors: out: interrupt vectors in use
 * @doorbell_stride_log2: out: log2 of the bytes between two doorbell pages
 * @clock_hz: out: frequency of the logical cycles
 * @aperture_bytes: out: size of the device memory
 * @fdt_bytes: out: size of the device tree blob in sysfs (attribute "fdt"); 0: none
 * @fdt_crc: out: its CRC-32, as in the device's register
 * @ctx_queues: out: maximum number of queues of a context
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

/* Access rights of the device to a region. */
#define GTU_RIGHT_READ		(1u << 0)
#define GTU_RIGHT_WRITE		(1u << 1)

/**
 * struct gtu_ioctl_region_add - ioctl(GTU_IOCTL_REGION_ADD): make user memory accessible
 * @size: sizeof(struct gtu_ioctl_region_add)
 * @flags: 0
 * @addr: address of byte 0, 8-byte aligned
 * @length: size in bytes, not 0
 * @rights: GTU_RIGHT_*, at least one
 * @key: out: names the region in descriptors
 *
 * Pins the pages while the region exists and charges them to the caller's
 * RLIMIT_MEMLOCK. The memory can be anonymous, hugetlb, memfd or a shared file
 * mapping. A private file mapping is accepted only with GTU_RIGHT_WRITE.
 */
struct gtu_ioctl_region_add {
	__u32 size;
	__u32 flags;
	__aligned_u64 addr;
	__aligned_u64 length;
	__u32 rights;
	__u32 key;
};

#define GTU_BUFFER_APERTURE	(1u << 0)	/* device memory instead of host memory */

/**
 * struct gtu_ioctl_buffer_alloc - ioctl(GTU_IOCTL_BUFFER_ALLOC): allocate zeroed memory as a region
 * @size: sizeof(struct gtu_ioctl_buffer_alloc)
 * @flags: GTU_BUFFER_*
 * @length: size in bytes, not 0; rounded up to pages
 * @rights: GTU_RIGHT_*, at least one
 * @key: out: names the region in descriptors
 * @mmap_offset: out: offset for mmap(MAP_SHARED) of all its pages
 *
 * The memory is charged to the memory control group instead of RLIMIT_MEMLOCK.
 * The module parameters buffer_mib and user_buffer_mib limit the buffers of the
 * device (%ENOSPC) and of the user who opened the file (%EDQUOT). A mapping
 * outlives REGION_REMOVE, as memory that the device cannot access.
 *
 * GTU_BUFFER_APERTURE allocates device memory: %ENOSPC if no contiguous range is
 * free, %EDQUOT above the module parameter user_aperture, %EOPNOTSUPP if the device
 * has none. Mappings are write-combining. A mapping keeps the range allocated. After
 * the device is removed, all its pages are one page of zeroes.
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
 * struct gtu_ioctl_region_remove - ioctl(GTU_IOCTL_REGION_REMOVE): revoke a region
 * @size: sizeof(struct gtu_ioctl_region_remove)
 * @flags: 0
 * @key: key of the region; it is never valid again
 * @reserved: 0
 *
 * On return 0 no access is in flight and the memory is unpinned. Jobs that name
 * the key afterwards complete with GTU_CPL_KEY.
 */
struct gtu_ioctl_region_remove {
	__u32 size;
	__u32 flags;
	__u32 key;
	__u32 reserved;
};

#define GTU_QUEUE_SUBMIT	(1u << 0)	/* jobs only by ioctl(GTU_IOCTL_SUBMIT) */

/**
 * struct gtu_ioctl_queue_create - ioctl(GTU_IOCTL_QUEUE_CREATE): create a queue with two rings
 * @size: sizeof(struct gtu_ioctl_queue_create)
 * @flags: GTU_QUEUE_*
 * @sq_log2: log2 of the submission ring's entries
 * @cq_log2: log2 of the completion ring's entries
 * @id: out: names the queue in this context
 * @reserved: 0
 * @sq_offset: out: offset for mmap of the submission ring, read-write
 * @cq_offset: out: offset for mmap of the completion ring and the status behind it, read-only
 * @db_offset: out: offset for mmap of the doorbell page, write
 * @sq_bytes: out: exact size of that mapping
 * @cq_bytes: out: likewise
 * @db_bytes: out: likewise
 *
 * Map with MAP_SHARED and without PROT_EXEC. fork() does not inherit the mappings.
 * After the end of the queue (QUEUE_DESTROY, close, device removal) they read
 * zeroes, so that the status is GTU_QUEUE_DISABLED, and doorbells have no effect.
 * Writes to them then do not show in the completion ring or the status.
 *
 * With GTU_QUEUE_SUBMIT only the completion ring can be mapped; @sq_bytes and
 * @db_bytes are 0. WAIT acts as the KICK doorbell: the device checks the streams'
 * rings again. A device that does not check accesses (no GTU_CAP_REGIONS) supports
 * only such queues, else %EOPNOTSUPP. Request their events by GTU_SUBMIT_ARM or
 * QUEUE_ARM.
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
 * @id: id of the queue
 * @reserved: 0
 *
 * Both drop a running job without a completion. A reset empties the rings, sets
 * all indices to 0 and clears a queue error; no other thread may use the rings
 * meanwhile.
 */
struct gtu_ioctl_queue {
	__u32 size;
	__u32 flags;
	__u32 id;
	__u32 reserved;
};

#define GTU_WAIT_FOREVER	(~0ull)
#define GTU_WAIT_STREAM		(1u << 0)	/* or until @record of the stream may be written */

/**
 * struct gtu_ioctl_wait - ioctl(GTU_IOCTL_WAIT): wait for a completion
 * @size: sizeof(struct gtu_ioctl_wait)
 * @flags: GTU_WAIT_*
 * @id: id of the queue
 * @index: index of the completion to wait for (modulo 2^32, the first is 0)
 * @deadline_ns: CLOCK_MONOTONIC; in the past: only check; GTU_WAIT_FOREVER: none
 * @cq_tail: out: completions written so far
 * @state: out: GTU_QUEUE_*
 * @record: with GTU_WAIT_STREAM: index of the record in the stream's ring (modulo 2^32); else 0
 * @reserved: 0
 *
 * Returns %EIO if the queue is in error. The out fields are also written on %EIO,
 * %ETIMEDOUT and %EINTR.
 *
 * With GTU_WAIT_STREAM, 0 means that the caller must check the ring and the
 * completion; wakeups may be spurious. %EOPNOTSUPP if the device raises no events
 * for streams (GTU_CAP_STREAM_EVENTS).
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
 * @offset: offset of the register's first byte in BAR0
 * @reserved: 0
 * @value: in or out: the whole register, 32 or 64 bits
 *
 * Readable: identity registers and CYCLES of the global page; of the units that are present id,
 * version, status, parameters, settings, counters, and the control registers of
 * their own (GTU_x_REGISTER_ROWS of units.h). Writable: settings and control
 * (snapshot, clear) of units. Other registers: %EINVAL. A file that has taken a snapshot of a
 * unit reads the counters of that snapshot until its next one, whatever others do.
 * Settings, counters, CYCLES, status and control registers are shared by all users of the
 * device: %EPERM unless the caller has CAP_SYS_ADMIN to write a setting, CAP_PERFMON to read
 * a counter, CYCLES, status or a control register or to write to control, or the module
 * parameter user_registers is set.
 */
struct gtu_ioctl_reg {
	__u32 size;
	__u32 flags;
	__u32 offset;
	__u32 reserved;
	__aligned_u64 value;
};

/**
 * struct gtu_ioctl_buffer_export - ioctl(GTU_IOCTL_BUFFER_EXPORT): export a buffer as dma-buf
 * @size: sizeof(struct gtu_ioctl_buffer_export)
 * @flags: O_CLOEXEC or 0
 * @key: region of BUFFER_ALLOC; %EINVAL for other regions, %EOPNOTSUPP for the
 *	aperture if the kernel has no CONFIG_PCI_P2PDMA or the bus is not PCI
 * @rights: GTU_RIGHT_*: with GTU_RIGHT_WRITE the file is O_RDWR, else O_RDONLY
 * @fd: out: file descriptor of the dma-buf
 * @reserved: 0
 *
 * The dma-buf keeps the pages, independent of region, context and device. Of
 * aperture memory only devices can import it: PCI functions that allow
 * peer-to-peer, follow moves, and have a path to the device. They lose it when
 * the device is removed. The kernel's log says why an importer is refused.
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
 * struct gtu_ioctl_region_import - ioctl(GTU_IOCTL_REGION_IMPORT): import a dma-buf as a region
 * @size: sizeof(struct gtu_ioctl_region_import)
 * @flags: 0
 * @fd: dma-buf of any driver, backed by pages of host memory
 * @rights: GTU_RIGHT_*, at least one; GTU_RIGHT_WRITE needs a file open for writing (%EACCES)
 * @key: out: names the region in descriptors
 * @reserved: 0
 * @length: out: size in bytes
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
#define GTU_SUBMIT_ARM		(1u << 0)	/* QUEUE_ARM for the last descriptor taken */

/**
 * struct gtu_ioctl_submit - ioctl(GTU_IOCTL_SUBMIT): submit jobs to a queue of GTU_QUEUE_SUBMIT
 * @size: sizeof(struct gtu_ioctl_submit)
 * @flags: GTU_SUBMIT_*
 * @id: id of the queue
 * @count: descriptors at @descs, 0 (only updates @cq_head) to GTU_SUBMIT_MAX
 * @descs: user address of struct gtu_hw_desc[@count], 8-byte aligned
 * @cq_head: completions that the caller has consumed (modulo 2^32)
 * @done: out: descriptors taken, from the first on
 * @sq_index: out: submission index of the first one taken
 * @status: out: with %EINVAL for a descriptor, the GTU_CPL_* that the device would report, else 0
 *
 * The driver copies each descriptor once, checks opcode, parameters, and key,
 * rights and bounds of each operand, and passes the copy to the device. A device
 * without GTU_CAP_REGIONS gets only jobs whose accesses follow from the descriptor
 * alone; others return %EOPNOTSUPP. So does a parameter block (GTU_DESC_BLOCK) in
 * the aperture or in a dma-buf.
 *
 * If a descriptor is refused or the ring is full (%EAGAIN), the descriptors before
 * it have been taken: the call returns 0 if there are any, else the error.
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

#define GTU_CANCEL_ALL		(1u << 0)	/* all submitted jobs; @until must be 0 */

/**
 * struct gtu_ioctl_queue_cancel - ioctl(GTU_IOCTL_QUEUE_CANCEL): cancel jobs
 * @size: sizeof(struct gtu_ioctl_queue_cancel)
 * @flags: GTU_CANCEL_*
 * @id: id of the queue
 * @until: cancel the jobs with a submission index before this one (modulo 2^32)
 *
 * Each unfinished job completes with GTU_CPL_CANCELED, in order, and the queue
 * goes on. %EINVAL if @until is beyond the submitted jobs, %EOPNOTSUPP if the
 * device cannot cancel (GTU_CAP_CANCEL).
 */
struct gtu_ioctl_queue_cancel {
	__u32 size;
	__u32 flags;
	__u32 id;
	__u32 until;
};

/**
 * struct gtu_ioctl_queue_eventfd - ioctl(GTU_IOCTL_QUEUE_EVENTFD): signal an eventfd at events
 * @size: sizeof(struct gtu_ioctl_queue_eventfd)
 * @flags: 0
 * @id: id of the queue
 * @fd: eventfd; -1: none any more
 *
 * Every event of the queue signals the eventfd: one requested by QUEUE_ARM,
 * GTU_SUBMIT_ARM or the doorbells ARM and ARM_STREAM, an error, the reset or end
 * of the queue, a reset or removal of the device. Signals can be spurious: check
 * the ring. A queue has at most one eventfd; a new one replaces it.
 *
 * WAIT also uses the ARM doorbell of the queue and replaces a request by doorbell,
 * whose event then can be up to two seconds late. It does not replace requests by
 * QUEUE_ARM and GTU_SUBMIT_ARM: use these for a queue that is also waited for.
 */
struct gtu_ioctl_queue_eventfd {
	__u32 size;
	__u32 flags;
	__u32 id;
	__s32 fd;
};

#define GTU_ARM_STREAM		(1u << 0)	/* @index is a record of the running stream */

/**
 * struct gtu_ioctl_queue_arm - ioctl(GTU_IOCTL_QUEUE_ARM): request an event of a queue
 * @size: sizeof(struct gtu_ioctl_queue_arm)
 * @flags: GTU_ARM_*
 * @id: id of the queue
 * @index: raise an event once this completion is written (modulo 2^32), also if it is already
 *
 * A new request replaces the last one. The reset of the queue drops it. Works for
 * every queue, and is the only way for those of GTU_QUEUE_SUBMIT, which have no
 * doorbells. GTU_ARM_STREAM is as the doorbell ARM_STREAM; %EOPNOTSUPP if the device
 * raises no events for streams (GTU_CAP_STREAM_EVENTS).
 */
struct gtu_ioctl_queue_arm {
	__u32 size;
	__u32 flags;
	__u32 id;
	__u32 index;
};

#define GTU_WAIT_MAX		32u

/**
 * struct gtu_wait_entry - a completion to wait for
 * @id: id of the queue
 * @index: index of the completion (modulo 2^32)
 * @cq_tail: out: completions written so far
 * @state: out: GTU_QUEUE_*
 */
struct gtu_wait_entry {
	__u32 id;
	__u32 index;
	__u32 cq_tail;
	__u32 state;
};

/**
 * struct gtu_ioctl_wait_any - ioctl(GTU_IOCTL_WAIT_ANY): wait for one of several completions
 * @size: sizeof(struct gtu_ioctl_wait_any)
 * @flags: 0
 * @entries: user address of struct gtu_wait_entry[@count], 4-byte aligned
 * @count: 1 to GTU_WAIT_MAX
 * @first: out: position of the first entry that ended the wait
 * @deadline_ns: as in WAIT
 *
 * As WAIT for each entry: %EIO if that entry's queue is in error, %ECANCELED if it
 * was reset or destroyed. The entries are written back unless the device is dead.
 */
struct gtu_ioctl_wait_any {
	__u32 size;
	__u32 flags;
	__aligned_u64 entries;
	__u32 count;
	__u32 first;
	__aligned_u64 deadline_ns;
};

/**
 * struct gtu_event - an event returned by read()
 * @queue: id of a queue with an event since it was last read
 * @cq_tail: completions written so far
 * @state: GTU_QUEUE_*
 * @reserved: 0
 *
 * poll() reports EPOLLIN if a queue of the context has an event, and EPOLLERR |
 * EPOLLHUP if the device is dead. The events are those that signal an eventfd,
 * except the end of a queue, whose id can be reused. read() returns as many events
 * as there are and fit, one per queue. It blocks while there are none, or returns
 * %EAGAIN with O_NONBLOCK. A buffer smaller than one event returns %EINVAL.
 */
struct gtu_event {
	__u32 queue;
	__u32 cq_tail;
	__u32 state;
	__u32 reserved;
};

#endif
