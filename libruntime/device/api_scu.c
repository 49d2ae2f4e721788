// SPDX-License-Identifier: MIT
/* The five operations of the SCU as functions; splits long arrays into jobs. */
#include <string.h>

#include "queue.h"

/*
 * Maximum elements of an operand (one more means "to the end"), and elements per job of a split
 * array. Tests define smaller values.
 */
#ifndef JOB_MAX
#define JOB_MAX	0xfffffffeu
#define JOB_CHUNK	(1ull << 31)
#endif

static int log2_of(uint32_t width)
{
	switch (width) {
	case 1: return 0;
	case 2: return 1;
	case 4: return 2;
	case 8: return 3;
	}
	return -1;
}

static bool given(const struct gtu_array *a)
{
	return a && a->key;
}

/* A job that can be split: inputs advance by elements (or bits), whole operands do not. */
struct scu_job {
	struct gtu_hw_desc desc;
	const struct gtu_array *input[GTU_SCU_OPERANDS];	/* by slot, n elements each */
	const struct gtu_array *whole[GTU_SCU_OPERANDS];	/* by slot, passed unchanged */
	const struct gtu_array *to;
	uint64_t n;
};

static struct gtu_hw_operand part(const struct gtu_array *a, uint64_t first, uint64_t count)
{
	return (struct gtu_hw_operand){
		.key = a->key,
		.count = count > JOB_MAX ? GTU_COUNT_TO_END : (uint32_t)count,
		.offset = a->offset + (a->width ? first * a->width : first / 8),
	};
}

static void operands(const struct scu_job *job, uint64_t first, uint64_t count, uint64_t put,
		     uint64_t capacity, struct gtu_hw_operand op[GTU_SCU_OPERANDS])
{
	unsigned i;

	memset(op, 0, GTU_SCU_OPERANDS * sizeof(*op));
	for (i = 0; i < GTU_SCU_OPERANDS; i++) {
		if (given(job->input[i]))
			op[i] = part(job->input[i], first, count);
		else if (given(job->whole[i]))
			op[i] = part(job->whole[i], 0, job->whole[i]->count);
	}
	if (given(job->to))
		op[GTU_SCU_OUT] = part(job->to, put, capacity);
}

static int run(struct gtu_queue *q, const struct scu_job *job, struct gtu_completion *out,
	       struct gtu_error *err)
{
	struct gtu_hw_operand op[GTU_SCU_OPERANDS];
	struct gtu_completion total = { .operand = 0xff }, c;
	uint64_t first = 0, chunk, count, left, capacity;
	const bool plain = !(job->desc.param >> GTU_SCU_STEP_SHIFT & 3);
	int rc, space = 0;

	if (!plain && (job->n > JOB_MAX || (given(job->to) && job->to->count > JOB_MAX)))
		return gtu_fail(err, GTU_ERR_UNSUPPORTED, "filtering and grouping take at most %u elements at once",
				JOB_MAX);
	chunk = job->n > JOB_MAX ? JOB_CHUNK : job->n;
	do {
		count = job->n - first < chunk ? job->n - first : chunk;
		left = given(job->to) && job->to->count > total.count ? job->to->count - total.count : 0;
		capacity = left > JOB_MAX ? JOB_MAX : left;
		operands(job, first, count, space ? 0 : total.count, space ? 0 : capacity, op);
		rc = gtu_do_operands(q, &job->desc, op, GTU_SCU_OPERANDS, GTU_FOREVER, &c, err);
		if (!rc && given(job->to) && !space && c.count > capacity)
			return gtu_fail(err, GTU_ERR_FAIL, "%s reports %llu elements written where "
					"%llu fit: its "
					"completions cannot be trusted", gtu_get_info(gtu_queue_device(q))->path,
					(unsigned long long)c.count, (unsigned long long)capacity);
		if (rc == GTU_ERR_SPACE && left > capacity && count > 8) {
			chunk = (count / 2 + 7) & ~7ull;	/* the output fits, but not from one job */
			continue;
		}
		if (rc == GTU_ERR_SPACE) {
			/* Continue counting, so that `needed` covers the whole input. */
			if (!space)
				total.needed = total.count;
			space = rc;
			total.status = c.status;
			total.operand = c.operand;
			total.needed += c.needed;
		} else if (rc) {
			c.element += first;
			if (out)
				*out = c;
			return rc;
		} else if (space) {
			total.needed += c.count;
		}
		total.job = c.job;
		total.count += c.count;
		total.cycles += c.cycles;
		total.dropped += c.dropped;
		first += count;
	} while (first < job->n);
	if (out)
		*out = total;
	if (space)
		return gtu_fail(err, space, "the output does not fit: %llu elements are needed, "
				"the array holds "
				"%llu", (unsigned long long)total.needed,
				(unsigned long long)(given(job->to) ? job->to->count : 0));
	return 0;
}

static int width_error(struct gtu_error *err, const char *what, uint32_t width, const char *allowed)
{
	return gtu_fail(err, GTU_ERR_USAGE, "%s of %u bytes are not supported: use %s", what, width, allowed);
}

static int same_count(struct gtu_error *err, const char *what, const struct gtu_array *a, uint64_t n)
{
	if (!given(a) || a->count == n)
		return 0;
	return gtu_fail(err, GTU_ERR_USAGE, "%s has %llu elements, but the input has %llu", what,
			(unsigned long long)a->count, (unsigned long long)n);
}

/* Apply filter @f to the job's descriptor and operands. */
static int filtered(struct scu_job *job, const struct gtu_scu_filter *f, struct gtu_error *err)
{
	int cost;

	if (!f || (f->step == GTU_STEP_PLAIN && !f->flags))
		return 0;
	if (f->step > GTU_STEP_FUSED ||
	    f->flags & ~(GTU_SCU_UNIQUE | GTU_SCU_BEST | GTU_SCU_GROUP | GTU_SCU_KEEP))
		return gtu_fail(err, GTU_ERR_USAGE, "filter step %u or flags 0x%x are invalid", f->step,
				f->flags);
	job->desc.param |= f->step << GTU_SCU_STEP_SHIFT | f->flags;
	if (f->flags & GTU_SCU_BEST) {
		cost = log2_of(f->cost_width);
		if (cost < 2 || f->cost_type > GTU_TYPE_FLOAT)
			return width_error(err, "costs", f->cost_width, "4 or 8, unsigned, signed or float");
		job->desc.param |= f->cost_type << GTU_SCU_TYPE_SHIFT |
				   (uint32_t)cost << GTU_SCU_COST_SHIFT;
	}
	if (f->flags & GTU_SCU_GROUP) {
		if (f->target_log2 > 7)
			return gtu_fail(err, GTU_ERR_USAGE, "target elements of 2^%u bytes are too "
					"large: the maximum is 2^7",
					f->target_log2);
		job->desc.param |= f->target_log2 << GTU_SCU_TARGET_SHIFT;
		job->desc.imm = f->target_base;
	}
	job->whole[GTU_SCU_FILTER] = &f->filter;
	job->whole[GTU_SCU_REORDER] = &f->reorder;
	job->whole[GTU_SCU_FILTER_TABLE] = &f->filter_table;
	job->whole[GTU_SCU_GROUP_TABLE] = &f->group_table;
	job->whole[GTU_SCU_COST_GATHERED] = &f->cost_gathered;
	job->input[GTU_SCU_COST_INPUT] = &f->cost_input;
	return same_count(err, "the input's cost array", &f->cost_input, job->n);
}

int gtu_scu_bitmask(struct gtu_queue *q, const struct gtu_array *in, uint32_t cmp, uint32_t type,
		    uint64_t reference, const struct gtu_array *to, struct gtu_completion *out,
		    struct gtu_error *err)
{
	struct scu_job job = { .n = in->count, .to = to };
	const int width = log2_of(in->width);

	if (width < 0)
		return width_error(err, "elements", in->width, "1, 2, 4 or 8");
	if (cmp > GTU_CMP_GE || type > GTU_TYPE_FLOAT || (type == GTU_TYPE_FLOAT && width < 2))
		return gtu_fail(err, GTU_ERR_USAGE, "comparison %u of type %u is invalid for "
				"%u-byte elements",
				cmp, type, in->width);
	if (to->width)
		return gtu_fail(err, GTU_ERR_USAGE, "a bitmask of %u-byte elements is invalid: its "
				"elements are single bits (width 0)",
				to->width);
	job.desc.opcode = GTU_OP_SCU_BITMASK;
	job.desc.param = (uint32_t)width << GTU_SCU_WIDTH_SHIFT | type << GTU_SCU_TYPE_SHIFT |
			 cmp << GTU_SCU_CMP_SHIFT;
	job.desc.imm = reference;
	job.input[GTU_SCU_DATA] = in;
	return run(q, &job, out, err);
}

/* The four compactions; they differ only in their operands. */
static int compact(struct gtu_queue *q, unsigned opcode, const struct gtu_array *data,
		   const struct gtu_array *index, const struct gtu_array *count,
		   const struct gtu_array *mask, const struct gtu_scu_filter *f,
		   const struct gtu_array *to, struct gtu_completion *out, struct gtu_error *err)
{
	const struct gtu_array *input = index ? index : data;
	const struct gtu_array *element = given(data) ? data : index;
	struct scu_job job = { .n = input->count };
	const int width = log2_of(element->width);
	int rc;

	if (width < 0)
		return width_error(err, "elements", element->width, "1, 2, 4 or 8");
	if (given(to) && to->width != element->width)
		return gtu_fail(err, GTU_ERR_USAGE, "the output's elements have %u bytes, but the "
				"input's have %u",
				to->width, element->width);
	if (given(mask) && mask->width)
		return gtu_fail(err, GTU_ERR_USAGE, "a mask of %u-byte elements is invalid: its "
				"elements are single bits (width 0)",
				mask->width);
	job.desc.opcode = (uint8_t)opcode;
	job.desc.param = (uint32_t)width << GTU_SCU_WIDTH_SHIFT;
	if (index) {
		if (log2_of(index->width) < 2)
			return width_error(err, "indices", index->width, "4 or 8");
		job.desc.param |= (uint32_t)log2_of(index->width) << GTU_SCU_INDEX_SHIFT;
		job.input[GTU_SCU_INDEX] = index;
		job.whole[GTU_SCU_DATA] = data;
	} else {
		job.input[GTU_SCU_DATA] = data;
	}
	if (count) {
		if (log2_of(count->width) < 2)
			return width_error(err, "counts", count->width, "4 or 8");
		job.desc.param |= (uint32_t)log2_of(count->width) << GTU_SCU_COUNT_SHIFT;
		job.input[GTU_SCU_COUNT] = count;
	}
	job.input[GTU_SCU_MASK] = mask;
	job.to = to;
	rc = same_count(err, "the count vector", count, job.n);
	if (!rc)
		rc = same_count(err, "the mask", mask, job.n);
	if (!rc)
		rc = filtered(&job, f, err);
	if (!rc && f && f->step == GTU_STEP_PRODUCE)
		job.to = NULL;
	return rc ? rc : run(q, &job, out, err);
}

int gtu_scu_data(struct gtu_queue *q, const struct gtu_array *in, const struct gtu_array *mask,
		 const struct gtu_scu_filter *f, const struct gtu_array *to,
		 struct gtu_completion *out, struct gtu_error *err)
{
	return compact(q, GTU_OP_SCU_DATA, in, NULL, NULL, mask, f, to, out, err);
}

int gtu_scu_access(struct gtu_queue *q, const struct gtu_array *data,
		   const struct gtu_array *index, const struct gtu_array *mask,
		   const struct gtu_scu_filter *f, const struct gtu_array *to,
		   struct gtu_completion *out, struct gtu_error *err)
{
	return compact(q, GTU_OP_SCU_ACCESS, data, index, NULL, mask, f, to, out, err);
}

int gtu_scu_replicate(struct gtu_queue *q, const struct gtu_array *in,
		      const struct gtu_array *count, const struct gtu_array *mask,
		      const struct gtu_scu_filter *f, const struct gtu_array *to,
		      struct gtu_completion *out, struct gtu_error *err)
{
	return compact(q, GTU_OP_SCU_REPLICATE, in, NULL, count, mask, f, to, out, err);
}

int gtu_scu_expand(struct gtu_queue *q, const struct gtu_array *data,
		   const struct gtu_array *index, const struct gtu_array *count,
		   const struct gtu_array *mask, const struct gtu_scu_filter *f,
		   const struct gtu_array *to, struct gtu_completion *out, struct gtu_error *err)
{
	return compact(q, GTU_OP_SCU_EXPAND, data, index, count, mask, f, to, out, err);
}

uint64_t gtu_scu_filter_table_bytes(uint64_t lines, uint32_t id_width, uint32_t cost_width)
{
	return GTU_FILTER_TABLE_BYTES(lines, id_width < 4 ? 4 : id_width, cost_width);
}

uint64_t gtu_scu_group_table_bytes(uint64_t lines)
{
	return GTU_GROUP_TABLE_BYTES(lines);
}

/* ---- Copy ---------------------------------------------------------------------------------------- */

int gtu_copy(struct gtu_queue *q, const struct gtu_array *from, const struct gtu_array *to,
	     struct gtu_completion *out, struct gtu_error *err)
{
	struct gtu_hw_desc desc = { .opcode = GTU_OP_COPY };
	struct gtu_completion total = { .operand = 0xff }, c;
	const int width = log2_of(from->width);
	uint64_t first = 0, n;
	int rc;

	if (width < 0 || from->width != to->width)
		return gtu_fail(err, GTU_ERR_USAGE, "elements of %u and %u bytes cannot be copied: "
				"use one width of 1, 2, 4 or 8", from->width,
				to->width);
	if (to->count < from->count)
		return gtu_fail(err, GTU_ERR_SPACE, "%llu elements do not fit into an array of "
				"%llu",
				(unsigned long long)from->count, (unsigned long long)to->count);
	desc.param = (uint32_t)width;
	do {
		n = from->count - first < JOB_CHUNK ? from->count - first : JOB_CHUNK;
		desc.operand[0] = part(from, first, n);
		desc.operand[1] = part(to, first, n);
		rc = gtu_do(q, &desc, GTU_FOREVER, &c, err);
		if (rc)
			return rc;
		total.job = c.job;
		total.count += c.count;
		total.cycles += c.cycles;
		first += n;
	} while (first < from->count);
	if (out)
		*out = total;
	return 0;
}

GTU_PAPER_NAME(accessExpansionCompactionSCU, gtu_scu_expand);
GTU_PAPER_NAME(replicationCompactionSCU, gtu_scu_replicate);
GTU_PAPER_NAME(dataCompactionSCU, gtu_scu_data);
