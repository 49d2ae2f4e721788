// SPDX-License-Identifier: GPL-2.0-only
/*
 * Region table of a context: keys, publication and revocation. A key is
 * generation << 16 | slot. A slot whose generations are used up is retired, so
 * a key is never reused.
 */
#include <linux/nospec.h>
#include <linux/slab.h>

#include "gtu_drv.h"
#include "gtu_trace.h"

static u32 gtu_key_slot(u32 key)
{
	return key & 0xffff;
}

/*
 * Allocate a slot, avoiding the one freed last. Returns -ENOSPC if the table is
 * full.
 */
static int gtu_slot_alloc(struct gtu_ctx *ctx)
{
	u32 slot;

	lockdep_assert_held(&ctx->lock);
	slot = find_next_zero_bit(ctx->used, ctx->slots, ctx->next_slot);
	if (slot >= ctx->slots)
		slot = find_first_zero_bit(ctx->used, ctx->slots);
	if (slot >= ctx->slots)
		return -ENOSPC;
	__set_bit(slot, ctx->used);
	ctx->next_slot = (slot + 1) % ctx->slots;
	return slot;
}

static void gtu_slot_free(struct gtu_ctx *ctx, u32 slot)
{
	lockdep_assert_held(&ctx->lock);
	if (!ctx->region[slot]->extent)
		atomic_long_sub(ctx->region[slot]->pages, &ctx->memory_pages);
	spin_lock(&ctx->region_lock);
	ctx->region[slot] = NULL;
	spin_unlock(&ctx->region_lock);
	if (ctx->generation[slot] != U16_MAX)
		__clear_bit(slot, ctx->used);
}

/* Write the table entry of @r. */
static void gtu_entry_set(struct gtu_ctx *ctx, struct gtu_region *r,
			  const struct gtu_hw_region *entry)
{
	struct gtu_hw_region *at = &ctx->table[gtu_key_slot(r->key)];
	u32 flags = le32_to_cpu(entry->flags) | GTU_REGION_VALID;

	if (r->rights & GTU_RIGHT_READ)
		flags |= GTU_REGION_READ;
	if (r->rights & GTU_RIGHT_WRITE)
		flags |= GTU_REGION_WRITE;
	at->length = cpu_to_le64(r->length);
	at->base = entry->base;
	at->offset = entry->offset;
	at->key = cpu_to_le32(r->key);
	/* The device may read the entry at any time: set VALID last. */
	dma_wmb();
	WRITE_ONCE(at->flags, cpu_to_le32(flags));
}

static int gtu_region_publish_held(struct gtu_ctx *ctx, struct gtu_region *r, u32 *key)
{
	struct gtu_hw_region entry = {};
	int slot, ret;

	ret = gtu_list_build(ctx, r, &entry);
	if (ret)
		return ret;
	ret = mutex_lock_killable(&ctx->lock);
	if (ret)
		return ret;
	ret = -ENODEV;
	if (ctx->torn_down || gtu_ctx_dead(ctx))
		goto out;
	slot = gtu_slot_alloc(ctx);
	if (slot < 0) {
		ret = slot;
		goto out;
	}
	ctx->generation[slot]++;
	r->key = (u32)ctx->generation[slot] << 16 | slot;
	spin_lock(&ctx->region_lock);
	ctx->region[slot] = r;
	spin_unlock(&ctx->region_lock);
	if (!r->extent)
		atomic_long_add(r->pages, &ctx->memory_pages);
	gtu_entry_set(ctx, r, &entry);
	trace_gtu_region_add(ctx, r->key, r->length, r->rights);
	*key = r->key;
	ret = 0;
out:
	mutex_unlock(&ctx->lock);
	return ret;
}

/**
 * gtu_region_publish() - publish a region to the device
 * @ctx: the context
 * @r: the region
 * @key: out: names the region
 *
 * On success the table owns @r. The caller must not use @r afterwards: a user
 * who guesses the key can remove it.
 *
 * Return: 0 or a negative errno
 */
int gtu_region_publish(struct gtu_ctx *ctx, struct gtu_region *r, u32 *key)
{
	bool moving = r->moving;
	struct gtu_region *held = r;
	int ret = moving ? gtu_import_hold(r) : 0;

	if (!ret) {
		ret = gtu_region_publish_held(ctx, r, key);
		if (moving)
			gtu_import_release(held);
	}
	return ret;
}

static struct gtu_region *gtu_slot_region(struct gtu_ctx *ctx, u32 slot)
{
	return slot < ctx->slots ? ctx->region[array_index_nospec(slot, ctx->slots)] : NULL;
}

/**
 * gtu_region_at() - the user's region in a slot
 * @ctx: the context
 * @slot: slot of the region table
 *
 * Called under ctx->lock or region_lock.
 *
 * Return: the region, or NULL
 */
struct gtu_region *gtu_region_at(struct gtu_ctx *ctx, u32 slot)
{
	struct gtu_region *r = gtu_slot_region(ctx, slot);

	return r && !r->internal ? r : NULL;
}

/**
 * gtu_region_find() - the region that a user names
 * @ctx: the context
 * @key: key of the region
 *
 * Called under ctx->lock.
 *
 * Return: the region, or NULL
 */
struct gtu_region *gtu_region_find(struct gtu_ctx *ctx, u32 key)
{
	struct gtu_region *r = gtu_region_at(ctx, gtu_key_slot(key));

	return r && r->key == key ? r : NULL;
}

static void gtu_entry_clear(struct gtu_ctx *ctx, u32 slot)
{
	WRITE_ONCE(ctx->table[slot].flags, 0);
	WRITE_ONCE(ctx->table[slot].key, 0);
	/* before GTU_MBOX_INVALIDATE */
	dma_wmb();
}

/*
 * Have the device confirm that no access through the cleared entry is in flight.
 * If a job still uses the region, stop the context's queues. Returns 0 or an error.
 */
static int gtu_slot_invalidate(struct gtu_ctx *ctx, u32 slot, u32 key)
{
	struct gtu_device *gtu = ctx->gtu;
	int ret = GTU_MBOX(ctx, GTU_MBOX_INVALIDATE, ctx->id, slot);

	if (ret == -EBUSY) {
		gtu_dump(gtu, ctx,
			 "the device still uses a region, its queues are stopped: context %u, key %#x",
			 ctx->id, key);
		gtu_queues_stop(ctx);
		ret = GTU_MBOX(ctx, GTU_MBOX_INVALIDATE, ctx->id, slot);
	}
	return ret;
}

/**
 * gtu_region_remove() - revoke a region
 * @ctx: the context
 * @key: key of the region
 * @internal: the region is of the driver, not of the user
 *
 * On a device that does not check accesses, first wait for jobs that name it.
 * Then clear the entry and have the device confirm that no access is in
 * flight.
 *
 * If it does not, escalate: stop the queues of the context, reset the device,
 * stop its DMA. If none of these can be shown to have worked, leak the pages.
 *
 * Return: 0 or a negative errno
 */
int gtu_region_remove(struct gtu_ctx *ctx, u32 key, bool internal)
{
	u32 slot = gtu_key_slot(key);
	struct gtu_region *r;
	bool quiesced = true;
	int ret;

	mutex_lock(&ctx->lock);
	r = ctx->torn_down ? NULL : gtu_slot_region(ctx, slot);
	if (!r || r->key != key || r->internal != internal || r->removing)
		ret = -ENOENT;
	else
		ret = gtu_submit_settle(ctx, r);
	if (ret && ret != -EIO) {
		mutex_unlock(&ctx->lock);
		return ret;
	}
	gtu_entry_clear(ctx, slot);
	if (!ret)
		ret = gtu_slot_invalidate(ctx, slot, key);
	if (ret) {
		quiesced = gtu_force_quiesce(ctx, "region invalidation failed");
		ret = -ENODEV;
	}
	trace_gtu_region_remove(ctx, key, ret);
	gtu_slot_free(ctx, slot);
	r->leaked = !quiesced;
	mutex_unlock(&ctx->lock);
	gtu_region_free(ctx, r, quiesced);
	return ret;
}

/**
 * gtu_region_retract() - take memory from the device, because its exporter moves it
 * @ctx: the context
 * @r: the region; its key stays, and jobs that name it end with GTU_CPL_KEY until
 *	gtu_region_restore()
 *
 * Return: whether the device certainly does not access the memory any more
 */
bool gtu_region_retract(struct gtu_ctx *ctx, struct gtu_region *r)
{
	u32 slot = gtu_key_slot(r->key);
	bool quiesced;

	mutex_lock(&ctx->lock);
	if (r->key && ctx->region[slot] == r) {
		gtu_entry_clear(ctx, slot);
		if (gtu_slot_invalidate(ctx, slot, r->key))
			r->leaked = !gtu_force_quiesce(ctx, "region invalidation failed");
	}
	quiesced = !r->leaked;
	mutex_unlock(&ctx->lock);
	return quiesced;
}

/**
 * gtu_region_restore() - give memory that was mapped again back to the device
 * @ctx: the context
 * @r: the region; nothing happens if its key is no longer valid
 *
 * Return: 0 or a negative errno
 */
int gtu_region_restore(struct gtu_ctx *ctx, struct gtu_region *r)
{
	struct gtu_hw_region entry = {};
	int ret = gtu_list_build(ctx, r, &entry);

	if (ret)
		return ret;
	mutex_lock(&ctx->lock);
	if (r->key && ctx->region[gtu_key_slot(r->key)] == r)
		gtu_entry_set(ctx, r, &entry);
	mutex_unlock(&ctx->lock);
	return 0;
}

/**
 * gtu_region_drop_all() - remove all regions
 * @ctx: the context
 * @quiesced: the device has dropped the context; otherwise it may still use
 *	them
 * @dropped: out: the regions, for the caller to free without ctx->lock
 */
void gtu_region_drop_all(struct gtu_ctx *ctx, bool quiesced, struct list_head *dropped)
{
	u32 slot;

	lockdep_assert_held(&ctx->lock);
	for (slot = 0; slot < ctx->slots; slot++) {
		struct gtu_region *r = ctx->region[slot];

		if (!r)
			continue;
		gtu_entry_clear(ctx, slot);
		gtu_slot_free(ctx, slot);
		r->leaked = !quiesced;
		list_add_tail(&r->link, dropped);
	}
}
