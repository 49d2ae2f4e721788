// SPDX-License-Identifier: GPL-2.0-only
/* Interrupts and event rings. */
#include <linux/smp.h>

#include "gtu_drv.h"
#include "gtu_trace.h"

#define GTU_EVENTS_BYTES	(GTU_EVENTS * sizeof(__le32))

/*
 * Vector 0 receives the errors. The other vectors have an event ring each; a
 * single vector has both.
 */
int gtu_events_alloc(struct gtu_device *gtu)
{
	unsigned int i;

	for (i = 0; i < gtu->vectors; i++) {
		struct gtu_vector *v = &gtu->vector[i];

		v->gtu = gtu;
		v->errors = !i;
		spin_lock_init(&v->lock);
		if (i || gtu->vectors == 1) {
			v->event = dma_alloc_coherent(gtu->parent, GTU_EVENTS_BYTES, &v->event_dma,
						      GFP_KERNEL);
			if (!v->event)
				return -ENOMEM;
			v->ring = gtu->event_rings++;
			v->has_ring = true;
		}
	}
	return 0;
}

/* The device must not write to the event rings any more. */
void gtu_events_free(struct gtu_device *gtu)
{
	unsigned int i;

	for (i = 0; i < gtu->vectors; i++) {
		struct gtu_vector *v = &gtu->vector[i];

		if (v->event)
			dma_free_coherent(gtu->parent, GTU_EVENTS_BYTES, v->event, v->event_dma);
		v->event = NULL;
		v->has_ring = false;
	}
}

/* Enable all event rings, empty and in their first pass, after a reset. */
int gtu_events_enable(struct gtu_device *gtu, int (*mbox)(struct gtu_device *, u32, const u64 *))
{
	unsigned int i;
	int ret;

	for (i = 0; i < gtu->vectors; i++) {
		struct gtu_vector *v = &gtu->vector[i];
		u64 arg[GTU_MBOX_ARGS] = { v->ring, v->event_dma, GTU_EVENTS_LOG2, i };

		if (!v->has_ring)
			continue;
		spin_lock_irq(&v->lock);
		memset(v->event, 0, GTU_EVENTS_BYTES);
		v->head = 0;
		spin_unlock_irq(&v->lock);
		ret = mbox(gtu, GTU_MBOX_EVENT_ENABLE, arg);
		if (ret)
			return ret;
	}
	return 0;
}

/* Event ring whose interrupt is most likely routed to this CPU. */
u32 gtu_event_ring_here(struct gtu_device *gtu)
{
	return raw_smp_processor_id() % gtu->event_rings;
}

static void gtu_errors(struct gtu_device *gtu)
{
	u32 error = readl(gtu->regs + GTU_REG_ERROR);
	u64 info;

	if (error == ~0u)
		gtu_alive(gtu);
	if (error == ~0u || !error)
		return;
	info = readq(gtu->regs + GTU_REG_ERROR_INFO);
	writel(error, gtu->regs + GTU_REG_ERROR);
	/* Users can provoke all errors but GTU_ERROR_DMA at any rate. */
	if (error & GTU_ERROR_DMA)
		dev_err_ratelimited(gtu->parent, "DMA error: first address %#llx\n", info);
	else
		dev_dbg(gtu->parent, "device errors: %#x, first info %#llx\n", error, info);
}

static unsigned int gtu_events(struct gtu_vector *v)
{
	struct gtu_device *gtu = v->gtu;
	unsigned int n;
	u32 word;

	/*
	 * Handle at most one ring of events: a faulty device must not hog the
	 * CPU.
	 */
	spin_lock(&v->lock);
	for (n = 0; n < GTU_EVENTS; n++) {
		word = le32_to_cpu(READ_ONCE(v->event[v->head & (GTU_EVENTS - 1)]));
		if (!(word & GTU_EVENT_PHASE) == !(v->head & GTU_EVENTS))
			break;
		/* The device writes the completion before its event. */
		dma_rmb();
		gtu_queue_event(gtu, word);
		v->head++;
	}
	if (n)
		writel(v->head, gtu->regs + GTU_REG_EVENT_HEAD(v->ring));
	spin_unlock(&v->lock);
	return n;
}

irqreturn_t gtu_interrupt(int irq, void *arg)
{
	struct gtu_vector *v = arg;
	unsigned int n = 0;

	if (v->errors)
		gtu_errors(v->gtu);
	if (v->has_ring)
		n = gtu_events(v);
	trace_gtu_interrupt(v, n);
	/*
	 * The interrupt is not shared, and an earlier run may have handled this
	 * edge's events.
	 */
	return IRQ_HANDLED;
}
