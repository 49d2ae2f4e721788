/* SPDX-License-Identifier: MIT */
/* Internal interface between gtu_qemu.c (exclusion, thread, regions) and gtu_qemu_memory.c. */
#ifndef GTU_QEMU_CORE_H
#define GTU_QEMU_CORE_H

#include "gtu_qemu.h"

/*
 * Wait until no step runs; until gtu_qemu_leave() only the caller may call the model. Requires the
 * big lock. Returns false if a caller further up on this stack is calling an IOMMU.
 */
bool gtu_qemu_enter(struct gtu_qemu *g);
void gtu_qemu_leave(struct gtu_qemu *g);

/*
 * Make a change to memory or the device while no step runs: now, or, if an IOMMU is being called
 * further up on this stack, after that call. The change is copied.
 */
void gtu_qemu_change(struct gtu_qemu *g, const struct gtu_qemu_change *change);
/* Apply deferred changes. */
void gtu_qemu_apply_deferred(struct gtu_qemu *g);

/* ---- gtu_qemu_memory.c ---- */

/* Memory for the model: gtu_host_ops.dma. */
void *gtu_qemu_dma(void *host, uint64_t addr, uint64_t *len, bool write);
/*
 * Report the model's writes to QEMU, which must drop translated code of that memory and log the
 * changes.
 */
void gtu_qemu_flush_written(struct gtu_qemu *g);
/*
 * Serve the thread's request for a translation. Requires the big lock and `lock`, which is released
 * meanwhile.
 */
void gtu_qemu_serve(struct gtu_qemu *g);
/* Change the memory map; no step may be running. */
void gtu_qemu_change_memory(struct gtu_qemu *g, const struct gtu_qemu_change *change);
/* Release `removed` regions and free the array, under the big lock only. */
void gtu_qemu_release(GArray *removed);

void gtu_qemu_memory_start(struct gtu_qemu *g);
/* Start to follow QEMU's memory map. */
void gtu_qemu_memory_listen(struct gtu_qemu *g);
void gtu_qemu_memory_stop(struct gtu_qemu *g);
void gtu_qemu_memory_finalize(struct gtu_qemu *g);

#endif
