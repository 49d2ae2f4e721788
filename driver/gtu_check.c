// SPDX-License-Identifier: GPL-2.0-only
/*
 * Checks descriptors submitted by ioctl, with a table of operations and their
 * parameters and operands. The result is the status that the device would
 * report, tested in the device's order (Documentation/hardware.md).
 */
#include "gtu_drv.h"

enum {
	GTU_REQUIRE_READ = 1,
	GTU_REQUIRE_WRITE = 2,
	GTU_REQUIRE_OPTIONAL = 4,		/* may be absent */
	GTU_REQUIRE_PREFIX = 8,		/* the device determines how many elements are used */
	GTU_REQUIRE_BOTH = GTU_REQUIRE_READ | GTU_REQUIRE_WRITE,
};

/* Requirements for an operand slot. need 0: must be absent. */
struct gtu_requirement {
	u8 need;
	u8 width;			/* log2 of element size and alignment */
	bool bits;			/* elements are bits */
	bool rest;			/* GTU_COUNT_TO_END is allowed */
	u64 bytes;			/* if not 0: size, independent of the count */
};

/*
 * @check: returns a GTU_CPL_* status. @bounded: whether all addresses that the
 * job can access follow from the checked values, not from values in memory.
 * NULL: never.
 */
struct gtu_op {
	u8 opcode;
	u32 unit;
	u32 params;			/* valid bits of param */
	bool imm, param2;		/* may be non-zero */
	int (*check)(struct gtu_check *c);
	bool (*bounded)(struct gtu_check *c);
};

static u32 gtu_op_key(const struct gtu_check *c, unsigned int slot)
{
	return le32_to_cpu(c->operand[slot].key);
}

static u32 gtu_op_count(const struct gtu_check *c, unsigned int slot)
{
	return le32_to_cpu(c->operand[slot].count);
}

static bool gtu_op_given(const struct gtu_hw_operand *op)
{
	return op->key || op->count || op->offset;
}

static int gtu_check_operand(struct gtu_check *c, unsigned int slot,
			     const struct gtu_requirement *want)
{
	const struct gtu_hw_operand *op = &c->operand[slot];
	u32 key = le32_to_cpu(op->key), count = le32_to_cpu(op->count);
	u64 offset = le64_to_cpu(op->offset), space, bytes;
	struct gtu_region *r;

	c->count[slot] = 0;
	if (!key)
		return gtu_op_given(op) || !(!want->need || want->need & GTU_REQUIRE_OPTIONAL) ?
			       GTU_CPL_OPERAND : GTU_CPL_OK;
	if (!want->need || offset & (BIT_ULL(want->width) - 1) ||
	    (count == GTU_COUNT_TO_END && !want->rest))
		return GTU_CPL_OPERAND;
	r = gtu_region_find(c->ctx, key);
	if (!r || r->removing)
		return GTU_CPL_KEY;
	if ((want->need & GTU_REQUIRE_READ && !(r->rights & GTU_RIGHT_READ)) ||
	    (want->need & GTU_REQUIRE_WRITE && !(r->rights & GTU_RIGHT_WRITE)))
		return GTU_CPL_RIGHTS;
	if (offset > r->length)
		return GTU_CPL_BOUNDS;
	space = r->length - offset;
	c->count[slot] = count == GTU_COUNT_TO_END ? space >> want->width : count;
	bytes = want->bytes ? want->bytes :
		want->bits ? (c->count[slot] + 7) / 8 : c->count[slot] << want->width;
	if (bytes > space && !(want->need & GTU_REQUIRE_PREFIX))
		return GTU_CPL_BOUNDS;
	c->region[slot] = r;
	return GTU_CPL_OK;
}

/* Check operands 0 to @n - 1, in order. All others must be absent. */
static int gtu_check_operands(struct gtu_check *c, const struct gtu_requirement *want,
			      unsigned int n)
{
	unsigned int i;
	int ret;

	for (i = 0; i < n; i++) {
		ret = gtu_check_operand(c, i, &want[i]);
		if (ret)
			return ret;
	}
	for (; i < GTU_BLOCK_OPERANDS; i++)
		if (gtu_op_given(&c->operand[i]))
			return GTU_CPL_OPERAND;
	return GTU_CPL_OK;
}

static int gtu_check_none(struct gtu_check *c)
{
	return gtu_check_operands(c, NULL, 0);
}

static int gtu_check_copy(struct gtu_check *c)
{
	u8 width = c->param & 3;
	struct gtu_requirement want[] = {
		{ .need = GTU_REQUIRE_READ, .width = width },
		{ .need = GTU_REQUIRE_WRITE, .width = width },
	};
	int ret = gtu_check_operands(c, want, ARRAY_SIZE(want));

	if (!ret && c->count[0] > c->count[1])
		ret = GTU_CPL_OVERFLOW;
	return ret;
}

static int gtu_check_fill(struct gtu_check *c)
{
	struct gtu_requirement want[] = {
		{ .width = c->param & 3 },
		{ .need = GTU_REQUIRE_WRITE, .width = c->param & 3 },
	};

	return gtu_check_operands(c, want, ARRAY_SIZE(want));
}

static bool gtu_always(struct gtu_check *c)
{
	return true;
}

struct gtu_scu {
	u32 width, index, count, type, cmp, step, cost, target;
	bool bitmask, runs, indexed, unique, best, group, keep, filters;
};

static void gtu_scu_params(const struct gtu_check *c, struct gtu_scu *p)
{
	u32 param = c->param, op = c->opcode;

	*p = (struct gtu_scu){
		.width = param >> GTU_SCU_WIDTH_SHIFT & 3,
		.index = param >> GTU_SCU_INDEX_SHIFT & 3,
		.count = param >> GTU_SCU_COUNT_SHIFT & 3,
		.type = param >> GTU_SCU_TYPE_SHIFT & 3,
		.cmp = param >> GTU_SCU_CMP_SHIFT & 7,
		.step = param >> GTU_SCU_STEP_SHIFT & 3,
		.cost = param >> GTU_SCU_COST_SHIFT & 3,
		.target = param >> GTU_SCU_TARGET_SHIFT & 7,
		.bitmask = op == GTU_OP_SCU_BITMASK,
		.runs = op == GTU_OP_SCU_REPLICATE || op == GTU_OP_SCU_EXPAND,
		.indexed = op == GTU_OP_SCU_ACCESS || op == GTU_OP_SCU_EXPAND,
		.unique = param & GTU_SCU_UNIQUE,
		.best = param & GTU_SCU_BEST,
		.group = param & GTU_SCU_GROUP,
		.keep = param & GTU_SCU_KEEP,
		.filters = param & (GTU_SCU_UNIQUE | GTU_SCU_BEST),
	};
}

/* Clear what APPLY does not use: it may be present. */
static void gtu_scu_clear_unused(struct gtu_check *c)
{
	static const u8 unused[] = {
		GTU_SCU_FILTER_TABLE, GTU_SCU_GROUP_TABLE, GTU_SCU_COST_GATHERED,
		GTU_SCU_COST_INPUT,
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(unused); i++)
		c->operand[unused[i]] = (struct gtu_hw_operand){};
	if (c->operand[GTU_SCU_REORDER].key)
		c->operand[GTU_SCU_FILTER] = (struct gtu_hw_operand){};
	c->param &= ~(GTU_SCU_UNIQUE | GTU_SCU_BEST | GTU_SCU_GROUP | GTU_SCU_KEEP |
		      3 << GTU_SCU_TYPE_SHIFT | 3 << GTU_SCU_COST_SHIFT |
		      7 << GTU_SCU_TARGET_SHIFT);
	c->imm = 0;
}

static bool gtu_scu_params_ok(const struct gtu_check *c, const struct gtu_scu *p)
{
	bool makes = p->filters || p->group;

	if (p->bitmask) {
		if (p->step || makes || p->keep || p->cmp > GTU_CMP_GE ||
		    p->type > GTU_TYPE_FLOAT || (p->type == GTU_TYPE_FLOAT && p->width < 2) ||
		    p->index || p->count)
			return false;
	} else if (p->cmp) {
		return false;
	}
	if (c->opcode == GTU_OP_SCU_ACCESS && !c->operand[GTU_SCU_DATA].key &&
	    p->width != p->index)
		return false;
	if (p->indexed ? p->index < 2 : p->index)
		return false;
	if (p->runs ? p->count < 2 : p->count)
		return false;
	if ((p->step == GTU_STEP_PRODUCE || p->step == GTU_STEP_FUSED) != makes)
		return false;
	if ((p->unique && p->best) || (p->keep && !makes))
		return false;
	if (p->best ? p->cost < 2 || p->type > GTU_TYPE_FLOAT :
		      p->cost || (p->type && !p->bitmask))
		return false;
	return p->group || (!p->target && (p->bitmask || !c->imm));
}

static bool gtu_scu_lines_ok(const struct gtu_check *c, unsigned int slot)
{
	u32 lines = gtu_op_count(c, slot);

	return !c->operand[slot].key || (lines >= GTU_TABLE_WAYS && lines <= GTU_TABLE_LINES_MAX &&
					 is_power_of_2(lines));
}

static void gtu_scu_wants(const struct gtu_check *c, const struct gtu_scu *p,
			  struct gtu_requirement *want)
{
	bool apply = p->step == GTU_STEP_APPLY, fused = p->step == GTU_STEP_FUSED;
	u8 optional_read = GTU_REQUIRE_READ | GTU_REQUIRE_OPTIONAL;

	want[GTU_SCU_DATA] = (struct gtu_requirement){
		.need = c->opcode == GTU_OP_SCU_ACCESS ? optional_read : GTU_REQUIRE_READ,
		.width = p->width, .rest = p->indexed };
	if (p->indexed)
		want[GTU_SCU_INDEX] = (struct gtu_requirement){ GTU_REQUIRE_READ, p->index };
	if (p->runs)
		want[GTU_SCU_COUNT] = (struct gtu_requirement){ GTU_REQUIRE_READ, p->count };
	want[GTU_SCU_MASK] = (struct gtu_requirement){ p->bitmask ? 0 : optional_read,
						       .bits = true };
	want[GTU_SCU_OUT] = (struct gtu_requirement){
		.need = p->step == GTU_STEP_PRODUCE ? 0 : GTU_REQUIRE_WRITE,
		.width = p->bitmask ? 0 : p->width, .bits = p->bitmask };
	want[GTU_SCU_FILTER].bits = true;
	want[GTU_SCU_REORDER].width = 2;
	if (apply && c->operand[GTU_SCU_REORDER].key) {
		want[GTU_SCU_REORDER].need = GTU_REQUIRE_READ;
	} else if (apply) {
		want[GTU_SCU_FILTER].need = GTU_REQUIRE_READ;
	} else if (p->group) {
		want[GTU_SCU_REORDER].need = fused ? GTU_REQUIRE_BOTH : GTU_REQUIRE_WRITE;
		want[GTU_SCU_FILTER].need = GTU_REQUIRE_OPTIONAL |
					    (p->filters ? GTU_REQUIRE_WRITE : GTU_REQUIRE_READ);
	} else if (p->filters) {
		want[GTU_SCU_FILTER].need = GTU_REQUIRE_WRITE | (fused ? GTU_REQUIRE_OPTIONAL : 0);
	}
	want[GTU_SCU_FILTER_TABLE].width = 6;
	want[GTU_SCU_GROUP_TABLE].width = 6;
	if (p->filters && !apply) {
		want[GTU_SCU_FILTER_TABLE].need = GTU_REQUIRE_BOTH;
		want[GTU_SCU_FILTER_TABLE].bytes =
			GTU_FILTER_TABLE_BYTES(gtu_op_count(c, GTU_SCU_FILTER_TABLE),
					       max(4u, 1u << p->width),
					       p->best ? 1u << p->cost : 0u);
	}
	if (p->group && !apply) {
		want[GTU_SCU_GROUP_TABLE].need = GTU_REQUIRE_BOTH;
		want[GTU_SCU_GROUP_TABLE].bytes =
			GTU_GROUP_TABLE_BYTES(gtu_op_count(c, GTU_SCU_GROUP_TABLE));
	}
	want[GTU_SCU_COST_GATHERED] = (struct gtu_requirement){ p->best ? optional_read : 0,
							 p->cost, .rest = p->indexed };
	want[GTU_SCU_COST_INPUT] = (struct gtu_requirement){ p->best ? optional_read : 0, p->cost };
}

/* Operands parallel to the input need at least as many elements. */
static bool gtu_scu_counts_ok(const struct gtu_check *c, const struct gtu_scu *p)
{
	static const u8 along[] = { GTU_SCU_COUNT, GTU_SCU_MASK, GTU_SCU_COST_INPUT,
				    GTU_SCU_COST_GATHERED };
	u64 n = c->count[p->indexed ? GTU_SCU_INDEX : GTU_SCU_DATA];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(along); i++) {
		if (along[i] == GTU_SCU_COST_GATHERED && p->indexed)
			continue;
		if (c->operand[along[i]].key && c->count[along[i]] < n)
			return false;
	}
	return !p->best || c->operand[GTU_SCU_COST_GATHERED].key ||
	       c->operand[GTU_SCU_COST_INPUT].key;
}

static int gtu_check_scu(struct gtu_check *c)
{
	struct gtu_requirement want[GTU_SCU_OPERANDS] = {};
	struct gtu_scu p;
	int ret;

	if (c->opcode != GTU_OP_SCU_BITMASK &&
	    (c->param >> GTU_SCU_STEP_SHIFT & 3) == GTU_STEP_APPLY)
		gtu_scu_clear_unused(c);
	gtu_scu_params(c, &p);
	if (!gtu_scu_params_ok(c, &p))
		return GTU_CPL_PARAM;
	if (!gtu_scu_lines_ok(c, GTU_SCU_FILTER_TABLE) || !gtu_scu_lines_ok(c, GTU_SCU_GROUP_TABLE))
		return GTU_CPL_OPERAND;
	gtu_scu_wants(c, &p, want);
	ret = gtu_check_operands(c, want, GTU_SCU_OPERANDS);
	if (!ret && !gtu_scu_counts_ok(c, &p))
		ret = GTU_CPL_OPERAND;
	if (!ret && p.bitmask && c->count[GTU_SCU_DATA] > c->count[GTU_SCU_OUT])
		ret = GTU_CPL_OVERFLOW;
	return ret;
}

/*
 * Only a selection into an output as large as the input is bounded: then
 * ordinals never exceed it, whatever the mask.
 */
static bool gtu_scu_data_bounded(struct gtu_check *c)
{
	return (c->param >> GTU_SCU_STEP_SHIFT & 3) == GTU_STEP_PLAIN &&
	       c->count[GTU_SCU_OUT] >= c->count[GTU_SCU_DATA];
}

static int gtu_check_iru(struct gtu_check *c)
{
	u32 op = c->param >> GTU_IRU_OP_SHIFT & 7, ring = gtu_op_count(c, GTU_IRU_RING);
	u32 fields = 1 + !!(c->param & GTU_IRU_WITH_SECONDARY) +
		     !!(c->param & GTU_IRU_WITH_POSITION);
	bool secondary = op >= GTU_IRU_OP_MIN_U32 || c->param & GTU_IRU_WITH_SECONDARY;
	bool ranges = c->param & GTU_IRU_RANGES;
	struct gtu_requirement want[GTU_IRU_OPERANDS] = {
		[GTU_IRU_INDICES] = { GTU_REQUIRE_READ | (ranges ? GTU_REQUIRE_PREFIX : 0),
				      c->param & GTU_IRU_INDEX_8 ? 3 : 2 },
		[GTU_IRU_SECONDARY] = { GTU_REQUIRE_READ |
					(secondary ? 0 : GTU_REQUIRE_OPTIONAL), 2 },
		[GTU_IRU_RING] = { GTU_REQUIRE_BOTH, 6,
				   .bytes = sizeof(struct gtu_hw_ring) +
					    (u64)ring * GTU_WARP_BYTES(fields, 0) },
		[GTU_IRU_FIRST] = { ranges ? GTU_REQUIRE_READ : 0,
				    c->param & GTU_IRU_FIRST_8 ? 3 : 2 },
		[GTU_IRU_COUNT] = { ranges ? GTU_REQUIRE_READ : 0, 2 },
	};
	int ret;

	if (op > GTU_IRU_OP_ADD_F32 ||
	    (!ranges && c->param & (GTU_IRU_INDEX_8 | GTU_IRU_FIRST_8)))
		return GTU_CPL_PARAM;
	if (!is_power_of_2(ring))
		return GTU_CPL_OPERAND;
	ret = gtu_check_operands(c, want, GTU_IRU_OPERANDS);
	if (!ret && gtu_op_key(c, GTU_IRU_SECONDARY) &&
	    c->count[GTU_IRU_SECONDARY] != c->count[GTU_IRU_INDICES])
		ret = GTU_CPL_OPERAND;
	if (!ret && c->count[GTU_IRU_COUNT] != c->count[GTU_IRU_FIRST])
		ret = GTU_CPL_OPERAND;
	return ret;
}

/*
 * Indices are values, not addresses, and the device numbers the records. The
 * positions of ranges are values in memory.
 */
static bool gtu_iru_bounded(struct gtu_check *c)
{
	return !(c->param & GTU_IRU_RANGES);
}

/*
 * How much of these operands is used depends on the device build and on memory.
 * Check only that the caller owns them with the required rights; the device
 * checks the rest.
 */
static int gtu_check_peg(struct gtu_check *c)
{
	static const struct gtu_requirement want[GTU_PEG_OPERANDS] = {
		[GTU_PEG_VERTICES] = { GTU_REQUIRE_READ | GTU_REQUIRE_PREFIX, 2, .rest = true },
		[GTU_PEG_EDGES] = { GTU_REQUIRE_READ | GTU_REQUIRE_PREFIX | GTU_REQUIRE_OPTIONAL, 2,
				    .rest = true },
		[GTU_PEG_WEIGHTS] = { GTU_REQUIRE_READ | GTU_REQUIRE_PREFIX | GTU_REQUIRE_OPTIONAL,
				      2, .rest = true },
		[GTU_PEG_INPUT] = { GTU_REQUIRE_READ | GTU_REQUIRE_PREFIX | GTU_REQUIRE_OPTIONAL, 2,
				    .rest = true },
		[GTU_PEG_RINGS] = { GTU_REQUIRE_BOTH | GTU_REQUIRE_PREFIX, 6 },
		[GTU_PEG_OUTPUT] = { GTU_REQUIRE_WRITE | GTU_REQUIRE_PREFIX | GTU_REQUIRE_OPTIONAL,
				     2 },
		[GTU_PEG_SPILL] = { GTU_REQUIRE_BOTH | GTU_REQUIRE_PREFIX | GTU_REQUIRE_OPTIONAL,
				    3 },
	};

	return gtu_check_operands(c, want, GTU_PEG_OPERANDS);
}

static int gtu_check_wvr(struct gtu_check *c)
{
	u8 edges = c->param & GTU_WVR_WITH_TARGET ? GTU_REQUIRE_READ | GTU_REQUIRE_PREFIX : 0;
	u8 weights = c->param & GTU_WVR_WITH_WEIGHT ? GTU_REQUIRE_READ | GTU_REQUIRE_PREFIX : 0;
	struct gtu_requirement want[GTU_WVR_OPERANDS] = {
		[GTU_WVR_TABLE] = { GTU_REQUIRE_READ | GTU_REQUIRE_PREFIX, 3 },
		[GTU_WVR_RING] = { GTU_REQUIRE_BOTH | GTU_REQUIRE_PREFIX, 6 },
		[GTU_WVR_EDGES] = { edges, 2, .rest = true },
		[GTU_WVR_WEIGHTS] = { weights, 2, .rest = true },
	};

	return gtu_check_operands(c, want, GTU_WVR_OPERANDS);
}

#define GTU_SCU_OP(name, bounded_fn)                                                               \
	{ .opcode = name, .unit = GTU_UNIT_SCU, .params = GTU_SCU_PARAM_MASK, .imm = true,         \
	  .check = gtu_check_scu, .bounded = bounded_fn }

static const struct gtu_op gtu_ops[] = {
	{ .opcode = GTU_OP_NOP, .check = gtu_check_none, .bounded = gtu_always },
	{ .opcode = GTU_OP_COPY, .params = 3, .check = gtu_check_copy, .bounded = gtu_always },
	{ .opcode = GTU_OP_FILL, .params = 3, .imm = true, .check = gtu_check_fill,
	  .bounded = gtu_always },
	{ .opcode = GTU_OP_FENCE, .check = gtu_check_none, .bounded = gtu_always },
	GTU_SCU_OP(GTU_OP_SCU_BITMASK, gtu_always),
	GTU_SCU_OP(GTU_OP_SCU_DATA, gtu_scu_data_bounded),
	GTU_SCU_OP(GTU_OP_SCU_ACCESS, NULL),
	GTU_SCU_OP(GTU_OP_SCU_REPLICATE, NULL),
	GTU_SCU_OP(GTU_OP_SCU_EXPAND, NULL),
	{ .opcode = GTU_OP_IRU_STREAM, .unit = GTU_UNIT_IRU, .params = GTU_IRU_PARAM_MASK,
	  .imm = true, .param2 = true, .check = gtu_check_iru, .bounded = gtu_iru_bounded },
	{ .opcode = GTU_OP_PEG_STREAM, .unit = GTU_UNIT_PEG, .params = GTU_PEG_PARAM_MASK,
	  .imm = true, .param2 = true, .check = gtu_check_peg },
	{ .opcode = GTU_OP_WVR_STREAM, .unit = GTU_UNIT_WVR, .params = GTU_WVR_PARAM_MASK,
	  .imm = true, .param2 = true, .check = gtu_check_wvr },
};

static const struct gtu_op *gtu_op_find(u8 opcode)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(gtu_ops); i++)
		if (gtu_ops[i].opcode == opcode)
			return &gtu_ops[i];
	return NULL;
}

/*
 * Copy the parameter block that operand 0 names, once. Its operands replace
 * those of the descriptor.
 */
static int gtu_check_block(struct gtu_check *c)
{
	struct gtu_requirement want = { GTU_REQUIRE_READ, 4 };
	u64 offset = le64_to_cpu(c->operand[0].offset);
	u32 n = gtu_op_count(c, 0);
	int ret;

	if (!n || n > GTU_BLOCK_OPERANDS)
		return GTU_CPL_OPERAND;
	ret = gtu_check_operands(c, &want, 1);
	if (ret)
		return ret;
	ret = gtu_region_read(c->region[0], offset, c->given, n * sizeof(c->given[0]));
	memcpy(c->operand, c->given, sizeof(c->operand));
	c->region[0] = NULL;
	c->block = n;
	return ret;
}

/**
 * gtu_check_desc() - check a descriptor as the device would
 * @c: state of the check
 * @ctx: the context
 * @d: private copy of the descriptor
 *
 * Sets c->region by slot. For a parameter block, c->given has its c->block
 * operands. Called under ctx->lock.
 *
 * Return: GTU_CPL_OK, the status with which the device would reject it, or
 * -EOPNOTSUPP
 */
int gtu_check_desc(struct gtu_check *c, struct gtu_ctx *ctx, const struct gtu_hw_desc *d)
{
	const struct gtu_op *op = gtu_op_find(d->opcode);
	struct gtu_device *gtu = ctx->gtu;
	int ret;

	lockdep_assert_held(&ctx->lock);
	memset(c, 0, sizeof(*c));
	c->ctx = ctx;
	c->opcode = d->opcode;
	c->param = le32_to_cpu(d->param);
	c->imm = le64_to_cpu(d->imm);
	memcpy(c->operand, d->operand, sizeof(d->operand));
	if (d->reserved0 || le16_to_cpu(d->flags) & ~GTU_DESC_FLAGS)
		return GTU_CPL_RESERVED;
	if (!op)
		return GTU_CPL_OPCODE;
	if (op->unit & ~gtu->units)
		return GTU_CPL_ABSENT;
	if (le16_to_cpu(d->flags) & GTU_DESC_BLOCK) {
		ret = gtu_check_block(c);
		if (ret)
			return ret;
	}
	if (c->param & ~op->params || (!op->param2 && d->param2) || (!op->imm && d->imm))
		return GTU_CPL_RESERVED;
	ret = op->check(c);
	if (ret || gtu->caps & GTU_CAP_REGIONS)
		return ret;
	return op->bounded && op->bounded(c) ? GTU_CPL_OK : -EOPNOTSUPP;
}
