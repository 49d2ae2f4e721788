// SPDX-License-Identifier: MIT
/*
 * Backend for the character device /dev/gtuN. The driver owns contexts, regions and queues. Rings
 * and doorbells are mapped into this process, so submitting a job and detecting its completion take
 * no system call.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "libruntime/support/advice.h"
#include "libruntime/device/backend.h"
#include "uapi/gtu/gtu.h"

#define SPINS	256u			/* polls of a ring before waiting in the kernel */
#define NAP_NS 20000u /* ns between polls of a stream's ring without stream events */

struct chardev {
	int fd;
	dev_t number;
	bool stream_events;		/* supported by the device and the driver */
	unsigned char *ours;		/* a page: 1, or 0 in children of fork() */
};
#define OURS_BYTES	4096u

/* Lengths of a queue's mappings. */
struct mapped_queue {
	size_t sq_bytes, cq_bytes, db_bytes;
};

_Static_assert(GTU_READ == GTU_RIGHT_READ && GTU_WRITE == GTU_RIGHT_WRITE,
	       "rights are passed unchanged");

/* ---- Error messages -------------------------------------------------------------------------- */

/* Read the device's state from sysfs: "up", "resetting", "dead"; "" if unavailable. */
static void driver_state(dev_t number, char state[16])
{
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/sys/dev/char/%u:%u/state", major(number), minor(number));
	state[0] = 0;
	f = fopen(path, "re");
	if (f && fscanf(f, "%15s", state) != 1)
		state[0] = 0;
	if (f)
		fclose(f);
}

/* Report ENODEV from the driver: distinguish a reset device from a removed one. */
static int fail_removed(struct gtu_device *dev, struct gtu_error *err)
{
	const char *path = dev->info.path;
	struct chardev *c = dev->backend;
	struct stat now;
	char state[16];

	driver_state(c ? c->number : 0, state);
	if (!strcmp(state, "resetting"))
		return gtu_advise_in_reset(path, err);
	if (!strcmp(state, "dead"))
		return gtu_advise_dead(path, err);
	if (c && !stat(path, &now) && S_ISCHR(now.st_mode) && now.st_rdev == c->number)
		return gtu_advise_was_reset(path, err);
	return gtu_advise_removed(path, err);
}

/* Report why opening @path failed. */
static int fail_open(const char *path, int error, struct gtu_error *err)
{
	struct stat st;

	switch (error) {
	case ENOENT:
		return access("/sys/module/gtu", F_OK) ? gtu_advise_no_module(path, err) :
							 gtu_advise_no_node(path, err);
	case EACCES:
	case EPERM:
		if (stat(path, &st))
			return gtu_fail(err, GTU_ERR_PERMISSION, "access to %s is not permitted: "
					"%s", path,
					strerror(error));
		return gtu_advise_permission(path, &st, err);
	case ENODEV:
		return gtu_advise_dead(path, err);
	case ENXIO:
		return gtu_advise_removed(path, err);
	case ENOSPC:
		return gtu_advise_busy(path, err);
	case EDQUOT:
		return gtu_fail(err, GTU_ERR_NOMEM, "this user has all contexts of %s that the driver "
				"allows a user: close some, or increase the module parameter "
				"user_contexts", path);
	case ENOMEM:
		return gtu_fail(err, GTU_ERR_NOMEM, "out of memory for a context of %s", path);
	case ETIMEDOUT:
		return gtu_advise_timeout(path, 5, err);
	}
	return gtu_fail(err, GTU_ERR_FAIL, "cannot open %s: %s", path, strerror(error));
}

static int fail_region(struct gtu_device *dev, const void *addr, uint64_t length, int error,
		     struct gtu_error *err)
{
	const unsigned long long bytes = length;
	struct rlimit limit;

	switch (error) {
	case EDQUOT:
		if (getrlimit(RLIMIT_MEMLOCK, &limit))
			limit.rlim_cur = 0;
		return gtu_advise_memlock(length, limit.rlim_cur, gtu_pinned_bytes("/proc/self/status"), err);
	case EOPNOTSUPP:
		return gtu_fail(
			err, GTU_ERR_UNSUPPORTED,
			"the device cannot access the %llu bytes at %p in place: they are a "
			"private, read-only file mapping (map it with MAP_SHARED), or "
			"this machine copies what devices access (kernel option swiotlb=force, or "
			"encrypted memory)",
			bytes, addr);
	case EFAULT:
		return gtu_fail(err, GTU_ERR_USAGE,
				"the %llu bytes at %p are not all memory of this process "
				"with the requested rights",
				bytes, addr);
	case ENOSPC:
		return gtu_fail(err, GTU_ERR_NOMEM,
				"cannot add a region of %llu bytes: all of the context's "
				"regions or page lists are in use",
				bytes);
	case ENOMEM:
		return gtu_fail(err, GTU_ERR_NOMEM, "out of memory while registering %llu bytes",
				bytes);
	case EINTR:
		return gtu_fail(err, GTU_ERR_INTERRUPTED, "interrupted while pinning %llu bytes",
				bytes);
	case ENODEV:
		return fail_removed(dev, err);
	}
	return gtu_fail(err, GTU_ERR_FAIL, "cannot register %llu bytes at %p: %s", bytes,
			addr, strerror(error));
}

/* ---- Registers ------------------------------------------------------------------------------- */

static int fail_register(struct gtu_device *dev, uint32_t offset, const char *what,
			 struct gtu_error *err)
{
	if (errno == ENODEV)
		return fail_removed(dev, err);
	if (errno == EPERM)
		return gtu_fail(err, GTU_ERR_PERMISSION,
				"access to register 0x%x is not permitted: counters and settings are "
				"shared by all users of %s; run as root, or set the module parameter "
				"user_registers", offset, dev->info.path);
	return gtu_fail(err, GTU_ERR_USAGE, "the driver refused to %s register 0x%x: %s", what,
			offset, strerror(errno));
}

static int chardev_read(struct gtu_device *dev, uint32_t offset, uint64_t *value,
			struct gtu_error *err)
{
	struct chardev *c = dev->backend;
	struct gtu_ioctl_reg reg = { .size = sizeof(reg), .offset = offset };

	if (ioctl(c->fd, GTU_IOCTL_REG_READ, &reg))
		return fail_register(dev, offset, "read", err);
	*value = reg.value;
	return 0;
}

static int chardev_write(struct gtu_device *dev, uint32_t offset, uint32_t value,
			 struct gtu_error *err)
{
	struct chardev *c = dev->backend;
	struct gtu_ioctl_reg reg = { .size = sizeof(reg), .offset = offset, .value = value };

	return ioctl(c->fd, GTU_IOCTL_REG_WRITE, &reg) ? fail_register(dev, offset, "write", err) : 0;
}

/* ---- Open, close ----------------------------------------------------------------------------- */

static void chardev_close(struct gtu_device *dev)
{
	struct chardev *c = dev->backend;

	if (!c)
		return;
	if (c->fd >= 0)
		close(c->fd);
	if (c->ours)
		munmap(c->ours, OURS_BYTES);
	free(c);
	dev->backend = NULL;
	dev->ours = NULL;
}

/*
 * Detect use in a child of fork(). The child inherits the file, with which it could destroy the
 * parent's objects, but no ring mappings. Not detected if the kernel lacks MADV_WIPEONFORK.
 */
static int mark_ours(struct gtu_device *dev, struct chardev *c, struct gtu_error *err)
{
	void *at = mmap(NULL, OURS_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		return gtu_fail(err, GTU_ERR_NOMEM, "out of memory for %s", dev->info.path);
	c->ours = at;
	c->ours[0] = 1;
	if (!madvise(at, OURS_BYTES, MADV_WIPEONFORK))
		dev->ours = c->ours;
	return 0;
}

/* Read the device tree from sysfs, where the driver exports it by device number. */
static int take_fdt(struct gtu_device *dev, const struct gtu_ioctl_info *info, dev_t number,
		    struct gtu_error *err)
{
	char path[64], *blob;
	ssize_t got = 0, n = 0;
	int fd, rc;

	snprintf(path, sizeof(path), "/sys/dev/char/%u:%u/fdt", major(number), minor(number));
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return gtu_fail(err, GTU_ERR_FAIL, "cannot read the device tree of %s from %s: %s",
				dev->info.path, path, strerror(errno));
	blob = malloc(info->fdt_bytes);
	if (!blob) {
		close(fd);
		return gtu_fail(err, GTU_ERR_NOMEM, "out of memory for a device tree of %u bytes",
				info->fdt_bytes);
	}
	while (got < (ssize_t)info->fdt_bytes &&
	       (n = read(fd, blob + got, info->fdt_bytes - (size_t)got)) > 0)
		got += n;
	if (n < 0)
		rc = gtu_fail(err, GTU_ERR_FAIL, "%s: %s", path, strerror(errno));
	else
		rc = gtu_device_take_fdt(dev, blob, (size_t)got, info->fdt_crc, err);
	free(blob);
	close(fd);
	return rc;
}

static int chardev_open(struct gtu_device *dev, const char *name, struct gtu_error *err)
{
	struct gtu_ioctl_info info = { .size = sizeof(info) };
	struct chardev *c;
	struct stat st;
	int rc;

	c = calloc(1, sizeof(*c));
	if (!c)
		return gtu_fail(err, GTU_ERR_NOMEM, "out of memory for %s", name);
	dev->backend = c;
	c->fd = open(name, O_RDWR | O_CLOEXEC);
	if (c->fd < 0) {
		rc = fail_open(name, errno, err);
		goto fail;
	}
	if (fstat(c->fd, &st) || !S_ISCHR(st.st_mode) || ioctl(c->fd, GTU_IOCTL_INFO, &info)) {
		rc = errno == ENODEV ? fail_removed(dev, err) :
				       gtu_fail(err, GTU_ERR_USAGE, "%s is not a GTU; use a device "
						"node such as /dev/gtu0, or \"model\" for the "
						"model in this process", name);
		goto fail;
	}
	c->number = st.st_rdev;
	c->stream_events = info.caps & GTU_CAP_STREAM_EVENTS && info.uapi_version >= 2;
	rc = mark_ours(dev, c, err);
	if (!rc)
		rc = gtu_device_take_info(dev, err);
	if (!rc)
		rc = info.fdt_bytes ? take_fdt(dev, &info, st.st_rdev, err)
				    : gtu_fail(err, GTU_ERR_FAIL,
					       "%s has no valid device tree: see dmesg", name);
	if (!rc)
		return 0;
fail:
	chardev_close(dev);
	return rc;
}

/* ---- Regions --------------------------------------------------------------------------------- */

static int chardev_region_add(struct gtu_device *dev, void *addr, uint64_t length, uint32_t rights,
			      uint32_t *key, struct gtu_error *err)
{
	struct chardev *c = dev->backend;
	struct gtu_ioctl_region_add add = {
		.size = sizeof(add), .addr = (uintptr_t)addr, .length = length, .rights = rights,
	};

	if (gtu_opened_by_parent(dev))
		return gtu_fail_opened_by_parent(dev, err);
	if (ioctl(c->fd, GTU_IOCTL_REGION_ADD, &add))
		return fail_region(dev, addr, length, errno, err);
	*key = add.key;
	return 0;
}

static int chardev_region_remove(struct gtu_device *dev, uint32_t key, struct gtu_error *err)
{
	struct chardev *c = dev->backend;
	struct gtu_ioctl_region_remove rm = { .size = sizeof(rm), .key = key };

	/* a child must not remove its parent's regions */
	if (gtu_opened_by_parent(dev) || !ioctl(c->fd, GTU_IOCTL_REGION_REMOVE, &rm))
		return 0;
	/* the regions of a removed device are released with the file at the latest */
	if (errno == ENODEV)
		return fail_removed(dev, err);
	return gtu_fail(err, GTU_ERR_USAGE, "no region has key 0x%08x", key);
}

static int chardev_region_alloc(struct gtu_device *dev, uint64_t length, uint32_t rights, bool aperture,
				void **addr, uint32_t *key, struct gtu_error *err)
{
	static const char *const name[] = { "a buffer", "aperture memory" };
	static const char *const limit[2][2] = {	/* ENOSPC, EDQUOT */
		{ "its limit is reached (module parameter buffer_mib)",
		  "this user's limit is reached (module parameter user_buffer_mib)" },
		{ "no contiguous range of the device's aperture is free (module parameter aperture_share)",
		  "this user's limit is reached (module parameter user_aperture)" },
	};
	struct chardev *c = dev->backend;
	struct gtu_ioctl_buffer_alloc alloc = {
		.size = sizeof(alloc), .flags = aperture ? GTU_BUFFER_APERTURE : 0, .length = length, .rights = rights};
	bool full;
	int error;

	if (gtu_opened_by_parent(dev))
		return gtu_fail_opened_by_parent(dev, err);
	if (ioctl(c->fd, GTU_IOCTL_BUFFER_ALLOC, &alloc)) {
		if (errno == ENODEV)
			return fail_removed(dev, err);
		full = errno == ENOSPC || errno == EDQUOT;
		return gtu_fail(err, full || errno == ENOMEM ? GTU_ERR_NOMEM : GTU_ERR_FAIL,
				"the driver cannot allocate %s of %llu bytes: %s", name[aperture],
				(unsigned long long)length,
				full ? limit[aperture][errno == EDQUOT] : strerror(errno));
	}
	*addr = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, c->fd,
		     (off_t)alloc.mmap_offset);
	if (*addr == MAP_FAILED) {
		error = errno;
		chardev_region_remove(dev, alloc.key, NULL);
		return gtu_fail(err, GTU_ERR_NOMEM, "cannot map %s of %llu bytes: %s",
				name[aperture], (unsigned long long)length, strerror(error));
	}
	*key = alloc.key;
	return 0;
}

static int chardev_region_free(struct gtu_device *dev, void *addr, uint64_t length, uint32_t key,
			       struct gtu_error *err)
{
	int rc = chardev_region_remove(dev, key, err);

	/* the mapping outlives the device; a child never had it (VM_DONTCOPY) */
	if ((!rc || rc == GTU_ERR_DEVICE_LOST) && !gtu_opened_by_parent(dev))
		munmap(addr, length);
	return rc;
}

/* ---- Queues ---------------------------------------------------------------------------------- */

static void unmap_queue(struct gtu_rings *r, bool mapped)
{
	struct mapped_queue *m = r->cookie;

	if (mapped && r->sq)
		munmap(r->sq, m->sq_bytes);
	if (mapped && r->cq)
		munmap(r->cq, m->cq_bytes);
	if (mapped && r->doorbell)
		munmap((void *)r->doorbell, m->db_bytes);
	r->sq = NULL;
	r->cq = NULL;
	r->status = NULL;
	r->doorbell = NULL;
	r->cookie = NULL;
	free(m);
}

static void chardev_queue_destroy(struct gtu_device *dev, struct gtu_rings *r)
{
	struct chardev *c = dev->backend;
	struct gtu_ioctl_queue q = { .size = sizeof(q), .id = r->id };

	if (!gtu_opened_by_parent(dev))
		ioctl(c->fd, GTU_IOCTL_QUEUE_DESTROY, &q);
	unmap_queue(r, !gtu_opened_by_parent(dev));
}

static void *map_part(struct chardev *c, uint64_t bytes, uint64_t offset, int rights)
{
	void *at = mmap(NULL, bytes, rights, MAP_SHARED, c->fd, (off_t)offset);

	return at == MAP_FAILED ? NULL : at;
}

static int chardev_queue_create(struct gtu_device *dev, struct gtu_rings *r, struct gtu_error *err)
{
	struct chardev *c = dev->backend;
	struct gtu_ioctl_queue_create q = {
		.size = sizeof(q), .sq_log2 = r->sq_log2, .cq_log2 = r->cq_log2,
	};
	struct mapped_queue *m;
	int error;

	if (gtu_opened_by_parent(dev))
		return gtu_fail_opened_by_parent(dev, err);
	m = malloc(sizeof(*m));
	if (!m)
		return gtu_fail(err, GTU_ERR_NOMEM, "out of memory for a queue");
	if (ioctl(c->fd, GTU_IOCTL_QUEUE_CREATE, &q)) {
		error = errno;
		free(m);
		switch (error) {
		case ENODEV:
			return fail_removed(dev, err);
		case ENOSPC:
			return gtu_fail(err, GTU_ERR_NOMEM, "all queues are in use: %s has %u",
					dev->info.path, dev->info.max_queues);
		case EDQUOT:
			return gtu_fail(err, GTU_ERR_NOMEM, "this user has all queues of %s that the driver allows a user: "
					"destroy some, or increase the module parameter user_queues", dev->info.path);
		case ENOMEM:
			return gtu_fail(err, GTU_ERR_NOMEM,
					"out of memory for rings of 2^%u and 2^%u entries",
					r->sq_log2,
					r->cq_log2);
		}
		return gtu_fail(err, GTU_ERR_USAGE,
				"cannot create a queue with rings of 2^%u and 2^%u entries: %s",
				r->sq_log2,
				r->cq_log2, strerror(error));
	}
	*m = (struct mapped_queue){ q.sq_bytes, q.cq_bytes, q.db_bytes };
	r->cookie = m;
	r->id = q.id;
	r->sq = map_part(c, q.sq_bytes, q.sq_offset, PROT_READ | PROT_WRITE);
	r->cq = map_part(c, q.cq_bytes, q.cq_offset, PROT_READ);
	r->doorbell = map_part(c, q.db_bytes, q.db_offset, PROT_WRITE);
	if (!r->sq || !r->cq || !r->doorbell) {
		error = errno;
		chardev_queue_destroy(dev, r);
		return gtu_fail(err, GTU_ERR_NOMEM, "cannot map a queue's rings: %s",
				strerror(error));
	}
	r->status = (const struct gtu_hw_queue_status *)(r->cq + ((size_t)1 << r->cq_log2));
	return 0;
}

static int chardev_queue_reset(struct gtu_device *dev, struct gtu_rings *r, struct gtu_error *err)
{
	struct chardev *c = dev->backend;
	struct gtu_ioctl_queue q = { .size = sizeof(q), .id = r->id };

	if (gtu_opened_by_parent(dev))
		return gtu_fail_opened_by_parent(dev, err);
	if (!ioctl(c->fd, GTU_IOCTL_QUEUE_RESET, &q))
		return 0;
	if (errno == ENODEV)
		return fail_removed(dev, err);
	return gtu_fail(err, GTU_ERR_FAIL, "cannot reset the queue: %s", strerror(errno));
}

static int chardev_cancel(struct gtu_device *dev, struct gtu_rings *r, uint32_t until, struct gtu_error *err)
{
	struct chardev *c = dev->backend;
	struct gtu_ioctl_queue_cancel q = { .size = sizeof(q), .id = r->id, .until = until };

	if (!ioctl(c->fd, GTU_IOCTL_QUEUE_CANCEL, &q))
		return 0;
	switch (errno) {
	case ENODEV:
		return fail_removed(dev, err);
	case ENOTTY:
	case EOPNOTSUPP:
		return gtu_fail(err, GTU_ERR_UNSUPPORTED, "the driver of %s cannot cancel jobs", dev->info.path);
	}
	return gtu_fail(err, GTU_ERR_FAIL, "cannot cancel jobs before %u: %s", until, strerror(errno));
}

/* Poll briefly: cheaper than a system call if the device is almost done. */
static bool spin(const struct gtu_rings *r, uint32_t cq_index, const struct gtu_record_wait *stream)
{
	unsigned i;

	for (i = 0; i < SPINS; i++)
		if (gtu_completed(r, cq_index) || (stream && gtu_recorded(stream)))
			return true;
	return false;
}

/*
 * Report that the driver and the ring disagree; waiting again would not help. Wait once more to
 * rule out that the device was removed between the two reads and the ring replaced by zeroes.
 */
static int contradiction(struct gtu_device *dev, const struct gtu_ioctl_wait *w, struct gtu_error *err)
{
	const struct chardev *c = dev->backend;
	struct gtu_ioctl_wait again = { .size = sizeof(again), .id = w->id, .index = w->index };

	if (ioctl(c->fd, GTU_IOCTL_WAIT, &again) && errno == ENODEV)
		return fail_removed(dev, err);
	return gtu_fail(err, GTU_ERR_FAIL,
			"%s counts %u completions (queue state %u), but completion %u is not in "
			"the ring: its "
			"completions cannot be trusted; reset the queue, or the device", dev->info.path, w->cq_tail,
			w->state, w->index);
}

static int chardev_wait(struct gtu_device *dev, struct gtu_rings *r, uint32_t cq_index,
			const struct gtu_record_wait *stream, uint64_t deadline_ns, struct gtu_error *err)
{
	struct chardev *c = dev->backend;
	struct gtu_ioctl_wait w = {
		.size = sizeof(w),
		.id = r->id,
		.index = cq_index,
		.deadline_ns = deadline_ns,
		.flags = stream && c->stream_events ? GTU_WAIT_STREAM : 0,
		.record = stream && c->stream_events ? stream->record : 0,
	};
	const struct timespec nap = { 0, NAP_NS };

	if (gtu_opened_by_parent(dev))
		return gtu_fail_opened_by_parent(dev, err);
	if (spin(r, cq_index, stream))
		return 0;
	if (stream && !c->stream_events) {
		if (deadline_ns != UINT64_MAX && gtu_now_ns() >= deadline_ns)
			return gtu_fail(err, GTU_ERR_TIMEOUT, "the job is not done yet");
		nanosleep(&nap, NULL);
		return 0;
	}
	if (!ioctl(c->fd, GTU_IOCTL_WAIT, &w))
		return stream || gtu_completed(r, cq_index) ? 0 : contradiction(dev, &w, err);
	switch (errno) {
	case EIO:
		/* the queue is in error: the caller checks its state, if that agrees */
		return gtu_load_acquire(&r->status->state) != GTU_QUEUE_ENABLED ?
			       0 : contradiction(dev, &w, err);
	case EOPNOTSUPP:
	case EINVAL:
		if (!w.flags)
			break;
		c->stream_events = false;	/* an older driver */
		return 0;
	case ETIMEDOUT:
		return gtu_fail(err, GTU_ERR_TIMEOUT, "the job is not done yet");
	case EINTR:
		return gtu_fail(err, GTU_ERR_INTERRUPTED,
				"a signal interrupted the wait for a job");
	case ECANCELED:
		return gtu_fail(err, GTU_ERR_FAIL,
				"the queue was reset during the wait for a job");
	case ENODEV:
		return fail_removed(dev, err);
	}
	return gtu_fail(err, GTU_ERR_FAIL, "cannot wait for the job: %s", strerror(errno));
}

/* Doorbells are always mapped, so there is no .doorbell. */
const struct gtu_backend_ops gtu_backend_chardev = {
	.name = "chardev",
	.open = chardev_open,
	.close = chardev_close,
	.region_add = chardev_region_add,
	.region_remove = chardev_region_remove,
	.region_alloc = chardev_region_alloc,
	.aperture_is_io = true,
	.region_free = chardev_region_free,
	.queue_create = chardev_queue_create,
	.queue_destroy = chardev_queue_destroy,
	.queue_reset = chardev_queue_reset,
	.cancel = chardev_cancel,
	.wait = chardev_wait,
	.read = chardev_read,
	.write = chardev_write,
};
