// SPDX-License-Identifier: GPL-2.0-only
/*
 * Job submission by ioctl. User space cannot write to the ring, so the device
 * reads what was checked. A batch costs one copy, one lock and one doorbell.
 */
#include <linux/highmem.h>
#include <linux/nospec.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "gtu_drv.h"
#include "gtu_trace.h"

#define GTU_BATCH		((unsigned int)(SZ_4K / sizeof(struct gtu_hw_desc)))
#define GTU_BLOCK_BYTES		(GTU_BLOCK_OPERANDS * sizeof(struct gtu_hw_operand))

/*
 * A device without access checks releases a region when the jobs that name it
 * end. Stop them after this time.
 */
#define GTU_SETTLE_NS		(2 * NSEC_PER_SEC)

/**
 * gtu_region_read() - copy from the memory of a region, as the CPU sees it
 * @r: the region
 * @offset: offset of the first byte in the region
 * @to: where to write
 * @bytes: number of bytes
 *
 * Not from the aperture, which can be slow, nor from imported memory, which
 * may not be mapped for the CPU.
 *
 * Return: 0 or a negative errno
 */
int gtu_region_read(struct gtu_region *r, u64 offset, void *to, size_t bytes)
{
	u64 at = r->in_page + offset;
	struct scatterlist *sg;
	struct page *page;
	unsigned int i;

	if (!r->mm && !r->buffer)
		return -EOPNOTSUPP;
	/* a block can cross a page boundary */
	while (bytes) {
		size_t in_page = offset_in_page(at), n = min_t(size_t, bytes, PAGE_SIZE - in_page);
		u64 before = 0;

		page = NULL;
		if (r->buffer) {
			unsigned long n_page = at >> PAGE_SHIFT;

			page = r->buffer->page[array_index_nospec(n_page, r->buffer->pages)];
		} else {
			for_each_sgtable_sg(&r->own, sg, i) {
				unsigned long in_run = at - before;

				/* there can be millions of runs */
				if (!(i % 65536))
					cond_resched();
				if (at < before + sg->length) {
					in_run = array_index_nospec(in_run, sg->length);
					page = pfn_to_page(page_to_pfn(sg_page(sg)) +
							   (in_run >> PAGE_SHIFT));
					break;
				}
				before += sg->length;
			}
		}
		if (WARN_ON_ONCE(!page))
			return -EOPNOTSUPP;
		memcpy_from_page(to, page, in_page, n);
		to += n;
		at += n;
		bytes -= n;
	}
	return 0;
}

/*
 * Allocate the queue's internal region for parameter blocks, one slot per ring
 * entry.
 */
static int gtu_blocks_alloc(struct gtu_queue *q)
{
	struct gtu_ctx *ctx = q->ctx;
	struct gtu_region *r;
	u32 key;
	int ret;

	if (READ_ONCE(q->blocks))
		return 0;
	r = gtu_region_alloc(ctx, GTU_BLOCK_BYTES << q->sq_log2, GTU_RIGHT_READ);
	if (IS_ERR(r))
		return PTR_ERR(r);
	r->internal = true;
	/* users cannot name the key: only the end of the queue removes it */
	ret = gtu_region_publish(ctx, r, &key);
	if (ret) {
		gtu_region_free(ctx, r, true);
		return ret;
	}
	mutex_lock(&ctx->lock);
	if (!q->dead && !q->blocks) {
		q->blocks_key = key;
		WRITE_ONCE(q->blocks, r);
		r = NULL;
	}
	mutex_unlock(&ctx->lock);
	if (r)
		gtu_region_remove(ctx, key, true);
	return 0;
}

/**
 * gtu_submit_end() - free the parameter blocks of a queue
 * @q: the queue
 *
 * The queue is dead and not in its context any more; ctx->lock is not held.
 * Teardown of the context may have removed the region already.
 */
void gtu_submit_end(struct gtu_queue *q)
{
	if (q->blocks)
		gtu_region_remove(q->ctx, q->blocks_key, true);
}

/**
 * gtu_submit_reset() - forget submitted jobs
 * @q: the queue
 *
 * The rings restart at index 0, or the queue is dead.
 */
void gtu_submit_reset(struct gtu_queue *q)
{
	lockdep_assert_held(&q->ctx->lock);
	q->sq_tail = 0;
	q->cq_head = 0;
	q->submitted = 0;
	if (q->last_use)
		memset(q->last_use, 0, q->ctx->slots * sizeof(*q->last_use));
}

/**
 * gtu_submit_init() - allocate what a queue of GTU_QUEUE_SUBMIT needs besides its rings
 * @q: the queue
 *
 * Return: 0 or a negative errno
 */
int gtu_submit_init(struct gtu_queue *q)
{
	q->submit = true;
	if (q->ctx->gtu->caps & GTU_CAP_REGIONS)
		return 0;
	q->last_use = kvcalloc(q->ctx->slots, sizeof(*q->last_use), GFP_KERNEL_ACCOUNT);
	return q->last_use ? 0 : -ENOMEM;
}

/* Put one checked descriptor into the ring. */
static void gtu_submit_put(struct gtu_queue *q, struct gtu_hw_desc *d, struct gtu_check *c)
{
	u32 slot = q->sq_tail & (BIT(q->sq_log2) - 1);
	unsigned int i;

	if (c->block) {
		u64 at = slot * GTU_BLOCK_BYTES;
		struct page *page = q->blocks->buffer->page[at >> PAGE_SHIFT];

		memcpy(page_address(page) + offset_in_page(at), c->given,
		       c->block * sizeof(c->given[0]));
		d->operand[0].key = cpu_to_le32(q->blocks_key);
		d->operand[0].offset = cpu_to_le64(at);
	}
	memcpy(q->sq.cpu + slot * sizeof(*d), d, sizeof(*d));
	q->sq_tail++;
	q->submitted++;
	for (i = 0; q->last_use && i < GTU_BLOCK_OPERANDS; i++)
		if (c->region[i])
			q->last_use[GTU_KEY_SLOT(c->region[i]->key)] = q->submitted;
}

/*
 * Read the number of completions. Returns 0, or why the queue cannot take jobs.
 */
static int gtu_submit_check(struct gtu_queue *q, u32 *cq_tail)
{
	if (gtu_ctx_dead(q->ctx))
		return -ENODEV;
	if (q->dead)
		return -ECANCELED;
	if (le32_to_cpu(READ_ONCE(q->status->state)) != GTU_QUEUE_ENABLED)
		return -EIO;
	*cq_tail = le32_to_cpu(READ_ONCE(q->status->cq_tail));
	/*
	 * A ring entry is free once its job has ended, because the device reads
	 * the parameter block after the descriptor.
	 */
	return 0;
}

/*
 * Whether the caller can have consumed the completions before @cq_head: the last one
 * is visible before the status counts it (hardware.md, section 6).
 */
static bool gtu_cq_head_valid(struct gtu_queue *q, u32 cq_head, u32 cq_tail)
{
	const struct gtu_hw_cpl *cpl = q->cq.cpu;
	u32 size = BIT(q->cq_log2), last = cq_head - 1;

	if (cq_head - q->cq_head > min(q->sq_tail - q->cq_head, size))
		return false;
	return (s32)(cq_head - cq_tail) <= 0 ||
	       le16_to_cpu(READ_ONCE(cpl[last & (size - 1)].phase)) == !(last & size);
}

/*
 * Put up to @n descriptors into the ring and write the doorbell. Returns the
 * number taken. *@why: the error of the next descriptor, or 0.
 */
static unsigned int gtu_submit_batch(struct gtu_queue *q, struct gtu_hw_desc *d, unsigned int n,
				     struct gtu_ioctl_submit *a, int *why)
{
	struct gtu_ctx *ctx = q->ctx;
	struct gtu_check c;
	unsigned int i = 0;
	u32 cq_tail;
	int ret;

	if (mutex_lock_killable(&ctx->lock)) {
		*why = -EINTR;
		return 0;
	}
	ret = gtu_submit_check(q, &cq_tail);
	if (!ret && !gtu_cq_head_valid(q, a->cq_head, cq_tail))
		ret = -EINVAL;
	if (ret)
		goto out;
	if (!a->done)
		a->sq_index = q->sq_tail;
	for (; i < n; i++) {
		if (q->sq_tail - cq_tail >= BIT(q->sq_log2)) {
			ret = -EAGAIN;
			break;
		}
		ret = gtu_check_desc(&c, ctx, &d[i]);
		if (ret > 0) {
			a->status = ret;
			ret = -EINVAL;
		}
		if (ret)
			break;
		gtu_submit_put(q, &d[i], &c);
	}
	if (i) {
		trace_gtu_submit(q, q->sq_tail - i, i);
		gtu_watchdog_start(ctx->gtu);
	}
	/*
	 * also without a new job: the device may wait for completion ring space
	 */
	if (i || a->cq_head != q->cq_head) {
		q->cq_head = a->cq_head;
		gtu_queue_submit(q, q->sq_tail, q->cq_head);
	}
out:
	mutex_unlock(&ctx->lock);
	*why = ret;
	return i;
}

static bool gtu_has_block(const struct gtu_hw_desc *d, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		if (le16_to_cpu(d[i].flags) & GTU_DESC_BLOCK)
			return true;
	return false;
}

/*
 * Copy the next descriptors from user space, outside of gtu_enter(): *@inside
 * is left and entered again.
 */
static int gtu_submit_copy(struct gtu_ctx *ctx, struct gtu_hw_desc *batch, unsigned int n, u64 from,
			   int *inside)
{
	bool fault;

	gtu_leave(ctx, *inside);
	fault = copy_from_user(batch, u64_to_user_ptr(from), n * sizeof(*batch));
	*inside = gtu_enter(ctx);
	return *inside < 0 ? *inside : fault ? -EFAULT : 0;
}

/**
 * gtu_submit() - submit descriptors until one cannot be taken
 * @q: the queue
 * @a: the arguments; its out fields are set
 * @inside: in and out: return value of gtu_enter(); negative on return if the
 *	device died
 *
 * Return: 0 if any was taken, or a negative errno
 */
int gtu_submit(struct gtu_queue *q, struct gtu_ioctl_submit *a, int *inside)
{
	struct gtu_hw_desc *batch;
	unsigned int n, taken;
	int ret = 0;

	a->done = 0;
	a->sq_index = 0;
	a->status = 0;
	batch = kmalloc_array(clamp(a->count, 1u, GTU_BATCH), sizeof(*batch), GFP_KERNEL);
	if (!batch)
		return -ENOMEM;
	do {
		n = min(a->count - a->done, GTU_BATCH);
		ret = gtu_submit_copy(q->ctx, batch, n, a->descs + a->done * sizeof(*batch),
				      inside);
		if (ret)
			break;
		if (gtu_has_block(batch, n)) {
			ret = gtu_blocks_alloc(q);
			if (ret)
				break;
		}
		taken = gtu_submit_batch(q, batch, n, a, &ret);
		a->done += taken;
		if (fatal_signal_pending(current))
			ret = ret ?: -EINTR;
		cond_resched();
	} while (!ret && a->done < a->count);
	kfree(batch);
	if (a->done && a->flags & GTU_SUBMIT_ARM)
		gtu_queue_request(q, a->sq_index + a->done - 1, false);
	if (a->done) {
		a->status = 0;
		ret = 0;
	}
	return ret;
}

/**
 * gtu_submit_notify() - tell the device to check the stream rings again
 * @q: the queue
 *
 * Users without a doorbell page cannot signal that they freed stream ring
 * entries: every wait does it for them.
 */
void gtu_submit_notify(struct gtu_queue *q)
{
	unsigned long flags;

	spin_lock_irqsave(&q->wait_lock, flags);
	gtu_queue_doorbell(q, GTU_DB_KICK, 0);
	spin_unlock_irqrestore(&q->wait_lock, flags);
}

/*
 * Find a queue with an unfinished job that names @slot. *@index: the last such
 * job.
 */
static struct gtu_queue *gtu_submit_find_user(struct gtu_ctx *ctx, u32 slot, u32 *index)
{
	struct gtu_queue *q;
	unsigned long id;

	lockdep_assert_held(&ctx->lock);
	xa_for_each(&ctx->queue, id, q) {
		u32 pending;

		if (!q->last_use || !q->last_use[slot])
			continue;
		pending = q->sq_tail - le32_to_cpu(READ_ONCE(q->status->cq_tail));
		if (q->last_use[slot] > q->submitted - pending) {
			*index = q->sq_tail - 1 - (u32)(q->submitted - q->last_use[slot]);
			return q;
		}
	}
	return NULL;
}

/**
 * gtu_submit_settle() - wait until no job names a region, or stop the jobs
 * @ctx: the context
 * @r: the region
 *
 * Called before the entry is cleared on a device that does not check accesses.
 * Drops ctx->lock while waiting; new jobs that name @r are refused meanwhile.
 *
 * Return: 0, -EINTR (nothing has changed), or -EIO (jobs may still be running)
 */
int gtu_submit_settle(struct gtu_ctx *ctx, struct gtu_region *r)
{
	u64 deadline = ktime_get_ns() + gtu_scaled(GTU_SETTLE_NS);
	u32 slot = GTU_KEY_SLOT(r->key), index, tail, state;
	struct gtu_queue *q;
	int ret;

	lockdep_assert_held(&ctx->lock);
	if (ctx->gtu->caps & GTU_CAP_REGIONS)
		return 0;
	r->removing = true;
	while ((q = gtu_submit_find_user(ctx, slot, &index))) {
		kref_get(&q->ref);
		mutex_unlock(&ctx->lock);
		ret = gtu_queue_wait(q, index, NULL, deadline, &tail, &state);
		gtu_queue_put(q);
		mutex_lock(&ctx->lock);
		if (ctx->torn_down)
			return -ENODEV;
		if (ret == -EINTR) {
			r->removing = false;
			return ret;
		}
		/* another thread has ended that queue's jobs */
		if (ret == -ECANCELED)
			continue;
		if (ret && gtu_submit_find_user(ctx, slot, &index)) {
			dev_err_ratelimited(ctx->gtu->parent,
				"jobs still name a removed region, their queues are stopped: context %u\n",
				ctx->id);
			/* the caller quiesces the device if that fails */
			return gtu_queues_stop(ctx) ? -EIO : 0;
		}
	}
	return 0;
}
