// SPDX-License-Identifier: MIT
/*
 * Queues: descriptors go to a submission ring and a doorbell, completions come from a completion
 * ring, without a system call. Memory order is the contract: a descriptor is complete before the
 * doorbell write, and a completion is read after its phase bit (acquire).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libruntime/support/advice.h"
#include "firmware-model/device/gtu_units.h"
#include "queue.h"

int gtu_queue_create(struct gtu_device *dev, const struct gtu_queue_options *opt,
		     struct gtu_queue **out, struct gtu_error *err)
{
	const uint32_t max = dev->info.max_ring_log2;
	struct gtu_queue *q;
	uint32_t sq, cq;
	int rc;

	*out = NULL;
	if (!dev->ops->queue_create)
		return gtu_fail_traversal_only(dev, "queues", err);
	sq = opt && opt->sq_log2 ? opt->sq_log2 : 8;
	cq = opt && opt->cq_log2 ? opt->cq_log2 : sq;
	if (sq > max || cq > max)
		return gtu_fail(err, GTU_ERR_USAGE, "rings of 2^%u and 2^%u entries are too large: "
				"the maximum of %s is 2^%u",
				sq, cq, dev->info.path, max);
	q = calloc(1, sizeof(*q));
	if (!q)
		return gtu_fail(err, GTU_ERR_NOMEM, "out of memory for a queue");
	q->dev = dev;
	q->rings.sq_log2 = sq;
	q->rings.cq_log2 = cq;
	rc = dev->ops->queue_create(dev, &q->rings, err);
	if (rc) {
		free(q);
		return rc;
	}
	*out = q;
	return 0;
}

void gtu_queue_destroy(struct gtu_queue *q)
{
	if (!q)
		return;
	q->dev->ops->queue_destroy(q->dev, &q->rings);
	gtu_region_remove(q->dev, &q->block, NULL);
	free(q);
}

struct gtu_device *gtu_queue_device(struct gtu_queue *q)
{
	return q->dev;
}

void gtu_ring_doorbell(struct gtu_queue *q, uint32_t reg, uint64_t value)
{
	volatile void *doorbell = q->rings.doorbell;

	if (!doorbell) {
		q->dev->ops->doorbell(q->dev, &q->rings, reg, value);
		return;
	}
	/* Writes to the rings must be visible before the doorbell write. */
	gtu_device_fence();
	if (reg == GTU_DB_SUBMIT)
		*(volatile uint64_t *)((volatile char *)doorbell + reg) = value;
	else
		*(volatile uint32_t *)((volatile char *)doorbell + reg) = (uint32_t)value;
}

void gtu_stream_notify(struct gtu_queue *q)
{
	gtu_ring_doorbell(q, GTU_DB_KICK, 1);
}

static void ring_submit(struct gtu_queue *q)
{
	q->published = q->consumed;
	gtu_ring_doorbell(q, GTU_DB_SUBMIT, (uint32_t)q->submitted | (uint64_t)(uint32_t)q->consumed << 32);
}

int gtu_queue_check(struct gtu_queue *q, struct gtu_error *err)
{
	uint32_t state;

	if (gtu_opened_by_parent(q->dev))
		return gtu_fail_opened_by_parent(q->dev, err);
	state = gtu_load_acquire(&q->rings.status->state);
	switch (state) {
	case GTU_QUEUE_ENABLED:
		return 0;
	case GTU_QUEUE_DISABLED:
		return gtu_fail(err, GTU_ERR_DEVICE_LOST, "the queue is disabled: its device was reset or "
				"removed; open the device again");
	case GTU_QUEUE_E_TAIL:
		return gtu_fail(err, GTU_ERR_FAIL, "the queue is in error: a doorbell's tail was "
				"out of range; "
				"reset the queue");
	case GTU_QUEUE_E_HEAD:
		return gtu_fail(err, GTU_ERR_FAIL, "the queue is in error: a doorbell's consumer index was beyond "
				"the last completion; reset the queue");
	case GTU_QUEUE_E_DMA:
		return gtu_fail(err, GTU_ERR_FAIL, "the queue is in error: the device could not "
				"access its rings; "
				"reset the queue");
	}
	if (state == ~0u)
		return gtu_advise_all_ones(q->dev->info.path, err);
	return gtu_fail(err, GTU_ERR_FAIL, "the queue's state reads 0x%x, which is undefined: the "
			"writes of %s cannot be "
			"trusted; reset the queue, or the device", state, q->dev->info.path);
}

static int fail_owned_by_stream(const struct gtu_queue *q, struct gtu_error *err)
{
	return gtu_fail(err, GTU_ERR_USAGE, "the queue belongs to a running %s", q->stream);
}

static int outstanding(const struct gtu_queue *q, struct gtu_error *err)
{
	return gtu_fail(err, GTU_ERR_USAGE, "%llu jobs of the queue are still outstanding",
			(unsigned long long)(q->submitted - q->consumed));
}

uint64_t gtu_deadline(const struct gtu_device *dev, uint64_t timeout_ns)
{
	uint64_t deadline;

	timeout_ns = timeout_ns == GTU_FOREVER ? dev->timeout_ns : gtu_scaled(dev, timeout_ns);
	if (timeout_ns == GTU_FOREVER || __builtin_add_overflow(gtu_now_ns(), timeout_ns, &deadline))
		return UINT64_MAX;
	return deadline;
}

static int fail_timeout(const struct gtu_queue *q, uint64_t job, uint64_t timeout_ns, struct gtu_error *err)
{
	timeout_ns = timeout_ns == GTU_FOREVER ? q->dev->timeout_ns : gtu_scaled(q->dev, timeout_ns);
	return gtu_fail(err, GTU_ERR_TIMEOUT, "%s has not completed job %llu within %g s", q->dev->info.path,
			(unsigned long long)job, (double)timeout_ns * 1e-9);
}

/*
 * Wait until the ring has space for @n descriptors. Jobs run in order, so a descriptor's slot is
 * free at the latest when its job completes; only completions can be waited for.
 */
static int wait_for_space(struct gtu_queue *q, unsigned n, struct gtu_error *err)
{
	const uint64_t size = 1ull << q->rings.sq_log2, max = 1ull << q->rings.cq_log2;
	const uint64_t need = q->submitted + n;	/* total; job need - size - 1 must complete first */
	uint64_t deadline, job;
	int rc;

	if (need <= size + q->consumed)
		return 0;
	job = need - size - 1;
	if (gtu_completed(&q->rings, (uint32_t)job) && job - q->consumed < max)
		return 0;
	if (job - q->consumed >= max)
		return gtu_fail(err, GTU_ERR_USAGE,
				"%llu jobs are outstanding: take completions before submitting more",
				(unsigned long long)(q->submitted - q->consumed));
	if (job - q->published >= max)
		ring_submit(q);		/* the device waits for a newer consumer index */
	deadline = gtu_deadline(q->dev, GTU_FOREVER);
	while (!gtu_completed(&q->rings, (uint32_t)job)) {
		rc = gtu_queue_check(q, err);
		if (!rc)
			rc = q->dev->ops->wait(q->dev, &q->rings, (uint32_t)job, NULL, deadline, err);
		if (rc == GTU_ERR_TIMEOUT)
			return fail_timeout(q, job, GTU_FOREVER, err);
		if (rc)
			return rc;
	}
	return 0;
}

int gtu_submit_batch(struct gtu_queue *q, const struct gtu_hw_desc *desc, unsigned n,
		     uint64_t *first_job, struct gtu_error *err)
{
	const uint32_t mask = (1u << q->rings.sq_log2) - 1;
	unsigned i;
	int rc;

	if (q->stream)
		return fail_owned_by_stream(q, err);
	if (n > mask + 1)
		return gtu_fail(err, GTU_ERR_USAGE, "%u jobs do not fit the ring: it has %u "
				"entries", n, mask + 1);
	rc = gtu_queue_check(q, err);
	if (rc)
		return rc;
	rc = wait_for_space(q, n, err);
	if (rc)
		return rc;
	if (first_job)
		*first_job = q->submitted;
	for (i = 0; i < n; i++) {
		struct gtu_hw_desc *slot = &q->rings.sq[(q->submitted + i) & mask];

		*slot = desc[i];
		slot->cookie = q->submitted + i;
	}
	q->submitted += n;
	ring_submit(q);
	return 0;
}

int gtu_submit(struct gtu_queue *q, const struct gtu_hw_desc *desc, uint64_t *job,
	       struct gtu_error *err)
{
	return gtu_submit_batch(q, desc, 1, job, err);
}

/* Check that the completion is valid and belongs to the next job. */
static int check_completion(const struct gtu_queue *q, const struct gtu_hw_cpl *c, struct gtu_error *err)
{
	const unsigned long long job = q->consumed;

	if (c->sq_index != (uint32_t)q->consumed || c->cookie != q->consumed)
		return gtu_fail(err, GTU_ERR_FAIL,
				"%s completed job %llu (ring entry %u) instead of job %llu: its "
				"completions "
				"cannot be trusted; reset the queue, or the device", q->dev->info.path,
				(unsigned long long)c->cookie, c->sq_index, job);
	if (c->status == GTU_CPL_CANCELED && q->consumed >= __atomic_load_n(&q->canceled, __ATOMIC_RELAXED))
		return gtu_fail(err, GTU_ERR_FAIL,
				"%s completed job %llu as canceled, but the caller did not cancel it: its "
				"completions cannot be trusted; reset the queue, or the device", q->dev->info.path, job);
	if (c->status >= GTU_CPL_COUNT)
		return gtu_fail(err, GTU_ERR_FAIL,
				"%s completed job %llu with status %u, which is undefined: its "
				"completions cannot be "
				"trusted; reset the queue, or the device", q->dev->info.path, job, c->status);
	return 0;
}

int gtu_next(struct gtu_queue *q, uint64_t timeout_ns, struct gtu_completion *out,
	     struct gtu_error *err)
{
	const uint32_t size = 1u << q->rings.cq_log2;
	const uint32_t index = (uint32_t)q->consumed;
	uint64_t deadline = 0;
	struct gtu_hw_cpl cpl;
	int rc;

	if (q->stream)
		return fail_owned_by_stream(q, err);
	if (q->consumed == q->submitted)
		return gtu_fail(err, GTU_ERR_USAGE, "no job is outstanding");
	if (gtu_opened_by_parent(q->dev))
		return gtu_fail_opened_by_parent(q->dev, err);
	while (!gtu_completed(&q->rings, index)) {
		if (!deadline)
			deadline = gtu_deadline(q->dev, timeout_ns);
		rc = gtu_queue_check(q, err);
		if (!rc)
			rc = q->dev->ops->wait(q->dev, &q->rings, index, NULL, deadline, err);
		if (rc == GTU_ERR_TIMEOUT && gtu_completed(&q->rings, index))
			break;
		if (rc == GTU_ERR_TIMEOUT)
			return fail_timeout(q, q->consumed, timeout_ns, err);
		if (rc)
			return rc;
	}
	cpl = q->rings.cq[index & (size - 1)];
	rc = check_completion(q, &cpl, err);
	if (rc)
		return rc;
	*out = (struct gtu_completion){
		.job = cpl.cookie,
		.count = cpl.count,
		.needed = cpl.needed,
		.cycles = cpl.cycles,
		.dropped = cpl.dropped,
		.element = cpl.element,
		.status = cpl.status,
		.operand = cpl.operand,
	};
	q->consumed++;
	/*
	 * The device may be waiting for this slot: publish the consumer index now. Otherwise the
	 * next doorbell does.
	 */
	if (q->submitted - q->published > size)
		ring_submit(q);
	return 0;
}

int gtu_cancel(struct gtu_queue *q, uint64_t job, struct gtu_error *err)
{
	int rc;

	if (job == GTU_ALL_JOBS)
		job = q->submitted - 1;		/* no jobs: job + 1 is 0, and nothing is canceled */
	else if (job >= q->submitted)
		return gtu_fail(err, GTU_ERR_USAGE, "job %llu cannot be canceled: %llu were submitted",
				(unsigned long long)job, (unsigned long long)q->submitted);
	if (job + 1 <= q->consumed)
		return 0;
	if (!(q->dev->info.caps & GTU_CAP_CANCEL))
		return gtu_fail(err, GTU_ERR_UNSUPPORTED, "%s cannot cancel jobs; resetting the queue drops all of them",
				q->dev->info.path);
	rc = gtu_queue_check(q, err);
	if (!rc && job >= __atomic_load_n(&q->canceled, __ATOMIC_RELAXED))
		__atomic_store_n(&q->canceled, job + 1, __ATOMIC_RELAXED);
	return rc ? rc : q->dev->ops->cancel(q->dev, &q->rings, (uint32_t)(job + 1), err);
}

int gtu_queue_reset(struct gtu_queue *q, struct gtu_error *err)
{
	int rc;

	if (q->stream)
		return fail_owned_by_stream(q, err);
	rc = q->dev->ops->queue_reset(q->dev, &q->rings, err);
	if (!rc)
		q->submitted = q->consumed = q->published = q->canceled = 0;
	return rc;
}

/* ---- One job at a time --------------------------------------------------------------------------- */

int gtu_do(struct gtu_queue *q, const struct gtu_hw_desc *desc, uint64_t timeout_ns,
	   struct gtu_completion *out, struct gtu_error *err)
{
	struct gtu_completion local;
	int rc;

	out = out ? out : &local;
	if (q->submitted != q->consumed)
		return outstanding(q, err);
	rc = gtu_submit(q, desc, NULL, err);
	if (!rc)
		rc = gtu_next(q, timeout_ns, out, err);
	if (!rc && out->status)
		rc = gtu_completion_error(desc, out, err);
	return rc;
}

int gtu_do_operands(struct gtu_queue *q, const struct gtu_hw_desc *desc,
		    const struct gtu_hw_operand *operand, unsigned n, uint64_t timeout_ns,
		    struct gtu_completion *out, struct gtu_error *err)
{
	struct gtu_hw_desc d = *desc;
	unsigned used = 0, i;
	int rc;

	if (n > GTU_BLOCK_OPERANDS)
		return gtu_fail(err, GTU_ERR_USAGE, "%u operands are too many: a job takes %u", n, GTU_BLOCK_OPERANDS);
	for (i = 0; i < n; i++)
		if (operand[i].key)
			used = i + 1;
	if (used <= GTU_DESC_OPERANDS) {
		memset(d.operand, 0, sizeof(d.operand));
		memcpy(d.operand, operand, used * sizeof(*operand));
		return gtu_do(q, &d, timeout_ns, out, err);
	}
	if (q->submitted != q->consumed)
		return outstanding(q, err);	/* an outstanding job may still read the block */
	if (!q->block.key) {
		rc = gtu_region_alloc(q->dev, 4096, &q->block, err);
		if (rc)
			return rc;
	}
	memcpy(q->block.addr, operand, used * sizeof(*operand));
	memset(d.operand, 0, sizeof(d.operand));
	d.flags |= GTU_DESC_BLOCK;
	d.operand[0] = (struct gtu_hw_operand){ .key = q->block.key, .count = used };
	return gtu_do(q, &d, timeout_ns, out, err);
}

/* ---- Error messages ------------------------------------------------------------------------------ */

int gtu_completion_error(const struct gtu_hw_desc *desc, const struct gtu_completion *c,
			 struct gtu_error *err)
{
	const struct gtu_slot *slot = NULL;
	const struct gtu_operation *operation = gtu_operation(desc->opcode, &slot);
	const char *op = operation ? operation->title : "operation";
	const unsigned long long element = c->element, needed = c->needed;
	char what[64];
	unsigned i;

	for (i = 0; slot && slot->name && i < c->operand; i++)
		slot++;
	if (slot && slot->name)
		snprintf(what, sizeof(what), "the %s", slot->name);
	else if (c->operand != 0xff)
		snprintf(what, sizeof(what), "operand %u", c->operand);
	else
		snprintf(what, sizeof(what), "the descriptor");
	switch (c->status) {
	case GTU_CPL_OK:
		return 0;
	case GTU_CPL_OPCODE:
		return gtu_fail(err, GTU_ERR_USAGE, "the device has no operation 0x%02x", desc->opcode);
	case GTU_CPL_RESERVED:
		return gtu_fail(err, GTU_ERR_USAGE, "%s: a reserved bit or field of %s is not zero", op, what);
	case GTU_CPL_PARAM:
		return gtu_fail(err, GTU_ERR_USAGE, "%s: parameter 0x%08x is invalid", op, desc->param);
	case GTU_CPL_OPERAND:
		return gtu_fail(err, GTU_ERR_USAGE, "%s: %s is missing, unexpected, misaligned or "
				"has a wrong count",
				op, what);
	case GTU_CPL_KEY:
		return gtu_fail(err, GTU_ERR_USAGE, "%s: %s names a region that does not exist or was removed",
				op, what);
	case GTU_CPL_RIGHTS:
		return gtu_fail(err, GTU_ERR_PERMISSION, "%s: the access rights of the region of "
				"%s do not allow this use", op, what);
	case GTU_CPL_BOUNDS:
		return gtu_fail(err, GTU_ERR_USAGE, "%s: %s ends beyond its region", op, what);
	case GTU_CPL_INDEX:
		return gtu_fail(err, GTU_ERR_INPUT, "%s: element %llu of %s has the value %llu, "
				"which is "
				"out of bounds", op, element, what, needed);
	case GTU_CPL_OVERFLOW:
		return gtu_fail(err, GTU_ERR_SPACE, "%s: the output does not fit; %llu elements are needed", op,
				needed);
	case GTU_CPL_DMA:
		return gtu_fail(err, GTU_ERR_FAIL, "%s: the device could not access the memory of "
				"%s", op, what);
	case GTU_CPL_ABSENT:
		return gtu_fail(err, GTU_ERR_UNSUPPORTED, "this device does not have operation 0x%02x",
				desc->opcode);
	case GTU_CPL_LIMIT:
		return gtu_fail(err, GTU_ERR_TIMEOUT, "%s: stopped after %llu cycles, the job's limit", op,
				(unsigned long long)c->cycles);
	case GTU_CPL_WIDTH:
		return gtu_fail(err, GTU_ERR_UNSUPPORTED, "%s: element %llu of %s is %llu, too "
				"wide for this "
				"device", op, element, what, needed);
	case GTU_CPL_STALLED:
		return gtu_fail(err, GTU_ERR_TIMEOUT, "%s: its consumer blocked the unit too long "
				"while other jobs waited",
				op);
	case GTU_CPL_CANCELED:
		return gtu_fail(err, GTU_ERR_INTERRUPTED, "%s: canceled%s", op,
				c->cycles ? " while it was running" : " before it started");
	}
	return gtu_fail(err, GTU_ERR_FAIL, "%s: the device returned the unknown status %u", op, c->status);
}
