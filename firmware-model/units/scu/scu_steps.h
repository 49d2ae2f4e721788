/* SPDX-License-Identifier: MIT */
/* Internal interface of the SCU's core: generation (scu_generate.c), sinks (scu_sink.c), schedule (scu_core.c). */
#ifndef GTU_SCU_STEPS_H
#define GTU_SCU_STEPS_H

#include <string.h>

#include "scu_core.h"
#include "scu_table.h"

/* Element @i of an array of elements of 1 << @log2 bytes. */
static inline uint64_t scu_get(const void *from, unsigned log2, size_t i)
{
	switch (log2) {
	case 0:
		return ((const uint8_t *)from)[i];
	case 1:
		return ((const scu_u16 *)from)[i];
	case 2:
		return ((const scu_u32 *)from)[i];
	default:
		return ((const scu_u64 *)from)[i];
	}
}

/* Index of the @k-th (from 0) set bit, which must exist. */
size_t scu_select_bit(const uint64_t *bits, size_t k);

/* ---- Memory -------------------------------------------------------------------------------------- */

/* Like the port's span(), which is not called if the operand is contiguous. */
static inline uint8_t *scu_span(struct scu_mem *m, uint64_t byte, uint64_t want, uint64_t *got)
{
	if (m->base && byte <= m->bytes && want <= m->bytes - byte) {
		*got = want;
		return m->base + byte;
	}
	return m->port->span(m->port->ctx, m->slot, byte, want, got);
}

/* Address of element @i. It is aligned to its width, so it does not cross a page. */
static inline uint8_t *scu_element(struct scu_mem *m, uint64_t i)
{
	uint64_t got;

	return scu_span(m, i << m->width_log2, 1ull << m->width_log2, &got);
}

/*
 * Copy from or to an operand, across pages. False: the memory is not accessible. Loaded bytes are a snapshot:
 * later writes by the host do not change them.
 */
bool scu_copy(struct scu_mem *m, uint64_t byte, uint8_t *buffer, uint64_t bytes, bool store);
static inline bool scu_load(struct scu_mem *m, uint64_t byte, void *to, uint64_t bytes)
{
	return scu_copy(m, byte, to, bytes, false);
}
static inline bool scu_store(struct scu_mem *m, uint64_t byte, const void *from, uint64_t bytes)
{
	return scu_copy(m, byte, (uint8_t *)from, bytes, true);
}

/* Address of @bytes bytes: in place, or of a snapshot in @copy if they are not contiguous. */
uint8_t *scu_contiguous(struct scu_mem *m, uint64_t byte, uint64_t bytes, void *copy);

/* Report accesses to the pipeline or the observers. */
void scu_report_stream(struct scu_mem *m, uint64_t byte, uint64_t bytes, bool write);
void scu_report_gather(struct scu_mem *m, const uint64_t *byte, unsigned n, unsigned width_log2, bool write);
static inline void scu_stream(struct scu_mem *m, uint64_t byte, uint64_t bytes, bool write)
{
	if (m->monitored)
		scu_report_stream(m, byte, bytes, write);
}
static inline void scu_gather(struct scu_mem *m, const uint64_t *byte, unsigned n, unsigned width_log2, bool write)
{
	if (m->monitored)
		scu_report_gather(m, byte, n, width_log2, write);
}

/* ---- Steps --------------------------------------------------------------------------------------- */

/*
 * Generate the next block, using at most @slots. False: the memory is not accessible. r->m may be 0 if slots
 * were used (nothing was selected), or if `full` or `error` is set.
 */
bool scu_generate(struct scu_run *r, uint64_t slots);
/* Input element of element @k of the block; *slots is the number of slots used before it. */
uint64_t scu_where(const struct scu_run *r, size_t k, uint64_t *slots);
/* Count the elements that the next inputs, at most @slots, would select. */
bool scu_count(struct scu_run *r, uint64_t slots);
/* BITMASK: compare the next inputs, at most @slots, and write their bits. */
bool scu_compare(struct scu_run *r, uint64_t slots);
/* Load @n bits from bit @first of a bit vector. The rest of the last word is 0. */
bool scu_load_bits(struct scu_mem *m, uint64_t first, size_t n, uint64_t *bits);

/* Pass the block to the sink. False: the operation has ended in error. */
bool scu_sink(struct scu_run *r);
/* Append @n bits at bit @at of a bit vector. A partial last byte is held back until it is complete. */
bool scu_append_bits(struct scu_run *r, struct scu_mem *m, uint64_t at, const uint64_t *bits, size_t n);
/* Write the partial byte, with zeros from bit @at on. */
bool scu_finish_bits(struct scu_run *r, struct scu_mem *m, uint64_t at);
/* Write the buffered output. */
bool scu_flush(struct scu_run *r);
/* Emit the groups of one set of the group table. False: the operation has ended in error. */
bool scu_drain_set(struct scu_run *r, uint64_t set);

/* End the operation with error @status at input element @element; @value is the offending value. Returns false. */
static inline bool scu_fail(struct scu_run *r, unsigned status, unsigned slot, uint64_t element, uint64_t value)
{
	r->port.fail(r->port.ctx, status, slot, element, value);
	return false;
}

static inline struct scu_filter scu_filter_of(struct scu_run *r)
{
	struct scu_mem *m = &r->mem[GTU_SCU_FILTER_TABLE];

	return (struct scu_filter){
		.mem = m,
		.id_log2 = r->p.width < 2 ? 2 : r->p.width,
		.cost_log2 = r->p.best ? r->p.cost_width : 0,
		.type = r->p.type,
		.state_in_set = r->p.state_in_set,
		.sets = m->count ? (uint32_t)(m->count / SCU_WAYS) : 1,
		.merge = r->merge,
	};
}

static inline struct scu_group scu_group_of(struct scu_run *r)
{
	struct scu_mem *m = &r->mem[GTU_SCU_GROUP_TABLE];

	return (struct scu_group){
		.mem = m,
		.reorder = &r->mem[GTU_SCU_REORDER],
		.target = r->imm,
		.target_log2 = r->p.target,
		.id_log2 = r->p.width,
		.max = r->p.group_max,
		.state_in_set = r->p.state_in_set,
		.sets = m->count ? (uint32_t)(m->count / SCU_WAYS) : 1,
		.merge = r->merge,
		.rank = r->s->rank,
		.groups = r->s->groups,
	};
}

#endif
