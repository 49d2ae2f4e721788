// SPDX-License-Identifier: MIT
/*
 * Backend for the device model in this process. It takes the role of the driver: it owns one
 * context, its region table and its rings, and programs them through registers as gtu.ko does. Bus
 * addresses are virtual addresses of this process, so a region is one contiguous range without a
 * page list.
 *
 * The model runs on the thread that waits for it, under a lock.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "libruntime/device/backend.h"
#include "firmware-model/device/gtu_model.h"
#include "firmware-model/device/gtu_units.h"

#define TABLE_LOG2	12u
#define STEP_CYCLES	(1u << 16)
#define NAP_NS		1000000u	/* maximum sleep without a notification from another thread */

struct model {
	struct gtu_dev *dev;
	pthread_mutex_t lock, alloc_lock;	/* alloc_lock: around lock, for ranges of the aperture */
	pthread_cond_t changed;		/* signaled by doorbells and by progress of the device */
	unsigned sleepers;
	uint64_t idle_reported;		/* end of the idle time reported to the device, ns */
	struct gtu_hw_region *table;
	uint8_t *aperture;		/* page-aligned, so that it can be registered with a GPU */
	uint64_t aperture_bytes;
	uint16_t generation[1u << TABLE_LOG2];
	uint32_t next_slot;
	uint8_t queue_used[256];
};

static void *dma(void *host, uint64_t addr, uint64_t *len, bool write)
{
	/* The device only accesses rings, tables and regions that this backend registered. */
	(void)host, (void)len, (void)write;
	return (void *)(uintptr_t)addr;
}

static const struct gtu_host_ops host_ops = { .dma = dma };

/* ---- Parameters: "model:scu_width=1,absent_units=iru+peg" --------------------------------------- */

static const char *unit_name(unsigned bit)
{
	return bit < GTU_UNIT_COUNT ? gtu_unit_table[bit].name : NULL;
}

static const char *operation_name(unsigned bit)
{
	const struct gtu_operation *op = gtu_unit_operation(bit);

	return op ? op->name : NULL;
}

static const char *capability_name(unsigned bit)
{
	return gtu_capability_names[bit];
}

/* GTU_ABSENT_SCU_*. */
static const char *scu_option_name(unsigned bit)
{
	static const char *const name[] = { "filtering", "grouping" };

	return bit < 2 ? name[bit] : NULL;
}

/* Parameters that leave something out: a sum of names, or a mask. */
static const struct mask {
	const char *key, *what;
	const char *(*name)(unsigned bit);
} masks[] = {
	{ "absent_units", "unit", unit_name },
	{ "absent_operations", "operation", operation_name },
	{ "absent_scu", "option of the SCU", scu_option_name },
	{ "caps_off", "capability", capability_name },
};

static int parse_mask(const struct mask *mask, char *value, uint64_t *bits, struct gtu_error *err)
{
	char *name, *rest, *end;
	char known[160] = "";
	unsigned i;

	errno = 0;
	*bits = strtoull(value, &end, 0);
	if (end != value && !*end && !errno && *value != '-') {
		for (i = 0; mask->name(i); i++)
			;
		return *bits >> i ? gtu_fail(err, GTU_ERR_USAGE, "%s=%s has bits that no %s has: the highest is bit %u", mask->key,
					     value, mask->what, i - 1) : 0;
	}
	for (name = strtok_r(value, "+", &rest); name; name = strtok_r(NULL, "+", &rest)) {
		for (i = 0; mask->name(i) && strcmp(mask->name(i), name); i++)
			;
		if (mask->name(i)) {
			*bits |= 1ull << i;
			continue;
		}
		for (i = 0; mask->name(i); i++)
			snprintf(known + strlen(known), sizeof(known) - strlen(known), "%s%s", i ? ", " : "", mask->name(i));
		return gtu_fail(err, GTU_ERR_USAGE, "%s: there is no %s \"%s\"; give a sum of %s", mask->key, mask->what,
				name, known);
	}
	return 0;
}

static int parse_item(const char *key, char *value, struct gtu_dev_config *config, struct gtu_error *err)
{
	const struct gtu_parameter *p;
	unsigned long long v, max;
	uint64_t bits = 0;
	bool zero = false;		/* 0 is a value, not the default */
	char *end;
	unsigned i;
	int rc;

	if (!strcmp(key, "unknown_unit")) {
		config->unknown_unit = !strcmp(value, "1");
		return config->unknown_unit || !strcmp(value, "0") ? 0 :
			gtu_fail(err, GTU_ERR_USAGE, "unknown_unit=%s is neither 0 nor 1", value);
	}
	for (i = 0; i < sizeof(masks) / sizeof(masks[0]); i++) {
		if (strcmp(masks[i].key, key))
			continue;
		rc = parse_mask(&masks[i], value, &bits, err);
		if (masks[i].name == unit_name)
			config->absent_units = (uint32_t)bits;
		else if (masks[i].name == operation_name)
			config->absent_operations = (uint32_t)bits;
		else if (masks[i].name == scu_option_name)
			config->absent_scu = (uint32_t)bits;
		else
			config->caps_off = bits;
		return rc;
	}
	for (i = 0; (p = gtu_parameter(i)) && strcmp(p->key, key); i++)
		;
	if (!p)
		return gtu_fail(err, GTU_ERR_USAGE, "the model has no parameter \"%s\"; 'gtu info --tables device' lists the "
				"device's, 'gtu info --tables UNIT' a unit's", key);
	if (p->field == offsetof(struct gtu_dev_config, aperture_bytes))
		config->no_aperture = zero = !strcmp(value, "0");
	max = p->bytes == 4 ? UINT32_MAX : UINT64_MAX;
	errno = 0;
	v = strtoull(value, &end, 0);
	if (errno || end == value || *end || *value == '-' || (!v && !zero) || v > max)
		return gtu_fail(err, GTU_ERR_USAGE, "%s=%s is not a number from %llu to %llu", key, value,
				(unsigned long long)p->min, (unsigned long long)p->max);
	gtu_dev_put_value(config, p, v);
	return 0;
}

int gtu_model_parameters(const char *list, struct gtu_dev_config *config, struct gtu_error *err)
{
	char *copy = strdup(list), *item, *value, *rest;
	int rc = 0;

	if (!copy)
		return gtu_fail(err, GTU_ERR_NOMEM, "out of memory for the model's parameters");
	for (item = strtok_r(copy, ",", &rest); item && !rc; item = strtok_r(NULL, ",", &rest)) {
		value = strchr(item, '=');
		if (!value) {
			rc = gtu_fail(err, GTU_ERR_USAGE, "\"%s\" is not a parameter: use NAME=VALUE", item);
			break;
		}
		*value++ = 0;
		rc = parse_item(item, value, config, err);
	}
	free(copy);
	return rc;
}

int gtu_model_config(const char *name, struct gtu_dev_config *config, struct gtu_error *err)
{
	const char *list = strchr(name, ':');

	return list ? gtu_model_parameters(list + 1, config, err) : 0;
}

/* ---- Registers and the mailbox ----------------------------------------------------------------- */

static int mailbox(struct model *m, uint32_t command, const uint64_t *arg, unsigned args,
		   struct gtu_error *err)
{
	static const char *const why[] = {
		"done", "unknown command", "an index out of range",
		"already in use, or not enabled", "a bad address or size",
	};
	uint32_t status;
	unsigned i;

	for (i = 0; i < GTU_MBOX_ARGS; i++)
		gtu_dev_write(m->dev, GTU_BAR_REGS, GTU_REG_MBOX_ARG(i), 8, i < args ? arg[i] : 0);
	gtu_dev_write(m->dev, GTU_BAR_REGS, GTU_REG_MBOX_CMD, 4, command);
	status = (uint32_t)gtu_dev_read(m->dev, GTU_BAR_REGS, GTU_REG_MBOX_STATUS, 4);
	if (status)
		return gtu_fail(err, GTU_ERR_FAIL, "the device refused mailbox command %u: %s", command,
				status < sizeof(why) / sizeof(*why) ? why[status] : "unknown reason");
	return 0;
}

static bool is_wide(uint32_t offset)
{
	const uint32_t reg = offset & (GTU_PAGE - 1), unit = offset / GTU_PAGE - 1;
	const struct gtu_register_row *r;

	if (offset >= GTU_PAGE && reg >= GTU_UREG_OWN && unit < GTU_UNIT_COUNT && gtu_unit_table[unit].block) {
		for (r = gtu_unit_table[unit].registers; r->name; r++)
			if (r->offset == (reg - GTU_UREG_OWN) % gtu_unit_table[unit].block_stride)
				return r->bytes == 8;
		return false;
	}
	if (offset >= GTU_PAGE)
		return reg >= GTU_UREG_COUNTER(0);
	return reg == GTU_REG_CAPS || reg == GTU_REG_CLOCK_HZ || reg == GTU_REG_CYCLES ||
	       reg == GTU_REG_APERTURE_SIZE || reg == GTU_REG_CYCLE_LIMIT;
}

static int model_read(struct gtu_device *dev, uint32_t offset, uint64_t *value, struct gtu_error *err)
{
	struct model *m = dev->backend;

	(void)err;
	pthread_mutex_lock(&m->lock);
	*value = gtu_dev_read(m->dev, GTU_BAR_REGS, offset, is_wide(offset) ? 8 : 4);
	pthread_mutex_unlock(&m->lock);
	return 0;
}

static int model_write(struct gtu_device *dev, uint32_t offset, uint32_t value, struct gtu_error *err)
{
	struct model *m = dev->backend;

	(void)err;
	pthread_mutex_lock(&m->lock);
	gtu_dev_write(m->dev, GTU_BAR_REGS, offset, 4, value);
	pthread_mutex_unlock(&m->lock);
	return 0;
}

/* ---- Open, close ------------------------------------------------------------------------------- */

static void model_close(struct gtu_device *dev)
{
	struct model *m = dev->backend;

	if (!m)
		return;
	gtu_dev_destroy(m->dev);
	pthread_cond_destroy(&m->changed);
	pthread_mutex_destroy(&m->alloc_lock);
	pthread_mutex_destroy(&m->lock);
	free(m->table);
	if (m->aperture)
		munmap(m->aperture, m->aperture_bytes);
	free(m);
	dev->backend = NULL;
}

/* Give the device an aperture in pages of this process. A size that the device refuses gets none. */
static int map_aperture(struct model *m, struct gtu_dev_config *config, struct gtu_error *err)
{
	const struct gtu_parameter *p = gtu_device_parameters;
	uint64_t bytes;

	while (strcmp(p->key, "aperture_bytes"))
		p++;
	bytes = gtu_dev_value(config, p) ? gtu_dev_value(config, p) : p->value;
	if (!gtu_parameter_takes(p, bytes))
		return 0;
	m->aperture = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (m->aperture == MAP_FAILED) {
		m->aperture = NULL;
		return gtu_fail(err, GTU_ERR_NOMEM, "out of memory for an aperture of %llu bytes: %s",
				(unsigned long long)bytes, strerror(errno));
	}
	m->aperture_bytes = bytes;
	config->aperture = m->aperture;
	return 0;
}

static int model_open(struct gtu_device *dev, const char *name, struct gtu_error *err)
{
	struct gtu_dev_config config = { 0 };
	const char *why = NULL;
	pthread_condattr_t clock;
	uint32_t length, crc;
	void *blob = NULL;
	struct model *m;
	uint64_t arg[4];
	int rc;

	rc = gtu_model_config(name, &config, err);
	if (rc)
		return rc;
	m = calloc(1, sizeof(*m));
	if (!m)
		return gtu_fail(err, GTU_ERR_NOMEM, "out of memory for the device model");
	dev->backend = m;
	pthread_mutex_init(&m->lock, NULL);
	pthread_mutex_init(&m->alloc_lock, NULL);
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(&m->changed, &clock);
	pthread_condattr_destroy(&clock);
	rc = map_aperture(m, &config, err);
	if (rc)
		goto fail;
	m->table = aligned_alloc(64, sizeof(*m->table) << TABLE_LOG2);
	m->dev = gtu_dev_create(&config, &host_ops, m, &why);
	if (!m->table || !m->dev) {
		/* an error in a parameter starts with its name: "scu_width is 65: it must be ..." */
		rc = gtu_fail(err, why && strchr(why, ':') ? GTU_ERR_USAGE : GTU_ERR_NOMEM,
			      "cannot build the device model as \"%s\": %s", name,
			      why ? why : "out of memory");
		goto fail;
	}
	memset(m->table, 0, sizeof(*m->table) << TABLE_LOG2);
	rc = gtu_device_take_info(dev, err);
	if (rc)
		goto fail;
	length = (uint32_t)gtu_dev_read(m->dev, GTU_BAR_REGS, GTU_REG_FDT_LENGTH, 4);
	crc = (uint32_t)gtu_dev_read(m->dev, GTU_BAR_REGS, GTU_REG_FDT_CRC, 4);
	blob = calloc(1, length + 4);
	for (uint32_t i = 0; blob && i < length; i += 4)
		((uint32_t *)blob)[i / 4] = (uint32_t)gtu_dev_read(m->dev, GTU_BAR_REGS, GTU_FDT_WINDOW + i, 4);
	rc = blob ? gtu_device_take_fdt(dev, blob, length, crc, err) :
		    gtu_fail(err, GTU_ERR_NOMEM, "out of memory for the device tree");
	free(blob);
	if (rc)
		goto fail;
	arg[0] = 0;
	arg[1] = (uintptr_t)m->table;
	arg[2] = TABLE_LOG2 < dev->info.max_regions_log2 ? TABLE_LOG2 : dev->info.max_regions_log2;
	arg[3] = 1;
	rc = mailbox(m, GTU_MBOX_CTX_ENABLE, arg, 4, err);
	if (!rc)
		return 0;
fail:
	model_close(dev);
	return rc;
}

/* ---- Regions ----------------------------------------------------------------------------------- */

static int add_region(struct gtu_device *dev, uint64_t at, uint64_t length, uint32_t flags,
		      uint32_t *key, struct gtu_error *err)
{
	struct model *m = dev->backend;
	const uint32_t slots = 1u << (TABLE_LOG2 < dev->info.max_regions_log2 ?
					      TABLE_LOG2 : dev->info.max_regions_log2);
	struct gtu_hw_region *r;
	uint32_t i, slot;

	pthread_mutex_lock(&m->lock);
	for (i = 0; i < slots; i++) {
		slot = (m->next_slot + i) % slots;
		if (!(m->table[slot].flags & GTU_REGION_VALID) && m->generation[slot] < UINT16_MAX)
			break;
	}
	if (i == slots) {
		pthread_mutex_unlock(&m->lock);
		return gtu_fail(err, GTU_ERR_NOMEM, "all %u regions of the context are in use", slots);
	}
	m->next_slot = slot + 1;
	m->generation[slot]++;
	r = &m->table[slot];
	*r = (struct gtu_hw_region){
		.key = GTU_KEY(m->generation[slot], slot),
		.length = length,
		.base = at & ~(uint64_t)4095,
		.offset = at & 4095,
		.flags = GTU_REGION_VALID | 12u << GTU_REGION_PAGE_SHIFT | flags,
	};
	*key = r->key;
	pthread_mutex_unlock(&m->lock);
	return 0;
}

static uint32_t flags_of(uint32_t rights)
{
	return (rights & GTU_READ ? GTU_REGION_READ : 0) | (rights & GTU_WRITE ? GTU_REGION_WRITE : 0);
}

static int model_region_add(struct gtu_device *dev, void *addr, uint64_t length, uint32_t rights,
			    uint32_t *key, struct gtu_error *err)
{
	return add_region(dev, (uintptr_t)addr, length, flags_of(rights), key, err);
}

/* The end of the aperture region that overlaps @bytes from @at, or 0. Caller holds the lock. */
static uint64_t taken_until(const struct model *m, uint64_t at, uint64_t bytes)
{
	const struct gtu_hw_region *r;

	for (r = m->table; r < m->table + (1u << TABLE_LOG2); r++) {
		const uint64_t end = r->base + ((r->length + 4095) & ~4095ull);

		if (r->flags & GTU_REGION_VALID && r->flags & GTU_REGION_APERTURE && at < end && at + bytes > r->base)
			return end;
	}
	return 0;
}

/* First fit, in pages. */
static int aperture_alloc(struct gtu_device *dev, uint64_t length, uint32_t rights, void **addr,
			  uint32_t *key, struct gtu_error *err)
{
	struct model *m = dev->backend;
	uint64_t at = 0, next;
	int rc;

	pthread_mutex_lock(&m->alloc_lock);
	pthread_mutex_lock(&m->lock);
	while (length <= m->aperture_bytes && at <= m->aperture_bytes - length && (next = taken_until(m, at, length)))
		at = next;
	pthread_mutex_unlock(&m->lock);
	if (length > m->aperture_bytes || at > m->aperture_bytes - length)
		rc = gtu_fail(err, GTU_ERR_NOMEM, "no contiguous range of %llu bytes is free in the aperture of %llu bytes: "
			      "aperture_bytes of \"model:aperture_bytes=...\" is its size", (unsigned long long)length,
			      (unsigned long long)m->aperture_bytes);
	else
		rc = add_region(dev, at, length, GTU_REGION_APERTURE | flags_of(rights), key, err);
	pthread_mutex_unlock(&m->alloc_lock);
	if (rc)
		return rc;
	*addr = m->aperture + at;
	memset(*addr, 0, length);
	return 0;
}

static int model_region_remove(struct gtu_device *dev, uint32_t key, struct gtu_error *err)
{
	struct model *m = dev->backend;
	const uint32_t slot = GTU_KEY_SLOT(key);
	const uint64_t arg[2] = { 0, slot };
	int rc;

	if (slot >= 1u << TABLE_LOG2 || m->table[slot].key != key ||
	    !(m->table[slot].flags & GTU_REGION_VALID))
		return gtu_fail(err, GTU_ERR_USAGE, "no region has key 0x%08x", key);
	pthread_mutex_lock(&m->lock);
	m->table[slot].flags = 0;
	rc = mailbox(m, GTU_MBOX_INVALIDATE, arg, 2, err);
	pthread_mutex_unlock(&m->lock);
	return rc;
}

static int model_region_alloc(struct gtu_device *dev, uint64_t length, uint32_t rights, bool aperture,
			      void **addr, uint32_t *key, struct gtu_error *err)
{
	int rc;

	if (aperture)
		return aperture_alloc(dev, length, rights, addr, key, err);
	*addr = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (*addr == MAP_FAILED)
		return gtu_fail(err, GTU_ERR_NOMEM, "out of memory for a region of %llu bytes: %s",
				(unsigned long long)length, strerror(errno));
	rc = model_region_add(dev, *addr, length, rights, key, err);
	if (rc)
		munmap(*addr, length);
	return rc;
}

static int model_region_free(struct gtu_device *dev, void *addr, uint64_t length, uint32_t key,
			     struct gtu_error *err)
{
	const struct model *m = dev->backend;
	const bool in_aperture = m->aperture && (uint8_t *)addr >= m->aperture && (uint8_t *)addr < m->aperture + m->aperture_bytes;
	int rc = model_region_remove(dev, key, err);

	if (!rc && !in_aperture)
		munmap(addr, length);
	return rc;
}

/* ---- Queues ------------------------------------------------------------------------------------ */

static int model_queue_create(struct gtu_device *dev, struct gtu_rings *r, struct gtu_error *err)
{
	struct model *m = dev->backend;
	uint64_t arg[GTU_MBOX_ARGS];
	uint32_t id, limit = dev->info.max_queues;
	int rc;

	pthread_mutex_lock(&m->lock);
	if (limit > sizeof(m->queue_used))
		limit = sizeof(m->queue_used);
	for (id = 0; id < limit && m->queue_used[id]; id++)
		;
	if (id == limit) {
		pthread_mutex_unlock(&m->lock);
		return gtu_fail(err, GTU_ERR_NOMEM, "all %u queues of the device are in use", limit);
	}
	r->sq = aligned_alloc(4096, (GTU_SQ_BYTES(r->sq_log2) + 4095) & ~4095ull);
	r->cq = aligned_alloc(4096, (GTU_CQ_BYTES(r->cq_log2) + 4095) & ~4095ull);
	if (!r->sq || !r->cq) {
		rc = gtu_fail(err, GTU_ERR_NOMEM, "out of memory for rings of 2^%u and 2^%u "
			      "entries", r->sq_log2,
			      r->cq_log2);
		goto fail;
	}
	memset(r->sq, 0, GTU_SQ_BYTES(r->sq_log2));
	memset(r->cq, 0, GTU_CQ_BYTES(r->cq_log2));
	arg[0] = id;
	arg[1] = 0;
	arg[2] = (uintptr_t)r->sq;
	arg[3] = (uintptr_t)r->cq;
	arg[4] = r->sq_log2 | r->cq_log2 << 8;
	arg[5] = GTU_RING_NONE;
	rc = mailbox(m, GTU_MBOX_QUEUE_ENABLE, arg, 6, err);
	if (rc)
		goto fail;
	m->queue_used[id] = 1;
	r->id = id;
	r->status = (const struct gtu_hw_queue_status *)(r->cq + ((size_t)1 << r->cq_log2));
	r->doorbell = NULL;
	pthread_mutex_unlock(&m->lock);
	return 0;
fail:
	free(r->sq);
	free(r->cq);
	pthread_mutex_unlock(&m->lock);
	return rc;
}

static void model_queue_destroy(struct gtu_device *dev, struct gtu_rings *r)
{
	struct model *m = dev->backend;
	const uint64_t arg[1] = { r->id };

	pthread_mutex_lock(&m->lock);
	mailbox(m, GTU_MBOX_QUEUE_DISABLE, arg, 1, NULL);
	m->queue_used[r->id] = 0;
	pthread_mutex_unlock(&m->lock);
	free(r->sq);
	free(r->cq);
}

static int model_queue_reset(struct gtu_device *dev, struct gtu_rings *r, struct gtu_error *err)
{
	struct model *m = dev->backend;
	const uint64_t arg[1] = { r->id };
	int rc;

	pthread_mutex_lock(&m->lock);
	memset(r->cq, 0, GTU_CQ_BYTES(r->cq_log2));
	rc = mailbox(m, GTU_MBOX_QUEUE_RESET, arg, 1, err);
	pthread_mutex_unlock(&m->lock);
	return rc;
}

/* Wake sleeping threads to check their conditions. Called under the lock. */
static void wake(struct model *m)
{
	if (m->sleepers)
		pthread_cond_broadcast(&m->changed);
}

static int model_cancel(struct gtu_device *dev, struct gtu_rings *r, uint32_t until, struct gtu_error *err)
{
	struct model *m = dev->backend;
	const uint64_t arg[2] = { r->id, until };
	int rc;

	pthread_mutex_lock(&m->lock);
	rc = mailbox(m, GTU_MBOX_QUEUE_CANCEL, arg, 2, err);
	wake(m);
	pthread_mutex_unlock(&m->lock);
	return rc;
}

static void model_doorbell(struct gtu_device *dev, struct gtu_rings *r, uint32_t reg, uint64_t value)
{
	struct model *m = dev->backend;
	const uint64_t at = ((uint64_t)r->id << dev->info.doorbell_stride_log2) + reg;

	pthread_mutex_lock(&m->lock);
	gtu_dev_write(m->dev, GTU_BAR_DOORBELL, at, reg == GTU_DB_SUBMIT ? 8 : 4, value);
	wake(m);
	pthread_mutex_unlock(&m->lock);
}

/*
 * Wait for another thread (a stream's consumer, another queue). Called under the lock; device time
 * advances.
 */
static void sleep_until_changed(struct gtu_device *dev, uint64_t deadline_ns)
{
	struct model *m = dev->backend;
	uint64_t start = gtu_now_ns(), until = start + NAP_NS, now;
	struct timespec t;

	until = until < deadline_ns ? until : deadline_ns;
	t.tv_sec = (time_t)(until / 1000000000u);
	t.tv_nsec = (long)(until % 1000000000u);
	m->sleepers++;
	pthread_cond_timedwait(&m->changed, &m->lock, &t);
	m->sleepers--;
	now = gtu_now_ns();
	/* threads may sleep at the same time: count the time once */
	start = start > m->idle_reported ? start : m->idle_reported;
	if (now > start)
		gtu_dev_idle(m->dev, (now - start) * (dev->info.clock_hz / 1000000) / 1000);
	m->idle_reported = now;
}

static int model_wait(struct gtu_device *dev, struct gtu_rings *r, uint32_t cq_index,
		      const struct gtu_record_wait *stream, uint64_t deadline_ns, struct gtu_error *err)
{
	struct model *m = dev->backend;
	bool could, more, there;
	int rc = 0;

	/* Return after each step with progress, so that a stream's consumer can check its ring. */
	pthread_mutex_lock(&m->lock);
	for (;;) {
		could = gtu_dev_pending(m->dev);
		more = gtu_dev_step(m->dev, STEP_CYCLES);
		if (could)
			wake(m);
		there = gtu_completed(r, cq_index) || (stream && gtu_recorded(stream));
		/* in error: the caller checks the state */
		if (there || __atomic_load_n(&r->status->state, __ATOMIC_ACQUIRE) != GTU_QUEUE_ENABLED)
			break;
		if (deadline_ns != UINT64_MAX && gtu_now_ns() >= deadline_ns) {
			rc = gtu_fail(err, GTU_ERR_TIMEOUT, "the job is not done yet");
			break;
		}
		if (stream && could)
			break;
		if (!more)
			sleep_until_changed(dev, deadline_ns);
		if (!more && stream)
			break;
		/* let other threads use the device */
		pthread_mutex_unlock(&m->lock);
		pthread_mutex_lock(&m->lock);
	}
	pthread_mutex_unlock(&m->lock);
	return rc;
}

const struct gtu_backend_ops gtu_backend_model = {
	.name = "model",
	.open = model_open,
	.close = model_close,
	.region_add = model_region_add,
	.region_remove = model_region_remove,
	.region_alloc = model_region_alloc,
	.region_free = model_region_free,
	.queue_create = model_queue_create,
	.queue_destroy = model_queue_destroy,
	.queue_reset = model_queue_reset,
	.doorbell = model_doorbell,
	.cancel = model_cancel,
	.wait = model_wait,
	.read = model_read,
	.write = model_write,
};
