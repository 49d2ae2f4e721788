// SPDX-License-Identifier: GPL-2.0-only
/*
 * ioctl entry points, with central checks of sizes, flags and reserved fields.
 */
#include <linux/fcntl.h>
#include <linux/file.h>
#include <linux/nospec.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "gtu_drv.h"

struct gtu_call {
	const struct gtu_ioctl_entry *entry;
	struct gtu_ctx *ctx;
	void __user *arg;
	int inside;			/* return value of gtu_enter() */
	u32 size;			/* as passed by the caller */
	u32 key;			/* of the region that the call published */
	union gtu_args {
		struct {
			u32 size;
			u32 flags;
		} head;
		struct gtu_ioctl_info info;
		struct gtu_ioctl_region_add add;
		struct gtu_ioctl_buffer_alloc alloc;
		struct gtu_ioctl_region_remove remove;
		struct gtu_ioctl_queue_create create;
		struct gtu_ioctl_queue queue;
		struct gtu_ioctl_wait wait;
		struct gtu_ioctl_reg reg;
		struct gtu_ioctl_buffer_export export;
		struct gtu_ioctl_region_import import;
		struct gtu_ioctl_submit submit;
		struct gtu_ioctl_queue_cancel cancel;
		struct gtu_ioctl_queue_eventfd eventfd;
		struct gtu_ioctl_queue_arm arm;
		struct gtu_ioctl_wait_any any;
	} u;
};

/*
 * @min: up to the last member of the struct's first version, which every caller
 * has. @flags: valid flags. @reserved: offset of a reserved __u32, or 0.
 * @respond: a successful call copies the struct back. If that fails, @undo
 * removes what the caller never learned; teardown removes it if the context is
 * dead.
 */
struct gtu_ioctl_entry {
	unsigned int cmd;
	u32 size, min, flags, reserved;
	bool respond;
	int (*call)(struct gtu_call *c);
	void (*undo)(struct gtu_call *c);
};

/*
 * Copy the fields that the caller knows back to user space. The device may be
 * dead on return.
 */
static int gtu_respond(struct gtu_call *c)
{
	int ret;

	gtu_leave(c->ctx, c->inside);
	ret = copy_to_user(c->arg, &c->u, min(c->size, c->entry->size)) ? -EFAULT : 0;
	c->inside = gtu_enter(c->ctx);
	return ret;
}

static int gtu_do_info(struct gtu_call *c)
{
	struct gtu_ctx *ctx = c->ctx;
	struct gtu_device *gtu = ctx->gtu;

	c->u.info = (struct gtu_ioctl_info){
		.size = sizeof(c->u.info),
		.uapi_version = GTU_UAPI_VERSION,
		.hw_version = gtu->version,
		.caps = gtu->caps,
		.units = gtu->units,
		.epoch = ctx->epoch,
		.max_contexts = gtu->max_contexts,
		.max_queues = gtu->max_queues,
		.max_regions_log2 = gtu->regions_log2,
		.max_ring_log2 = gtu->max_ring,
		.vectors = gtu->vectors,
		.doorbell_stride_log2 = gtu->stride,
		.clock_hz = gtu->clock_hz,
		.aperture_bytes = gtu->aperture,
		.fdt_bytes = gtu->fdt_bytes,
		.fdt_crc = gtu->fdt_crc,
		.ctx_queues = GTU_CTX_QUEUES,
	};
	return 0;
}

static bool gtu_rights_ok(u32 rights)
{
	return rights && !(rights & ~(GTU_RIGHT_READ | GTU_RIGHT_WRITE));
}

/* Add a new region to the table. Frees it on error. */
static int gtu_do_publish(struct gtu_call *c, struct gtu_region *r, u32 *key)
{
	int ret = gtu_region_publish(c->ctx, r, &c->key);

	if (ret)
		gtu_region_free(c->ctx, r, true);
	*key = c->key;
	return ret;
}

static void gtu_undo_publish(struct gtu_call *c)
{
	gtu_region_remove(c->ctx, c->key, false);
}

static int gtu_do_region_add(struct gtu_call *c)
{
	struct gtu_ioctl_region_add *a = &c->u.add;
	struct gtu_region *r;
	int ret;

	if (!a->length || a->addr % 8 || !gtu_rights_ok(a->rights))
		return -EINVAL;
	if (a->addr + a->length < a->addr || a->addr + a->length > ULONG_MAX - PAGE_SIZE)
		return -EOVERFLOW;
	gtu_leave(c->ctx, c->inside);
	r = gtu_region_pin(c->ctx, a->addr, a->length, a->rights);
	c->inside = gtu_enter(c->ctx);
	if (IS_ERR(r))
		return PTR_ERR(r);
	ret = c->inside < 0 ? c->inside : gtu_region_map(c->ctx, r);
	if (ret) {
		gtu_region_free(c->ctx, r, true);
		return ret;
	}
	return gtu_do_publish(c, r, &a->key);
}

static int gtu_do_buffer_alloc(struct gtu_call *c)
{
	struct gtu_ioctl_buffer_alloc *a = &c->u.alloc;
	bool aperture = a->flags & GTU_BUFFER_APERTURE;
	struct gtu_region *r;
	int ret;

	if (!a->length || !gtu_rights_ok(a->rights))
		return -EINVAL;
	if (a->length > LONG_MAX - PAGE_SIZE)
		return -EOVERFLOW;
	r = aperture ? gtu_region_aperture(c->ctx, a->length, a->rights) :
		       gtu_region_alloc(c->ctx, a->length, a->rights);
	if (IS_ERR(r))
		return PTR_ERR(r);
	ret = gtu_do_publish(c, r, &a->key);
	a->mmap_offset = gtu_map_offset(aperture ? GTU_MAP_APERTURE : GTU_MAP_BUFFER,
					a->key & 0xffff);
	return ret;
}

static int gtu_do_region_remove(struct gtu_call *c)
{
	return gtu_region_remove(c->ctx, c->u.remove.key, false);
}

static int gtu_do_buffer_export(struct gtu_call *c)
{
	struct gtu_ioctl_buffer_export *a = &c->u.export;
	struct dma_buf *dmabuf;
	int fd, ret;

	if (!gtu_rights_ok(a->rights))
		return -EINVAL;
	dmabuf = gtu_buffer_export(c->ctx, a->key, a->rights);
	if (IS_ERR(dmabuf))
		return PTR_ERR(dmabuf);
	fd = get_unused_fd_flags(a->flags);
	if (fd < 0) {
		fput(dmabuf->file);
		return fd;
	}
	a->fd = fd;
	ret = gtu_respond(c);
	if (ret) {
		put_unused_fd(fd);
		fput(dmabuf->file);
		return ret;
	}
	/* From here on other threads of the process can use and close it. */
	fd_install(fd, dmabuf->file);
	return 0;
}

static int gtu_do_region_import(struct gtu_call *c)
{
	struct gtu_ioctl_region_import *a = &c->u.import;
	struct gtu_region *r;

	if (!gtu_rights_ok(a->rights))
		return -EINVAL;
	r = gtu_region_import(c->ctx, a->fd, a->rights);
	if (IS_ERR(r))
		return PTR_ERR(r);
	a->length = r->length;
	return gtu_do_publish(c, r, &a->key);
}

static int gtu_do_queue_create(struct gtu_call *c)
{
	struct gtu_ioctl_queue_create *a = &c->u.create;
	bool submit = a->flags & GTU_QUEUE_SUBMIT;
	struct gtu_queue *q;

	if (!(submit || c->ctx->gtu->caps & GTU_CAP_REGIONS))
		return -EOPNOTSUPP;
	if (a->sq_log2 < GTU_RING_LOG2_MIN || a->sq_log2 > c->ctx->gtu->max_ring ||
	    a->cq_log2 < GTU_RING_LOG2_MIN || a->cq_log2 > c->ctx->gtu->max_ring)
		return -EINVAL;
	q = gtu_queue_create(c->ctx, a->sq_log2, a->cq_log2, submit);
	if (IS_ERR(q))
		return PTR_ERR(q);
	a->id = q->id;
	a->sq_offset = gtu_map_offset(GTU_MAP_SQ, q->id);
	a->cq_offset = gtu_map_offset(GTU_MAP_CQ, q->id);
	a->db_offset = gtu_map_offset(GTU_MAP_DOORBELL, q->id);
	a->sq_bytes = submit ? 0 : q->sq.bytes;
	a->cq_bytes = q->cq.bytes;
	a->db_bytes = submit ? 0 : PAGE_SIZE;
	gtu_queue_put(q);
	return 0;
}

static void gtu_undo_queue_create(struct gtu_call *c)
{
	gtu_queue_destroy(c->ctx, c->u.create.id);
}

static int gtu_do_queue_destroy(struct gtu_call *c)
{
	return gtu_queue_destroy(c->ctx, c->u.queue.id);
}

static int gtu_do_queue_reset(struct gtu_call *c)
{
	return gtu_queue_reset(c->ctx, c->u.queue.id);
}

static int gtu_do_wait(struct gtu_call *c)
{
	struct gtu_ioctl_wait *a = &c->u.wait;
	const bool stream = a->flags & GTU_WAIT_STREAM;
	struct gtu_queue *q;
	int ret, out;

	if ((a->record && !stream) ||
	    (stream && !(c->ctx->gtu->caps & GTU_CAP_STREAM_EVENTS)))
		return -EOPNOTSUPP;
	q = gtu_queue_get(c->ctx, a->id);
	if (IS_ERR(q))
		return PTR_ERR(q);
	if (q->submit)
		gtu_submit_notify(q);
	ret = gtu_queue_wait(q, a->index, stream ? &a->record : NULL, a->deadline_ns, &a->cq_tail,
			     &a->state);
	gtu_queue_put(q);
	if (ret == -ENODEV || ret == -ECANCELED)
		return ret;
	out = gtu_respond(c);
	/*
	 * Returns EINTR if a signal handler runs; restarts after a stop or
	 * freeze.
	 */
	return ret == -EINTR ? -ERESTARTNOHAND : ret ?: out;
}

static int gtu_do_submit(struct gtu_call *c)
{
	struct gtu_ioctl_submit *a = &c->u.submit;
	struct gtu_queue *q;
	int ret, out;

	if (a->count > GTU_SUBMIT_MAX || a->descs % 8)
		return -EINVAL;
	if (a->descs > ULONG_MAX - a->count * sizeof(struct gtu_hw_desc))
		return -EOVERFLOW;
	q = gtu_queue_get(c->ctx, a->id);
	if (IS_ERR(q))
		return PTR_ERR(q);
	ret = q->submit ? gtu_submit(q, a, &c->inside) : -EINVAL;
	gtu_queue_put(q);
	if (ret == -ENODEV || ret == -ECANCELED)
		return ret;
	out = gtu_respond(c);
	return ret ?: out;
}

static int gtu_do_reg_read(struct gtu_call *c)
{
	return gtu_reg_read(c->ctx->gtu, c->ctx, c->u.reg.offset, &c->u.reg.value);
}

static int gtu_do_reg_write(struct gtu_call *c)
{
	return gtu_reg_write(c->ctx, c->u.reg.offset, c->u.reg.value);
}

static int gtu_do_queue_cancel(struct gtu_call *c)
{
	struct gtu_ioctl_queue_cancel *a = &c->u.cancel;
	const bool all = a->flags & GTU_CANCEL_ALL;

	if (all && a->until)
		return -EINVAL;
	return gtu_queue_cancel(c->ctx, a->id, all, a->until);
}

static int gtu_do_queue_eventfd(struct gtu_call *c)
{
	struct gtu_queue *q = gtu_queue_get(c->ctx, c->u.eventfd.id);
	int ret;

	if (IS_ERR(q))
		return PTR_ERR(q);
	ret = gtu_queue_eventfd(q, c->u.eventfd.fd);
	gtu_queue_put(q);
	return ret;
}

static int gtu_do_queue_arm(struct gtu_call *c)
{
	struct gtu_ioctl_queue_arm *a = &c->u.arm;
	const bool stream = a->flags & GTU_ARM_STREAM;
	struct gtu_queue *q;

	if (stream && !(c->ctx->gtu->caps & GTU_CAP_STREAM_EVENTS))
		return -EOPNOTSUPP;
	q = gtu_queue_get(c->ctx, a->id);
	if (IS_ERR(q))
		return PTR_ERR(q);
	gtu_queue_request(q, a->index, stream);
	gtu_watchdog_start(c->ctx->gtu);
	gtu_queue_put(q);
	return 0;
}

/* The entries are copied outside of gtu_enter(). */
static int gtu_do_wait_any(struct gtu_call *c)
{
	struct gtu_ioctl_wait_any *a = &c->u.any;
	void __user *user = u64_to_user_ptr(a->entries);
	size_t bytes = a->count * sizeof(struct gtu_wait_entry);
	struct gtu_wait_entry *entry;
	struct gtu_queue **q;
	unsigned int n = 0;
	int ret, out;

	if (!a->count || a->count > GTU_WAIT_MAX || a->entries % 4)
		return -EINVAL;
	gtu_leave(c->ctx, c->inside);
	entry = memdup_user(user, bytes);
	c->inside = gtu_enter(c->ctx);
	if (IS_ERR(entry))
		return PTR_ERR(entry);
	q = kcalloc(a->count, sizeof(*q), GFP_KERNEL);
	ret = c->inside < 0 ? c->inside : q ? 0 : -ENOMEM;
	for (; !ret && n < a->count; n++) {
		q[n] = gtu_queue_get(c->ctx, entry[n].id);
		ret = PTR_ERR_OR_ZERO(q[n]);
		if (ret)
			break;
		if (q[n]->submit)
			gtu_submit_notify(q[n]);
	}
	if (!ret)
		ret = gtu_queue_wait_any(c->ctx, q, entry, n, a->deadline_ns, &a->first);
	while (n--)
		gtu_queue_put(q[n]);
	if (!ret || ret == -EIO || ret == -ECANCELED || ret == -ETIMEDOUT || ret == -EINTR) {
		gtu_leave(c->ctx, c->inside);
		out = copy_to_user(user, entry, bytes) ? -EFAULT : 0;
		c->inside = gtu_enter(c->ctx);
		out = out ?: gtu_respond(c);
		ret = ret == -EINTR ? -ERESTARTNOHAND : ret ?: out;
	}
	kfree(q);
	kfree(entry);
	return ret;
}

#define GTU_CALL(cmd, type, last, fn, ...)                                                         \
	[_IOC_NR(cmd)] = { cmd, sizeof(type), offsetofend(type, last), .call = fn, __VA_ARGS__ }
#define GTU_RESERVED(type) .reserved = offsetof(type, reserved)

static const struct gtu_ioctl_entry gtu_calls[] = {
	GTU_CALL(GTU_IOCTL_INFO, struct gtu_ioctl_info, reserved, gtu_do_info,
		 GTU_RESERVED(struct gtu_ioctl_info), .respond = true),
	GTU_CALL(GTU_IOCTL_REGION_ADD, struct gtu_ioctl_region_add, key, gtu_do_region_add,
		 .respond = true, .undo = gtu_undo_publish),
	GTU_CALL(GTU_IOCTL_BUFFER_ALLOC, struct gtu_ioctl_buffer_alloc, mmap_offset,
		 gtu_do_buffer_alloc, .flags = GTU_BUFFER_APERTURE, .respond = true,
		 .undo = gtu_undo_publish),
	GTU_CALL(GTU_IOCTL_REGION_REMOVE, struct gtu_ioctl_region_remove, reserved,
		 gtu_do_region_remove, GTU_RESERVED(struct gtu_ioctl_region_remove)),
	GTU_CALL(GTU_IOCTL_QUEUE_CREATE, struct gtu_ioctl_queue_create, db_bytes,
		 gtu_do_queue_create, .flags = GTU_QUEUE_SUBMIT,
		 GTU_RESERVED(struct gtu_ioctl_queue_create), .respond = true,
		 .undo = gtu_undo_queue_create),
	GTU_CALL(GTU_IOCTL_QUEUE_DESTROY, struct gtu_ioctl_queue, reserved, gtu_do_queue_destroy,
		 GTU_RESERVED(struct gtu_ioctl_queue)),
	GTU_CALL(GTU_IOCTL_QUEUE_RESET, struct gtu_ioctl_queue, reserved, gtu_do_queue_reset,
		 GTU_RESERVED(struct gtu_ioctl_queue)),
	GTU_CALL(GTU_IOCTL_WAIT, struct gtu_ioctl_wait, state, gtu_do_wait,
		 .flags = GTU_WAIT_STREAM, GTU_RESERVED(struct gtu_ioctl_wait)),
	GTU_CALL(GTU_IOCTL_REG_READ, struct gtu_ioctl_reg, value, gtu_do_reg_read,
		 GTU_RESERVED(struct gtu_ioctl_reg), .respond = true),
	GTU_CALL(GTU_IOCTL_REG_WRITE, struct gtu_ioctl_reg, value, gtu_do_reg_write,
		 GTU_RESERVED(struct gtu_ioctl_reg)),
	GTU_CALL(GTU_IOCTL_BUFFER_EXPORT, struct gtu_ioctl_buffer_export, reserved,
		 gtu_do_buffer_export, .flags = O_CLOEXEC,
		 GTU_RESERVED(struct gtu_ioctl_buffer_export)),
	GTU_CALL(GTU_IOCTL_REGION_IMPORT, struct gtu_ioctl_region_import, length,
		 gtu_do_region_import, GTU_RESERVED(struct gtu_ioctl_region_import),
		 .respond = true, .undo = gtu_undo_publish),
	GTU_CALL(GTU_IOCTL_QUEUE_CANCEL, struct gtu_ioctl_queue_cancel, until,
		 gtu_do_queue_cancel, .flags = GTU_CANCEL_ALL),
	GTU_CALL(GTU_IOCTL_QUEUE_EVENTFD, struct gtu_ioctl_queue_eventfd, fd,
		 gtu_do_queue_eventfd),
	GTU_CALL(GTU_IOCTL_SUBMIT, struct gtu_ioctl_submit, status, gtu_do_submit,
		 .flags = GTU_SUBMIT_ARM),
	GTU_CALL(GTU_IOCTL_QUEUE_ARM, struct gtu_ioctl_queue_arm, index, gtu_do_queue_arm,
		 .flags = GTU_ARM_STREAM),
	GTU_CALL(GTU_IOCTL_WAIT_ANY, struct gtu_ioctl_wait_any, deadline_ns, gtu_do_wait_any),
};

/**
 * gtu_ioctl() - ioctl() of a file
 * @file: the open file
 * @cmd: GTU_IOCTL_*
 * @at: user address of the struct
 *
 * Return: 0 or a negative errno
 */
long gtu_ioctl(struct file *file, unsigned int cmd, unsigned long at)
{
	void __user *arg = (void __user *)at;
	struct gtu_ctx *ctx = file->private_data;
	struct gtu_call c = { .ctx = ctx, .arg = arg };
	const struct gtu_ioctl_entry *e;
	unsigned int nr = _IOC_NR(cmd);
	int ret;

	/* report a dead context before any other error */
	if (gtu_ctx_dead(ctx))
		return -ENODEV;
	if (nr >= ARRAY_SIZE(gtu_calls) || gtu_calls[nr].cmd != cmd)
		return -ENOTTY;
	e = &gtu_calls[array_index_nospec(nr, ARRAY_SIZE(gtu_calls))];
	c.entry = e;
	if (get_user(c.size, (u32 __user *)arg))
		return -EFAULT;
	if (c.size < e->min)
		return -EINVAL;
	/*
	 * Bytes beyond the known struct are checked for zero: limit how many.
	 */
	if (c.size > SZ_4K)
		return -E2BIG;
	ret = copy_struct_from_user(&c.u, e->size, arg, c.size);
	if (ret)
		return ret;
	/*
	 * The size was read again with the struct: use the one that was
	 * checked.
	 */
	c.u.head.size = min(c.size, e->size);
	if (c.u.head.flags & ~e->flags || (e->reserved && *(u32 *)((void *)&c.u + e->reserved)))
		return -EOPNOTSUPP;
	c.inside = gtu_enter(ctx);
	if (c.inside < 0)
		return c.inside;
	ret = e->call(&c);
	if (!ret && e->respond) {
		ret = gtu_respond(&c);
		if (ret && e->undo && c.inside >= 0)
			e->undo(&c);
	}
	gtu_leave(ctx, c.inside);
	/* Restart codes are internal to the kernel. */
	return ret == -ERESTARTSYS ? -EINTR : ret;
}
