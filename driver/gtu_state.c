// SPDX-License-Identifier: GPL-2.0-only
/*
 * The state of a device as text: debugfs files in gtu/gtuN/ for root, and state
 * dumps as device coredumps. Reading has no side effects: no register that
 * changes, no counter snapshot. Shows descriptors, not the memory that they
 * name.
 */
#include <linux/debugfs.h>
#include <linux/devcoredump.h>
#include <linux/ratelimit.h>
#include <linux/seq_file.h>
#include <linux/vmalloc.h>

#include "gtu_drv.h"

#define GTU_SHOWN		8u	/* ring entries shown before and after the head */
#define GTU_DUMP_MAX		(8u << 20)

/*
 * Output: a seq_file, or the dump of @gtu.
 * @held: context whose lock the caller holds. If it is not NULL, other contexts
 * that are locked are skipped instead of waited for.
 */
struct gtu_text {
	struct seq_file *file;
	struct gtu_device *gtu;
	struct gtu_ctx *held;
};

static struct dentry *gtu_debugfs_root;

/*
 * Add a page to the dump. The caller may hold locks under which no allocation may
 * wait: if there is no page at once, the dump ends.
 */
static struct page *gtu_dump_page(struct gtu_device *gtu)
{
	struct page *page = gtu->dump_pages < GTU_DUMP_MAX >> PAGE_SHIFT ?
			    alloc_page(GFP_NOWAIT | __GFP_NOMEMALLOC | __GFP_NOWARN) : NULL;

	if (page) {
		list_add_tail(&page->lru, &gtu->dump);
		gtu->dump_pages++;
	} else {
		gtu->dump_full = true;
	}
	return page;
}

/* Append a line to the dump. It is in one page, of which page->private bytes are used. */
static __printf(2, 0) void gtu_dump_vprint(struct gtu_device *gtu, const char *format, va_list args)
{
	struct page *page = NULL;
	size_t used = PAGE_SIZE;
	va_list again;
	int n = 0;

	if (gtu->dump_full)
		return;
	va_copy(again, args);
	if (!list_empty(&gtu->dump)) {
		page = list_last_entry(&gtu->dump, struct page, lru);
		used = page_private(page);
		n = vsnprintf(page_address(page) + used, PAGE_SIZE - used, format, args);
	}
	if (used + n >= PAGE_SIZE) {
		page = gtu_dump_page(gtu);
		used = 0;
		n = page ? vscnprintf(page_address(page), PAGE_SIZE, format, again) : 0;
	}
	va_end(again);
	if (page)
		set_page_private(page, used + n);
}

static __printf(2, 3) void gtu_print(struct gtu_text *t, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	if (t->file)
		seq_vprintf(t->file, format, args);
	else
		gtu_dump_vprint(t->gtu, format, args);
	va_end(args);
}

static void gtu_each_ctx(struct gtu_text *t, struct gtu_device *gtu,
			 void (*print)(struct gtu_text *t, struct gtu_ctx *ctx))
{
	struct gtu_ctx *held = t->held;
	struct gtu_ctx *ctx;
	bool locked;
	u64 client = 0;

	while ((ctx = gtu_ctx_next(gtu, client))) {
		client = ctx->client;
		if (!held)
			mutex_lock(&ctx->lock);
		locked = ctx == held || !held || mutex_trylock(&ctx->lock);
		if (!locked)
			gtu_print(t, "context %u: busy, not shown\n", ctx->id);
		else if (!ctx->torn_down || ctx == held)
			print(t, ctx);
		if (locked && ctx != held)
			mutex_unlock(&ctx->lock);
		gtu_ctx_put(ctx);
		cond_resched();
	}
}

static void gtu_print_register(struct gtu_text *t, struct gtu_device *gtu, const char *unit,
			       const struct gtu_field *f)
{
	u64 value = f->bytes == 8 ? readq(gtu->regs + f->offset) : readl(gtu->regs + f->offset);

	gtu_print(t, "%#06x %s%s%s %#llx\n", f->offset, unit, *unit ? "." : "", f->name, value);
}

static void gtu_print_own_registers(struct gtu_text *t, struct gtu_device *gtu)
{
	const struct gtu_field *f;
	unsigned int unit, i;

	for (f = gtu_own_fields; f < gtu_own_fields + GTU_OWN_FIELDS; f++) {
		unit = gtu_field_unit(f);
		for (i = 0; gtu->units & BIT(unit) && i < gtu_unit_blocks(gtu, unit); i++) {
			u32 offset = f->offset + i * gtu_blocks[unit].stride;
			u64 value = f->bytes == 8 ? readq(gtu->regs + offset) :
						    readl(gtu->regs + offset);

			gtu_print(t, "%#06x %s.%s[%u] %#llx\n", offset, gtu_unit_names[unit],
				  f->name, i, value);
		}
	}
}

static void gtu_print_registers(struct gtu_text *t, struct gtu_device *gtu)
{
	const struct gtu_field *f;

	/*
	 * The lock keeps both halves of a 64-bit register consistent. Not
	 * gtu_mbox_lock(): see gtu_force_quiesce().
	 */
	mutex_lock(&gtu->mbox_lock);
	if (!gtu->epoch || readl(gtu->regs + GTU_REG_MAGIC) != GTU_MAGIC) {
		gtu_print(t, "device does not respond\n");
		goto out;
	}
	for (f = gtu_globals; f < gtu_globals + GTU_GLOBALS; f++)
		gtu_print_register(t, gtu, "", f);
	for (f = gtu_fields; f < gtu_fields + GTU_FIELDS; f++)
		if (gtu->units & BIT(gtu_field_unit(f)))
			gtu_print_register(t, gtu, gtu_unit_names[gtu_field_unit(f)], f);
	gtu_print_own_registers(t, gtu);
out:
	mutex_unlock(&gtu->mbox_lock);
}

static void gtu_print_descriptor(struct gtu_text *t, const struct gtu_hw_desc *at, u32 index)
{
	const struct gtu_hw_operand *o;
	struct gtu_hw_desc d;

	/* user space may write to the ring concurrently */
	memcpy(&d, at, sizeof(d));
	gtu_print(t, "    job %u: %s (%#x) flags %#x param %#x param2 %#x imm %#llx cookie %#llx limit %u\n",
		  index, gtu_opcode_name(d.opcode), d.opcode, le16_to_cpu(d.flags),
		  le32_to_cpu(d.param), le32_to_cpu(d.param2), le64_to_cpu(d.imm),
		  le64_to_cpu(d.cookie), le32_to_cpu(d.limit));
	for (o = d.operand; o < d.operand + GTU_DESC_OPERANDS; o++)
		if (o->key)
			gtu_print(t, "      operand %d: key %#x offset %#llx count %u\n",
				  (int)(o - d.operand), le32_to_cpu(o->key),
				  le64_to_cpu(o->offset), le32_to_cpu(o->count));
}

static void gtu_print_completion(struct gtu_text *t, const struct gtu_hw_cpl *c, u32 index)
{
	gtu_print(t, "    completion %u: job %u %s (%u) operand %u element %llu count %llu needed %llu cycles %llu cookie %#llx phase %u\n",
		  index, le32_to_cpu(c->sq_index), gtu_cpl_name(le16_to_cpu(c->status)),
		  le16_to_cpu(c->status), c->operand, le64_to_cpu(c->element),
		  le64_to_cpu(c->count), le64_to_cpu(c->needed), le64_to_cpu(c->cycles),
		  le64_to_cpu(c->cookie), le16_to_cpu(c->phase));
}

static void gtu_print_queue(struct gtu_text *t, struct gtu_queue *q)
{
	u32 head = le32_to_cpu(READ_ONCE(q->status->sq_head));
	u32 tail = le32_to_cpu(READ_ONCE(q->status->cq_tail));
	u32 state = le32_to_cpu(READ_ONCE(q->status->state));
	u32 sq = 1u << q->sq_log2, cq = 1u << q->cq_log2, i;
	const struct gtu_hw_desc *desc = q->sq.cpu;
	const struct gtu_hw_cpl *cpl = q->cq.cpu;
	u32 armed, arm_index, events, resets;
	bool eventfd;

	spin_lock_irq(&q->wait_lock);
	armed = q->armed;
	arm_index = q->arm_index;
	events = q->events;
	resets = q->resets;
	eventfd = q->eventfd;
	spin_unlock_irq(&q->wait_lock);
	gtu_print(t, "  queue %u: %s (%u) epoch %u sq_head %u of %u entries at %pad, cq_tail %u of %u at %pad, event ring %u\n",
		  q->id, gtu_queue_state_name(state), state, le32_to_cpu(q->status->epoch), head,
		  sq, &q->sq.dma, tail, cq, &q->cq.dma, q->event_ring);
	gtu_print(t, "    waiters %d, events %u, resets %u, eventfd %d, armed %u at %u\n",
		  atomic_read(&q->waiters), events, resets, eventfd, armed, arm_index);
	for (i = head - min(GTU_SHOWN, min(sq / 2, head)); i != head + min(GTU_SHOWN, sq / 2); i++)
		gtu_print_descriptor(t, &desc[i & (sq - 1)], i);
	for (i = tail - min(GTU_SHOWN, min(cq, tail)); i != tail; i++)
		gtu_print_completion(t, &cpl[i & (cq - 1)], i);
}

static void gtu_print_queues(struct gtu_text *t, struct gtu_ctx *ctx)
{
	struct gtu_queue *q;
	unsigned long id;

	gtu_print(t, "context %u\n", ctx->id);
	xa_for_each(&ctx->queue, id, q)
		gtu_print_queue(t, q);
}

static void gtu_print_context(struct gtu_text *t, struct gtu_ctx *ctx)
{
	gtu_print(t, "context %u: pid %d (%s) epoch %u%s, %u queues, %u region slots taken of %u, %ld chunks, table at %pad\n",
		  ctx->id, ctx->pid, ctx->comm, ctx->epoch, gtu_ctx_dead(ctx) ? " (dead)" : "",
		  ctx->queues, bitmap_weight(ctx->used, ctx->slots), ctx->slots,
		  atomic_long_read(&ctx->chunks), &ctx->table_dma);
}

static const char *gtu_region_kind(const struct gtu_region *r)
{
	return r->mm ? "of user space" : r->buffer ? "of the driver" : r->extent ? "of the device" :
	       "of a dma-buf";
}

static void gtu_print_regions(struct gtu_text *t, struct gtu_ctx *ctx)
{
	u32 slot, flags;

	gtu_print(t, "context %u\n", ctx->id);
	for (slot = 0; slot < ctx->slots; slot++) {
		const struct gtu_hw_region *e = &ctx->table[slot];
		const struct gtu_region *r = ctx->region[slot];

		if (!r)
			continue;
		flags = le32_to_cpu(READ_ONCE(e->flags));
		gtu_print(t, "  key %#x: %s%s%s%s, %llu bytes, %lu pages %s, %u levels of 2^%u, base %#llx + %llu\n",
			  r->key, flags & GTU_REGION_VALID ? "" : "revoked ",
			  flags & GTU_REGION_READ ? "r" : "-",
			  flags & GTU_REGION_WRITE ? "w" : "-",
			  flags & GTU_REGION_APERTURE ? " aperture" : "", r->length, r->pages,
			  gtu_region_kind(r),
			  flags >> GTU_REGION_LEVELS_SHIFT & GTU_REGION_LEVELS_MASK,
			  flags >> GTU_REGION_PAGE_SHIFT & GTU_REGION_PAGE_MASK,
			  le64_to_cpu(e->base), le64_to_cpu(e->offset));
	}
}

static void gtu_print_events(struct gtu_text *t, struct gtu_device *gtu)
{
	unsigned int i, n;

	for (i = 0; i < gtu->vectors; i++) {
		struct gtu_vector *v = &gtu->vector[i];
		u32 head, word;

		gtu_print(t, "vector %u: irq %d%s\n", i, v->irq, v->errors ? ", errors" : "");
		if (!v->has_ring)
			continue;
		spin_lock_irq(&v->lock);
		head = v->head;
		spin_unlock_irq(&v->lock);
		gtu_print(t, "  ring %u at %pad: head %u\n", v->ring, &v->event_dma, head);
		for (n = min(GTU_SHOWN, head); n; n--) {
			word = le32_to_cpu(READ_ONCE(v->event[(head - n) & (GTU_EVENTS - 1)]));
			gtu_print(t, "    event %u: queue %u%s\n", head - n,
				  (u32)(word & GTU_EVENT_QUEUE_MASK),
				  word & GTU_EVENT_ERROR ? " error" : "");
		}
	}
}

static const struct gtu_part {
	const char *name;
	void (*device)(struct gtu_text *t, struct gtu_device *gtu);
	void (*ctx)(struct gtu_text *t, struct gtu_ctx *ctx);
} gtu_parts[] = {
	{ "registers", .device = gtu_print_registers },
	{ "contexts", .ctx = gtu_print_context },
	{ "queues", .ctx = gtu_print_queues },
	{ "regions", .ctx = gtu_print_regions },
	{ "events", .device = gtu_print_events },
};

static void gtu_print_part(struct gtu_text *t, struct gtu_device *gtu, const struct gtu_part *part)
{
	if (part->device)
		part->device(t, gtu);
	else
		gtu_each_ctx(t, gtu, part->ctx);
}

static void gtu_print_all(struct gtu_text *t, struct gtu_device *gtu)
{
	const struct gtu_part *part;

	gtu_print(t, "%s: %s, epoch %u, jiffies %lu\n", dev_name(&gtu->dev),
		  gtu_state_name(gtu), READ_ONCE(gtu->epoch), jiffies);
	for (part = gtu_parts; part < gtu_parts + ARRAY_SIZE(gtu_parts); part++) {
		gtu_print(t, "\n[%s]\n", part->name);
		gtu_print_part(t, gtu, part);
	}
}

/* The file is named after its part; "dump" has all parts. */
static int gtu_debugfs_show(struct seq_file *file, void *unused)
{
	const char *name = file_dentry(file->file)->d_name.name;
	struct gtu_device *gtu = file->private;
	struct gtu_text t = { .file = file };
	unsigned int i;
	int idx;

	idx = srcu_read_lock(&gtu->srcu);
	for (i = 0; i < ARRAY_SIZE(gtu_parts) && strcmp(gtu_parts[i].name, name); i++)
		;
	if (i < ARRAY_SIZE(gtu_parts))
		gtu_print_part(&t, gtu, &gtu_parts[i]);
	else
		gtu_print_all(&t, gtu);
	srcu_read_unlock(&gtu->srcu, idx);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(gtu_debugfs);

/**
 * gtu_debugfs_add() - create the debugfs files of a device
 * @gtu: the device
 */
void gtu_debugfs_add(struct gtu_device *gtu)
{
	struct dentry *dir = debugfs_create_dir(dev_name(&gtu->dev), gtu_debugfs_root);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(gtu_parts); i++)
		debugfs_create_file(gtu_parts[i].name, 0400, dir, gtu, &gtu_debugfs_fops);
	debugfs_create_file("dump", 0400, dir, gtu, &gtu_debugfs_fops);
	gtu->debugfs = dir;
}

/**
 * gtu_debugfs_remove() - remove the debugfs files of a device
 * @gtu: the device
 *
 * Waits for readers.
 */
void gtu_debugfs_remove(struct gtu_device *gtu)
{
	debugfs_remove_recursive(gtu->debugfs);
}

/**
 * gtu_debugfs_init() - create the driver's debugfs folder
 */
void gtu_debugfs_init(void)
{
	gtu_debugfs_root = debugfs_create_dir(GTU_NAME, NULL);
}

/**
 * gtu_debugfs_exit() - remove the driver's debugfs folder
 */
void gtu_debugfs_exit(void)
{
	debugfs_remove_recursive(gtu_debugfs_root);
}

/* Make a device coredump of the text that gtu_dump() wrote. */
static void gtu_dump_work(struct work_struct *work)
{
	struct gtu_device *gtu = container_of(work, struct gtu_device, dump_work);
	static const char cut[] = "(the rest is left out)\n";
	struct page *page, *next;
	size_t bytes = 0, most;
	LIST_HEAD(pages);
	char *text;
	bool full;

	mutex_lock(&gtu->dump_lock);
	list_splice_init(&gtu->dump, &pages);
	most = gtu->dump_pages * PAGE_SIZE + sizeof(cut);
	full = gtu->dump_full;
	gtu->dump_pages = 0;
	gtu->dump_full = false;
	mutex_unlock(&gtu->dump_lock);
	text = vmalloc(most);
	list_for_each_entry_safe(page, next, &pages, lru) {
		if (text)
			memcpy(text + bytes, page_address(page), page_private(page));
		bytes += page_private(page);
		list_del(&page->lru);
		set_page_private(page, 0);
		__free_page(page);
	}
	if (text && bytes && full) {
		memcpy(text + bytes, cut, sizeof(cut) - 1);
		bytes += sizeof(cut) - 1;
	}
	if (!bytes)
		vfree(text);
	/* takes ownership of the text */
	if (text && bytes)
		dev_coredumpv(gtu->parent, text, bytes, GFP_KERNEL);
}

/**
 * gtu_dump_init() - prepare state dumps
 * @gtu: the device
 */
void gtu_dump_init(struct gtu_device *gtu)
{
	mutex_init(&gtu->dump_lock);
	INIT_LIST_HEAD(&gtu->dump);
	INIT_WORK(&gtu->dump_work, gtu_dump_work);
}

/**
 * gtu_dump_finish() - wait for the device coredump of the last state dump
 * @gtu: the device, of which no other begins
 */
void gtu_dump_finish(struct gtu_device *gtu)
{
	flush_work(&gtu->dump_work);
}

/**
 * gtu_dump() - save the device's state as a device coredump
 * @gtu: the device
 * @held: context whose lock the caller holds, or NULL
 * @format: reason, as for printk()
 * @...: arguments of @format
 *
 * Writes one line to the log. The kernel keeps the dump for some minutes or
 * until it is written to, and takes no second one meanwhile. A work item hands
 * it to the kernel, because that allocates memory. The caller holds no other
 * lock of the driver than that of @held.
 */
void gtu_dump(struct gtu_device *gtu, struct gtu_ctx *held, const char *format, ...)
{
	struct gtu_text t = { .gtu = gtu, .held = held };
	char why[128];
	va_list args;
	bool kept;

	/* who resets the device waits for the text of another thread's dump */
	mutex_lock(&gtu->dump_lock);
	if (!__ratelimit(&gtu->dump_limit))
		goto out;
	va_start(args, format);
	vscnprintf(why, sizeof(why), format, args);
	va_end(args);
	kept = IS_ENABLED(CONFIG_DEV_COREDUMP) && list_empty(&gtu->dump);
	if (kept) {
		gtu_print(&t, "%s\n", why);
		gtu_print_all(&t, gtu);
		schedule_work(&gtu->dump_work);
	}
	dev_warn(gtu->parent, "%s%s\n", why, kept ? "; state dump in /sys/class/devcoredump" : "");
out:
	mutex_unlock(&gtu->dump_lock);
}
