// SPDX-License-Identifier: GPL-2.0-only
/* Contexts: creation, teardown and release of the resources of an open file. */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/fs.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include "gtu_drv.h"

static unsigned int user_contexts;
module_param(user_contexts, uint, 0644);
MODULE_PARM_DESC(user_contexts, "Maximum number of contexts per user; 0: a quarter of the device's; not for CAP_SYS_RESOURCE");

#define GTU_USAGE_MS	20

static atomic64_t gtu_clients;

static size_t gtu_table_bytes(struct gtu_ctx *ctx)
{
	return (size_t)ctx->slots * sizeof(struct gtu_hw_region);
}

static void gtu_ctx_release(struct kref *ref)
{
	struct gtu_ctx *ctx = container_of(ref, struct gtu_ctx, ref);
	unsigned int unit;

	xa_destroy(&ctx->queue);
	iput(ctx->mapping->host);
	kvfree(ctx->region);
	kvfree(ctx->generation);
	bitmap_free(ctx->used);
	for (unit = 0; unit < GTU_UNIT_PAGES; unit++)
		kfree(ctx->counters[unit]);
	if (ctx->user)
		gtu_user_uncharge(ctx->gtu, ctx->uid, GTU_USER_CONTEXTS, 1);
	put_device(&ctx->gtu->dev);
	kfree_rcu(ctx, rcu);
}

/**
 * gtu_ctx_put() - drop a reference to a context
 * @ctx: the context
 */
void gtu_ctx_put(struct gtu_ctx *ctx)
{
	kref_put(&ctx->ref, gtu_ctx_release);
}

/**
 * gtu_ctx_next() - iterate over the contexts of a device
 * @gtu: the device
 * @client: client of the last context, or 0; ids are used again before contexts end
 *
 * Return: the context with the lowest client above @client, with a reference, or
 * NULL
 */
struct gtu_ctx *gtu_ctx_next(struct gtu_device *gtu, u64 client)
{
	struct gtu_ctx *ctx, *best = NULL;

	spin_lock_irq(&gtu->ctx_lock);
	list_for_each_entry(ctx, &gtu->contexts, link)
		if (ctx->client > client && (!best || ctx->client < best->client))
			best = ctx;
	if (best)
		kref_get(&best->ref);
	spin_unlock_irq(&gtu->ctx_lock);
	return best;
}

static struct gtu_user *gtu_user_find(struct gtu_device *gtu, kuid_t uid)
{
	struct gtu_user *u;

	lockdep_assert_held(&gtu->user_lock);
	list_for_each_entry(u, &gtu->users, link)
		if (uid_eq(u->uid, uid))
			return u;
	return NULL;
}

/**
 * gtu_user_charge() - charge units of a resource to a user
 * @gtu: the device
 * @uid: the user
 * @what: the resource
 * @n: number of units
 * @limit: most units that the user may have
 *
 * Return: 0, -ENOMEM, or -EDQUOT if the user would have more than @limit,
 * unless the caller may exceed resource limits
 */
int gtu_user_charge(struct gtu_device *gtu, kuid_t uid, enum gtu_resource what, unsigned long n,
		    unsigned long limit)
{
	struct gtu_user *new = kzalloc(sizeof(*new), GFP_KERNEL_ACCOUNT), *found;
	bool unlimited = ns_capable_noaudit(&init_user_ns, CAP_SYS_RESOURCE);
	int ret = 0;

	if (!new)
		return -ENOMEM;
	new->uid = uid;
	mutex_init(&new->turn);
	spin_lock(&gtu->user_lock);
	found = gtu_user_find(gtu, uid);
	if (!unlimited && n > limit - min(limit, found ? found->used[what] : 0)) {
		ret = -EDQUOT;
	} else {
		if (!found) {
			found = new;
			new = NULL;
			list_add(&found->link, &gtu->users);
		}
		found->used[what] += n;
	}
	spin_unlock(&gtu->user_lock);
	kfree(new);
	return ret;
}

/**
 * gtu_user_uncharge() - undo gtu_user_charge()
 * @gtu: the device
 * @uid: the user
 * @what: the resource
 * @n: number of units
 */
void gtu_user_uncharge(struct gtu_device *gtu, kuid_t uid, enum gtu_resource what,
		       unsigned long n)
{
	struct gtu_user *u;

	spin_lock(&gtu->user_lock);
	u = gtu_user_find(gtu, uid);
	u->used[what] -= n;
	if (!memchr_inv(u->used, 0, sizeof(u->used))) {
		list_del(&u->link);
		kfree(u);
	}
	spin_unlock(&gtu->user_lock);
}

/*
 * The device shares its time by group, and a group keeps its charge for an exclusive unit
 * (hardware.md, section 6): all contexts of a user are of one group. A user without contexts gets
 * the group that he had last, or else the one that has been free for the longest time.
 */
static u32 gtu_group_get(struct gtu_device *gtu, kuid_t uid)
{
	s64 rank, lowest = S64_MAX;
	u32 i, best = 0;

	spin_lock(&gtu->user_lock);
	for (i = 0; i < gtu->max_contexts; i++) {
		const struct gtu_group *g = &gtu->group[i];
		const bool same = uid_eq(g->uid, uid);

		if (g->contexts && !same)
			continue;
		rank = g->contexts ? S64_MIN : same ? -g->freed : g->freed;
		if (rank < lowest) {
			lowest = rank;
			best = i;
		}
	}
	gtu->group[best].uid = uid;
	gtu->group[best].contexts++;
	spin_unlock(&gtu->user_lock);
	return best;
}

/* Each group in use has a context with an id: a context that has an id finds a group. */
static int gtu_ctx_id_alloc(struct gtu_ctx *ctx)
{
	struct gtu_device *gtu = ctx->gtu;
	int id = ida_alloc_max(&gtu->ctx_ids, gtu->max_contexts - 1, GFP_KERNEL);

	if (id < 0)
		return id;
	ctx->id = id;
	ctx->group = gtu_group_get(gtu, ctx->uid);
	return 0;
}

static void gtu_ctx_id_free(struct gtu_ctx *ctx)
{
	struct gtu_device *gtu = ctx->gtu;
	struct gtu_group *g = &gtu->group[ctx->group];

	spin_lock(&gtu->user_lock);
	if (!--g->contexts)
		g->freed = ++gtu->groups_freed;
	spin_unlock(&gtu->user_lock);
	ida_free(&gtu->ctx_ids, ctx->id);
}

/**
 * gtu_ctx_usage() - get the jobs and cycles that a context has used
 * @ctx: the context; a dead one keeps its last values
 * @usage: out: the counters
 * @now: read the device's counters; otherwise at most every 20 ms, because every
 *	user may ask
 */
void gtu_ctx_usage(struct gtu_ctx *ctx, struct gtu_usage *usage, bool now)
{
	u64 read[GTU_MBOX_RESULTS];

	mutex_lock(&ctx->usage_lock);
	if (ctx->gtu->caps & GTU_CAP_CTX_COUNTERS && !gtu_ctx_dead(ctx) &&
	    (now || ktime_ms_delta(ktime_get(), ctx->usage_time) >= GTU_USAGE_MS) &&
	    !GTU_MBOX_QUERY(ctx, GTU_MBOX_CTX_COUNTERS, read, ctx->id)) {
		ctx->usage.jobs = ctx->usage_before.jobs + read[0];
		ctx->usage.failed = ctx->usage_before.failed + read[1];
		ctx->usage.cycles = ctx->usage_before.cycles + read[2];
		ctx->usage_time = ktime_get();
	}
	*usage = ctx->usage;
	mutex_unlock(&ctx->usage_lock);
}

/* Any number of cycles as nanoseconds: a faulty device gives any. */
static u64 gtu_cycles_ns(u64 cycles, u64 clock_hz)
{
	u64 rest, seconds = div64_u64_rem(cycles, clock_hz, &rest);

	return seconds * NSEC_PER_SEC + mul_u64_u64_div_u64(rest, NSEC_PER_SEC, clock_hz);
}

/**
 * gtu_show_fdinfo() - describe what a file uses
 * @m: text of /proc/PID/fdinfo
 * @file: file of the device
 *
 * Keys as in the kernel's Documentation/gpu/drm-usage-stats.rst, where they fit.
 */
void gtu_show_fdinfo(struct seq_file *m, struct file *file)
{
	struct gtu_ctx *ctx = file->private_data;
	struct gtu_device *gtu = ctx->gtu;
	unsigned long memory = atomic_long_read(&ctx->memory_pages);
	unsigned long aperture = atomic_long_read(&ctx->aperture_pages);
	int inside = gtu_enter(ctx);
	struct gtu_usage usage;

	gtu_ctx_usage(ctx, &usage, false);
	seq_printf(m, "drm-driver:\t" GTU_NAME "\ndrm-client-id:\t%llu\n", ctx->client);
	if (inside >= 0 && dev_is_pci(gtu->parent))
		seq_printf(m, "drm-pdev:\t%s\n", dev_name(gtu->parent));
	if (gtu->caps & GTU_CAP_CTX_COUNTERS && gtu->clock_hz) {
		seq_printf(m, "drm-engine-gtu:\t%llu ns\n",
			   gtu_cycles_ns(usage.cycles, gtu->clock_hz));
		seq_printf(m, "drm-cycles-gtu:\t%llu\n", usage.cycles);
		seq_printf(m, "drm-maxfreq-gtu:\t%llu Hz\n", gtu->clock_hz);
		seq_printf(m, "gtu-jobs:\t%llu\n", usage.jobs);
		seq_printf(m, "gtu-jobs-failed:\t%llu\n", usage.failed);
	}
	/* regions and the aperture are always resident */
	seq_printf(m, "drm-total-memory:\t%lu KiB\n", memory << (PAGE_SHIFT - 10));
	seq_printf(m, "drm-resident-memory:\t%lu KiB\n", memory << (PAGE_SHIFT - 10));
	seq_printf(m, "drm-total-aperture:\t%lu KiB\n", aperture << (PAGE_SHIFT - 10));
	seq_printf(m, "drm-resident-aperture:\t%lu KiB\n", aperture << (PAGE_SHIFT - 10));
	seq_printf(m, "gtu-device:\t%s\n", dev_name(&gtu->dev));
	seq_printf(m, "gtu-context:\t%u\n", ctx->id);
	seq_printf(m, "gtu-group:\t%u\n", ctx->group);
	seq_printf(m, "gtu-queues:\t%u\n", READ_ONCE(ctx->queues));
	gtu_leave(ctx, inside);
}

/**
 * gtu_ctx_enable() - register a context with the device, in its current epoch
 * @ctx: the context, which is on the device's list from now on
 *
 * In one step, so that a reset comes before it or finds the context. The device
 * counts its jobs from 0. Under ctx->lock once the context is published.
 *
 * Return: 0 or a negative errno. If the device is not accessible, the epoch of the
 * context is GTU_EPOCH_NEVER.
 */
int gtu_ctx_enable(struct gtu_ctx *ctx)
{
	struct gtu_device *gtu = ctx->gtu;
	u64 arg[GTU_MBOX_ARGS] = { ctx->id, ctx->table_dma, gtu->regions_log2, 1 };
	int ret = -ENODEV;

	if (gtu->caps & GTU_CAP_CTX_GROUPS)
		arg[3] |= GTU_MBOX_CTX_GROUP(ctx->group + 1);
	mutex_lock(&ctx->usage_lock);
	ctx->usage_before = ctx->usage;
	mutex_unlock(&ctx->usage_lock);
	gtu_mbox_lock(gtu, ctx->user);
	WRITE_ONCE(ctx->epoch, gtu->epoch ?: GTU_EPOCH_NEVER);
	if (gtu->epoch)
		ret = gtu_mbox_locked(gtu, GTU_MBOX_CTX_ENABLE, arg);
	if (!ret && list_empty(&ctx->link)) {
		spin_lock_irq(&gtu->ctx_lock);
		list_add_tail(&ctx->link, &gtu->contexts);
		spin_unlock_irq(&gtu->ctx_lock);
	}
	gtu_mbox_unlock(gtu, ctx->user);
	return ret;
}

/**
 * gtu_ctx_disable() - remove a context with its queues from the device and drop running jobs
 * @ctx: the context
 * @error: result of the last command
 * @why: reason, for the log
 *
 * If the device refuses or does not respond, reset or quiesce it.
 *
 * Return: true if the device certainly has dropped the context
 */
bool gtu_ctx_disable(struct gtu_ctx *ctx, int error, const char *why)
{
	int ret = error == -ETIMEDOUT ? error :
		  GTU_MBOX(ctx, GTU_MBOX_CTX_DISABLE, ctx->id);

	return !ret || ret == -EALREADY || gtu_force_quiesce(ctx, why);
}

/**
 * gtu_ctx_create() - create the context of an open file
 * @gtu: the device
 * @mapping: address space of the file
 *
 * Return: the context, or an ERR_PTR()
 */
struct gtu_ctx *gtu_ctx_create(struct gtu_device *gtu, struct address_space *mapping)
{
	struct gtu_ctx *ctx = kzalloc(sizeof(*ctx), GFP_KERNEL_ACCOUNT);
	int ret = -ENOMEM;
	bool quiesced;

	if (!ctx)
		return ERR_PTR(-ENOMEM);
	kref_init(&ctx->ref);
	get_device(&gtu->dev);
	ctx->gtu = gtu;
	ctx->mapping = mapping;
	ihold(mapping->host);
	ctx->uid = current_euid();
	ctx->pid = task_tgid_nr(current);
	get_task_comm(ctx->comm, current);
	ctx->slots = 1u << gtu->regions_log2;
	mutex_init(&ctx->teardown_lock);
	mutex_init(&ctx->lock);
	mutex_init(&ctx->usage_lock);
	ctx->client = atomic64_inc_return(&gtu_clients);
	spin_lock_init(&ctx->region_lock);
	INIT_LIST_HEAD(&ctx->link);
	init_waitqueue_head(&ctx->event_wait);
	spin_lock_init(&ctx->event_lock);
	INIT_LIST_HEAD(&ctx->ready);
	xa_init(&ctx->queue);
	ctx->used = bitmap_zalloc(ctx->slots, GFP_KERNEL_ACCOUNT);
	ctx->generation = kvcalloc(ctx->slots, sizeof(*ctx->generation), GFP_KERNEL_ACCOUNT);
	ctx->region = kvcalloc(ctx->slots, sizeof(*ctx->region), GFP_KERNEL_ACCOUNT);
	if (!ctx->used || !ctx->generation || !ctx->region)
		goto err_free;
	ctx->table = dma_alloc_coherent(gtu->parent, gtu_table_bytes(ctx), &ctx->table_dma,
					GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (!ctx->table)
		goto err_free;
	ret = gtu_user_charge(gtu, ctx->uid, GTU_USER_CONTEXTS, 1,
			      READ_ONCE(user_contexts) ?: max(gtu->max_contexts / 4, 1u));
	if (ret)
		goto err_table;
	spin_lock(&gtu->user_lock);
	ctx->user = gtu_user_find(gtu, ctx->uid);
	spin_unlock(&gtu->user_lock);
	if (IS_ENABLED(CONFIG_LOCKDEP))
		gtu_import_lockdep(ctx);
	ret = gtu_ctx_id_alloc(ctx);
	if (ret)
		goto err_table;
	ret = gtu_ctx_enable(ctx);
	if (!ret)
		return ctx;
	if (ctx->epoch == GTU_EPOCH_NEVER) {
		/* the device does not know the context yet */
		gtu_ctx_id_free(ctx);
		goto err_table;
	}
	/* Whatever the device reported, it may have executed the command. */
	quiesced = gtu_ctx_disable(ctx, ret, "context setup failed");
	if (ret != -ETIMEDOUT && ret != -ENODEV)
		ret = gtu_ctx_dead(ctx) ? -ENODEV : -EIO;
	if (!quiesced)
		goto err_free;
	gtu_ctx_id_free(ctx);
err_table:
	dma_free_coherent(gtu->parent, gtu_table_bytes(ctx), ctx->table, ctx->table_dma);
err_free:
	gtu_ctx_put(ctx);
	return ERR_PTR(ret);
}

/**
 * gtu_ctx_teardown() - remove a context from the device and free its resources, once
 * @ctx: the context
 *
 * Called by the file's release and by device removal, in any order; both wait
 * for completion.
 */
void gtu_ctx_teardown(struct gtu_ctx *ctx)
{
	struct gtu_device *gtu = ctx->gtu;
	struct gtu_region *r, *next;
	LIST_HEAD(dropped);
	struct gtu_queue *q;
	unsigned long id;
	bool quiesced;

	mutex_lock(&ctx->teardown_lock);
	mutex_lock(&ctx->lock);
	if (ctx->torn_down)
		goto out;
	ctx->torn_down = true;
	quiesced = gtu_ctx_disable(ctx, 0, "context teardown failed");
	xa_for_each(&ctx->queue, id, q) {
		xa_erase(&ctx->queue, id);
		gtu_queue_kill(q, quiesced);
		gtu_queue_put(q);
	}
	gtu_aperture_unmap(ctx);
	gtu_region_drop_all(ctx, quiesced, &dropped);
	if (quiesced) {
		dma_free_coherent(gtu->parent, gtu_table_bytes(ctx), ctx->table, ctx->table_dma);
		gtu_ctx_id_free(ctx);
	}
out:
	mutex_unlock(&ctx->lock);
	/* an exporter that moves a dma-buf holds its lock and takes ctx->lock */
	list_for_each_entry_safe(r, next, &dropped, link) {
		gtu_region_free(ctx, r, quiesced);
		cond_resched();
	}
	mutex_unlock(&ctx->teardown_lock);
}

/**
 * gtu_ctx_unlink() - take a context off the device's list
 * @ctx: the context, after its teardown: until then its mappings are found there
 */
void gtu_ctx_unlink(struct gtu_ctx *ctx)
{
	spin_lock_irq(&ctx->gtu->ctx_lock);
	list_del_init(&ctx->link);
	spin_unlock_irq(&ctx->gtu->ctx_lock);
}

/**
 * gtu_ctx_close() - end a context whose file is released
 * @ctx: the context
 *
 * Its jobs may still be running.
 */
void gtu_ctx_close(struct gtu_ctx *ctx)
{
	gtu_ctx_teardown(ctx);
	gtu_ctx_unlink(ctx);	/* remove() finds contexts in teardown and waits for them */
	gtu_ctx_put(ctx);
}
