/* SPDX-License-Identifier: MIT */
/* What gtu_qemu.c (turns, thread, regions, life) and gtu_qemu_memory.c know of each other. */
#ifndef GTU_QEMU_CORE_H
#define GTU_QEMU_CORE_H

#include "gtu_qemu.h"

/*
 * Under the big lock: from here to gtu_qemu_leave() the model is the caller's. False where it is somebody's further up on
 * this stack, who asks an IOMMU just now.
 */
bool gtu_qemu_enter(struct gtu_qemu *g);
void gtu_qemu_leave(struct gtu_qemu *g);

/*
 * Do something to memory or the device with the model's turn: now, or where an IOMMU is being asked further up on this
 * stack when that is done. The change is copied.
 */
void gtu_qemu_change(struct gtu_qemu *g, const struct gtu_qemu_change *change);
/* What came meanwhile. */
void gtu_qemu_catch_up(struct gtu_qemu *g);

/* ---- gtu_qemu_memory.c ---- */

/* Memory for the model: gtu_host_ops.dma. */
void *gtu_qemu_dma(void *host, uint64_t addr, uint64_t *len, bool write);
/* Writes went past QEMU: what it has translated of that memory is stale, and logs of changes want to know. */
void gtu_qemu_tell_written(struct gtu_qemu *g);
/* The thread waits for an IOMMU's answer. Under the big lock and `lock`, which is let go of meanwhile. */
void gtu_qemu_serve(struct gtu_qemu *g);
/* A change of memory, with the turn. */
void gtu_qemu_change_memory(struct gtu_qemu *g, const struct gtu_qemu_change *change);
/* Let go of `gone`, with no lock but the big one; it is freed. */
void gtu_qemu_let_go(GArray *gone);

void gtu_qemu_memory_start(struct gtu_qemu *g);
/* From now on what QEMU adds is there. */
void gtu_qemu_memory_listen(struct gtu_qemu *g);
void gtu_qemu_memory_stop(struct gtu_qemu *g);
void gtu_qemu_memory_finalize(struct gtu_qemu *g);

#endif
