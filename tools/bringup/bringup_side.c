// SPDX-License-Identifier: MIT
/*
 * bringup: runs descriptors on a rig over an access, or on a device through its driver and the
 * runtime's backend.
 */
#include <stdlib.h>
#include <string.h>

#include "libruntime/device/backend.h"
#include "bringup_rig.h"

/* ---- A rig ------------------------------------------------------------------------------------------------- */

struct rig_side {
	struct rig rig;
	struct bringup like;		/* limits of the device */
	const struct side_region *region;
	unsigned regions;
	struct access *model;		/* owned, or NULL */
};

void side_put_keys(const struct side *s, struct gtu_hw_desc *to, const struct gtu_hw_desc *from)
{
	unsigned i;

	*to = *from;
	for (i = 0; i < GTU_DESC_OPERANDS; i++) {
		const uint32_t name = from->operand[i].key;

		/* other indices stay: they are invalid keys, the same on all sides */
		if (name && name <= SIDE_REGIONS)
			to->operand[i].key = s->key[name - 1];
	}
}

static int side_run(struct side *s, const struct gtu_hw_desc *d, unsigned n, struct gtu_hw_cpl *cpl, struct gtu_error *err)
{
	const int rc = s->start(s, d, n, err);

	return rc ? rc : s->finish(s, n, cpl, err);
}

static int rig_start(struct side *s, const struct gtu_hw_desc *d, unsigned n, struct gtu_error *err)
{
	struct rig *r = &((struct rig_side *)s->own)->rig;
	struct gtu_hw_desc whole;
	unsigned i;

	(void)err;
	for (i = 0; i < n; i++) {
		side_put_keys(s, &whole, &d[i]);
		rig_put(r, 0, &whole);
	}
	rig_submit(r, 0);
	return 0;
}

static int rig_finish(struct side *s, unsigned n, struct gtu_hw_cpl *cpl, struct gtu_error *err)
{
	struct rig *r = &((struct rig_side *)s->own)->rig;
	unsigned i;

	for (i = 0; i < n; i++)
		if (!rig_take(r, 0, &cpl[i], err))
			return err->code;
	return 0;
}

static void rig_kick(struct side *s)
{
	rig_doorbell(&((struct rig_side *)s->own)->rig, 0, GTU_DB_KICK, 1);
}

static int rig_read(struct side *s, uint32_t reg, uint64_t *value, struct gtu_error *err)
{
	(void)err;
	*value = access_reg64(((struct rig_side *)s->own)->rig.a, reg);
	return 0;
}

static int rig_write(struct side *s, uint32_t reg, uint32_t value, struct gtu_error *err)
{
	(void)err;
	access_set(((struct rig_side *)s->own)->rig.a, reg, value);
	return 0;
}

static void rig_side_close(struct side *s)
{
	struct rig_side *own = s->own;

	if (!own)
		return;
	rig_close(&own->rig);
	if (own->model)
		own->model->ops->close(own->model);
	free(own);
	s->own = NULL;
}

static int rig_restart(struct side *s, struct gtu_error *err)
{
	struct rig_side *own = s->own;
	unsigned i;
	int rc = rig_open(&own->rig, &own->like, own->rig.a, 0, err);

	for (i = 0; i < own->regions && !rc; i++)
		s->key[i] = rig_region(&own->rig, RIG_DATA + own->region[i].offset, own->region[i].bytes, own->region[i].rights);
	return rc;
}

static int side_of_access(struct side *s, struct bringup *b, struct access *a, bool ours, const struct side_region *region, unsigned n,
			  struct gtu_error *err)
{
	struct rig_side *own = calloc(1, sizeof(*own));
	int rc;

	if (!own) {
		if (ours)
			a->ops->close(a);
		return gtu_fail(err, GTU_ERR_NOMEM, "no memory");
	}
	own->model = ours ? a : NULL;
	*s = (struct side){ .name = a->name, .run = side_run, .start = rig_start, .finish = rig_finish, .kick = rig_kick, .read = rig_read,
			     .write = rig_write, .restart = rig_restart,
			    .close = rig_side_close, .rig = &own->rig, .own = own };
	own->like = *b;
	own->region = region;
	own->regions = n;
	own->rig.a = a;
	rc = rig_restart(s, err);
	if (rc) {
		rig_side_close(s);
		return rc;
	}
	s->arena = own->rig.at + RIG_DATA;
	s->batch = 1u << own->rig.queue_log2;
	memset(s->arena, 0, RIG_DATA_BYTES);
	return 0;
}

/* ---- A device behind its driver ------------------------------------------------------------------------------- */

struct driver_side {
	struct gtu_device *dev;
	struct gtu_rings rings;
	bool queue;
	uint32_t arena_key, key[SIDE_REGIONS], tail, head;
	unsigned regions;
};

static void ring(struct driver_side *own, uint32_t reg, uint64_t value)
{
	if (!own->rings.doorbell)
		own->dev->ops->doorbell(own->dev, &own->rings, reg, value);
	else if (reg == GTU_DB_SUBMIT)
		*(volatile uint64_t *)((uint8_t *)(uintptr_t)own->rings.doorbell + reg) = value;
	else
		*(volatile uint32_t *)((uint8_t *)(uintptr_t)own->rings.doorbell + reg) = (uint32_t)value;
}

static int driver_start(struct side *s, const struct gtu_hw_desc *d, unsigned n, struct gtu_error *err)
{
	struct driver_side *own = s->own;
	unsigned i;

	(void)err;
	for (i = 0; i < n; i++)
		side_put_keys(s, &own->rings.sq[own->tail++ & ((1u << own->rings.sq_log2) - 1)], &d[i]);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	ring(own, GTU_DB_SUBMIT, own->tail | (uint64_t)own->head << 32);
	return 0;
}

static int driver_finish(struct side *s, unsigned n, struct gtu_hw_cpl *cpl, struct gtu_error *err)
{
	struct driver_side *own = s->own;
	unsigned i;
	int rc;

	for (i = 0; i < n; i++) {
		const uint64_t end = gtu_now_ns() + gtu_scaled(own->dev, 5000000000ull);

		while (!gtu_completed(&own->rings, own->head)) {
			rc = own->dev->ops->wait(own->dev, &own->rings, own->head, NULL, end, err);
			if (rc)
				return rc;
			if (own->rings.status->state != GTU_QUEUE_ENABLED)
				return gtu_fail(err, GTU_ERR_FAIL, "the queue is in state %u", own->rings.status->state);
		}
		cpl[i] = own->rings.cq[own->head++ & ((1u << own->rings.cq_log2) - 1)];
	}
	return 0;
}

static void driver_kick(struct side *s)
{
	ring(s->own, GTU_DB_KICK, 1);
}

static int driver_read(struct side *s, uint32_t reg, uint64_t *value, struct gtu_error *err)
{
	struct driver_side *own = s->own;

	return own->dev->ops->read(own->dev, reg, value, err);
}

static int driver_write(struct side *s, uint32_t reg, uint32_t value, struct gtu_error *err)
{
	struct driver_side *own = s->own;

	return own->dev->ops->write(own->dev, reg, value, err);
}

static void driver_close(struct side *s)
{
	struct driver_side *own = s->own;
	struct gtu_error ignored;
	unsigned i;

	if (!own)
		return;
	if (own->queue)
		own->dev->ops->queue_destroy(own->dev, &own->rings);
	for (i = 0; i < own->regions; i++)
		own->dev->ops->region_remove(own->dev, own->key[i], &ignored);
	if (s->arena)
		own->dev->ops->region_free(own->dev, s->arena, RIG_DATA_BYTES, own->arena_key, &ignored);
	gtu_close(own->dev);
	free(own);
	s->own = NULL;
}

static int side_of_driver(struct side *s, const char *path, const struct side_region *region, unsigned n, struct gtu_error *err)
{
	struct driver_side *own = calloc(1, sizeof(*own));
	void *arena = NULL;
	int rc;

	if (!own)
		return gtu_fail(err, GTU_ERR_NOMEM, "no memory");
	rc = gtu_open(path, &own->dev, err);
	if (rc) {
		free(own);
		return rc;
	}
	*s = (struct side){ .name = path, .run = side_run, .start = driver_start, .finish = driver_finish, .kick = driver_kick, .read = driver_read,
			     .write = driver_write, .close = driver_close, .own = own };
	own->rings.sq_log2 = own->rings.cq_log2 = own->dev->info.max_ring_log2 < 8 ? own->dev->info.max_ring_log2 : 8;
	rc = own->dev->ops->queue_create(own->dev, &own->rings, err);
	own->queue = !rc;
	s->batch = 1u << own->rings.sq_log2;
	if (!rc)
		rc = own->dev->ops->region_alloc(own->dev, RIG_DATA_BYTES, GTU_READ | GTU_WRITE, false, &arena, &own->arena_key, err);
	s->arena = rc ? NULL : arena;
	for (; !rc && own->regions < n; own->regions++) {
		const struct side_region *g = &region[own->regions];
		const uint32_t rights = (g->rights & GTU_REGION_READ ? GTU_READ : 0) | (g->rights & GTU_REGION_WRITE ? GTU_WRITE : 0);

		rc = own->dev->ops->region_add(own->dev, s->arena + g->offset, g->bytes, rights, &own->key[own->regions], err);
		if (rc)
			break;
		s->key[own->regions] = own->key[own->regions];
	}
	if (rc)
		driver_close(s);
	return rc;
}

/* ---- Constructors ---------------------------------------------------------------------------------------------------- */

int side_of_device(struct side *s, struct bringup *b, const struct side_region *region, unsigned n, struct gtu_error *err)
{
	if (b->a)
		return side_of_access(s, b, b->a, false, region, n, err);
	return side_of_driver(s, b->device, region, n, err);
}

uint32_t side_find_absent(struct side *s, uint32_t units)
{
	const struct gtu_operation *op;
	uint32_t found = 0;
	unsigned u, n = 0;

	for (u = 0; u < GTU_UNIT_COUNT; u++) {
		for (op = gtu_unit_table[u].operations; op->name; op++, n++) {
			const struct gtu_hw_desc d = { .opcode = op->opcode };
			struct gtu_hw_cpl cpl;
			struct gtu_error ignored;

			if (units & gtu_unit_table[u].bit && !s->run(s, &d, 1, &cpl, &ignored) && cpl.status == GTU_CPL_ABSENT)
				found |= 1u << n;
		}
	}
	return found;
}

bool side_lacks(const struct bringup *b, unsigned first, unsigned last)
{
	const struct gtu_operation *op;
	unsigned n;

	for (n = 0; (op = gtu_unit_operation(n)); n++)
		if (op->opcode >= first && op->opcode <= last && !(b->absent_operations >> n & 1))
			return false;
	return true;
}

int side_of_model(struct side *s, struct bringup *b, const struct side_region *region, unsigned n, struct gtu_error *err)
{
	/* all parameters that affect a result or a cycle count */
	struct gtu_dev_config config = { .absent_units = ~b->units & ((1u << GTU_UNIT_COUNT) - 1),
					 .absent_operations = b->absent_operations, .absent_scu = b->absent_scu,
					 .clock_hz = b->clock_hz };
	const struct gtu_parameter *q;
	unsigned u;
	struct bringup like = *b;
	struct access *a;
	int rc;

	for (u = 0; u < GTU_UNIT_COUNT; u++) {
		const struct gtu_unit_table *t = &gtu_unit_table[u];

		for (q = t->parameters; gtu_parameter_exists(q); q++)
			if (q->key)
				gtu_dev_put_value(&config, q, b->param[u][q - t->parameters]);
		for (q = t->settings; gtu_parameter_exists(q); q++)
			if (q->key)
				gtu_dev_put_value(&config, q, b->setting[u][q - t->settings]);
	}
	a = access_model(&config, GTU_BUG_NONE, err);
	if (!a)
		return err->code;
	/* limits of the model */
	like.stride = access_reg(a, GTU_REG_DOORBELL_STRIDE);
	like.queues = access_reg(a, GTU_REG_MAX_QUEUES);
	like.regions_log2 = access_reg(a, GTU_REG_MAX_REGIONS);
	like.ring_log2 = access_reg(a, GTU_REG_MAX_RING);
	rc = side_of_access(s, &like, a, true, region, n, err);
	if (!rc)
		s->name = "the model";
	return rc;
}
