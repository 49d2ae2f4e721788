/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tracepoints. Each starts with the device number (gtuN) and, where there is
 * one, the context. Indices are free-running ring indices, so that a job can be
 * followed from submission to completion.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM gtu

#if !defined(GTU_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define GTU_TRACE_H

#include <linux/tracepoint.h>

#include "gtu_drv.h"

/*
 * Jobs @first to @first + @count - 1 were submitted by ioctl(SUBMIT). Jobs
 * submitted by doorbell are not traced.
 */
TRACE_EVENT(gtu_submit,
	TP_PROTO(struct gtu_queue *q, u32 first, u32 count),
	TP_ARGS(q, first, count),
	TP_STRUCT__entry(
		__field(int, dev)
		__field(u32, ctx)
		__field(u32, queue)
		__field(u32, first)
		__field(u32, count)
	),
	TP_fast_assign(
		__entry->dev = q->ctx->gtu->number;
		__entry->ctx = q->ctx->id;
		__entry->queue = q->id;
		__entry->first = first;
		__entry->count = count;
	),
	TP_printk("gtu%d ctx=%u queue=%u first=%u count=%u", __entry->dev, __entry->ctx,
		  __entry->queue, __entry->first, __entry->count)
);

/*
 * The device raised an event for a queue. Completions before @cq_tail are
 * written.
 */
TRACE_EVENT(gtu_event,
	TP_PROTO(struct gtu_queue *q, bool error),
	TP_ARGS(q, error),
	TP_STRUCT__entry(
		__field(int, dev)
		__field(u32, ctx)
		__field(u32, queue)
		__field(u32, cq_tail)
		__field(u32, sq_head)
		__field(u32, state)
		__field(bool, error)
	),
	TP_fast_assign(
		__entry->dev = q->ctx->gtu->number;
		__entry->ctx = q->ctx->id;
		__entry->queue = q->id;
		__entry->cq_tail = le32_to_cpu(READ_ONCE(q->status->cq_tail));
		__entry->sq_head = le32_to_cpu(READ_ONCE(q->status->sq_head));
		__entry->state = le32_to_cpu(READ_ONCE(q->status->state));
		__entry->error = error;
	),
	TP_printk("gtu%d ctx=%u queue=%u cq_tail=%u sq_head=%u state=%u%s", __entry->dev,
		  __entry->ctx, __entry->queue, __entry->cq_tail, __entry->sq_head,
		  __entry->state, __entry->error ? " error" : "")
);

TRACE_EVENT(gtu_interrupt,
	TP_PROTO(struct gtu_vector *v, unsigned int events),
	TP_ARGS(v, events),
	TP_STRUCT__entry(
		__field(int, dev)
		__field(int, irq)
		__field(u32, vector)
		__field(u32, events)
	),
	TP_fast_assign(
		__entry->dev = v->gtu->number;
		__entry->irq = v->irq;
		__entry->vector = v - v->gtu->vector;
		__entry->events = events;
	),
	TP_printk("gtu%d irq=%d vector=%u events=%u", __entry->dev, __entry->irq, __entry->vector,
		  __entry->events)
);

/* A reset has finished. @ret: 0, or the error that made the device unusable. */
TRACE_EVENT(gtu_reset,
	TP_PROTO(struct gtu_device *gtu, u32 before, int ret),
	TP_ARGS(gtu, before, ret),
	TP_STRUCT__entry(
		__field(int, dev)
		__field(u32, before)
		__field(u32, epoch)
		__field(int, ret)
	),
	TP_fast_assign(
		__entry->dev = gtu->number;
		__entry->before = before;
		__entry->epoch = gtu->epoch;
		__entry->ret = ret;
	),
	TP_printk("gtu%d epoch=%u before=%u ret=%d", __entry->dev, __entry->epoch,
		  __entry->before, __entry->ret)
);

DECLARE_EVENT_CLASS(gtu_pages,
	TP_PROTO(struct gtu_device *gtu, u64 pages, u32 rights),
	TP_ARGS(gtu, pages, rights),
	TP_STRUCT__entry(
		__field(int, dev)
		__field(u64, pages)
		__field(u32, rights)
	),
	TP_fast_assign(
		__entry->dev = gtu->number;
		__entry->pages = pages;
		__entry->rights = rights;
	),
	TP_printk("gtu%d pages=%llu rights=%s%s", __entry->dev, __entry->pages,
		  __entry->rights & GTU_RIGHT_READ ? "r" : "",
		  __entry->rights & GTU_RIGHT_WRITE ? "w" : "")
);

/* User pages were pinned and mapped for the device, or unpinned. */
DEFINE_EVENT(gtu_pages, gtu_pin,
	TP_PROTO(struct gtu_device *gtu, u64 pages, u32 rights),
	TP_ARGS(gtu, pages, rights)
);
DEFINE_EVENT(gtu_pages, gtu_unpin,
	TP_PROTO(struct gtu_device *gtu, u64 pages, u32 rights),
	TP_ARGS(gtu, pages, rights)
);

/* A region became accessible to the device. */
TRACE_EVENT(gtu_region_add,
	TP_PROTO(struct gtu_ctx *ctx, u32 key, u64 length, u32 rights),
	TP_ARGS(ctx, key, length, rights),
	TP_STRUCT__entry(
		__field(int, dev)
		__field(u32, ctx)
		__field(u32, key)
		__field(u32, rights)
		__field(u64, length)
	),
	TP_fast_assign(
		__entry->dev = ctx->gtu->number;
		__entry->ctx = ctx->id;
		__entry->key = key;
		__entry->rights = rights;
		__entry->length = length;
	),
	TP_printk("gtu%d ctx=%u key=%#x length=%llu rights=%s%s", __entry->dev, __entry->ctx,
		  __entry->key, __entry->length, __entry->rights & GTU_RIGHT_READ ? "r" : "",
		  __entry->rights & GTU_RIGHT_WRITE ? "w" : "")
);

/*
 * A region was removed. @ret: 0, or an error if the device had to be reset or
 * quiesced.
 */
TRACE_EVENT(gtu_region_remove,
	TP_PROTO(struct gtu_ctx *ctx, u32 key, int ret),
	TP_ARGS(ctx, key, ret),
	TP_STRUCT__entry(
		__field(int, dev)
		__field(u32, ctx)
		__field(u32, key)
		__field(int, ret)
	),
	TP_fast_assign(
		__entry->dev = ctx->gtu->number;
		__entry->ctx = ctx->id;
		__entry->key = key;
		__entry->ret = ret;
	),
	TP_printk("gtu%d ctx=%u key=%#x ret=%d", __entry->dev, __entry->ctx, __entry->key,
		  __entry->ret)
);

/* A wait for completion @index of a queue begins, or ends with @ret. */
TRACE_EVENT(gtu_wait_begin,
	TP_PROTO(struct gtu_queue *q, u32 index),
	TP_ARGS(q, index),
	TP_STRUCT__entry(
		__field(int, dev)
		__field(u32, ctx)
		__field(u32, queue)
		__field(u32, index)
	),
	TP_fast_assign(
		__entry->dev = q->ctx->gtu->number;
		__entry->ctx = q->ctx->id;
		__entry->queue = q->id;
		__entry->index = index;
	),
	TP_printk("gtu%d ctx=%u queue=%u index=%u", __entry->dev, __entry->ctx, __entry->queue,
		  __entry->index)
);

TRACE_EVENT(gtu_wait_end,
	TP_PROTO(struct gtu_queue *q, u32 index, int ret),
	TP_ARGS(q, index, ret),
	TP_STRUCT__entry(
		__field(int, dev)
		__field(u32, ctx)
		__field(u32, queue)
		__field(u32, index)
		__field(int, ret)
	),
	TP_fast_assign(
		__entry->dev = q->ctx->gtu->number;
		__entry->ctx = q->ctx->id;
		__entry->queue = q->id;
		__entry->index = index;
		__entry->ret = ret;
	),
	TP_printk("gtu%d ctx=%u queue=%u index=%u ret=%d", __entry->dev, __entry->ctx,
		  __entry->queue, __entry->index, __entry->ret)
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE gtu_trace
#include <trace/define_trace.h>
