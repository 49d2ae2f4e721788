// SPDX-License-Identifier: MIT
/* Consumes a stream's warp records: stores two fields per element and pushes some values back. */
#include "gtu/warp_records.cuh"

/*
 * Entries of result[]: elements, records, an errno, records out of sequence, and finished
 * warps (only with @claim).
 */
enum { ELEMENTS, RECORDS, ERROR, DISORDER, COUNTED };

/*
 * @a, @b: byte offsets of two fields of a record; @b 0: no second field. @a_wide, @b_wide: the
 * field has 8 bytes. @claim: one word per value of @a; the first lane that claims a value
 * pushes it. NULL: no pushes.
 */
extern "C" __global__ void take_records(struct gtu_records s, uint32_t a, uint32_t a_wide, uint32_t b, uint32_t b_wide,
					uint64_t *out, uint32_t room, uint32_t *claim, uint32_t *result)
{
	struct gtu_record r;
	uint64_t x, y;
	uint32_t at;
	bool mine;
	int rc;

	while ((rc = gtu_record_next(s, r)) > 0) {
		x = a_wide ? gtu_record_u64(r, a) : gtu_record_u32(r, a);
		y = !b ? 0 : b_wide ? gtu_record_u64(r, b) : gtu_record_u32(r, b);
		gtu_record_release(s, r);
		mine = r.active && claim && !atomicOr(&claim[x], 1u);
		if (claim && gtu_records_push(s, mine, x) < 0)
			break;
		if (r.active) {
			at = atomicAdd(&result[ELEMENTS], 1u);
			if (at < room) {
				out[2 * at] = x;
				out[2 * at + 1] = y;
			}
		}
		if (!(threadIdx.x & 31)) {
			atomicAdd(&result[RECORDS], 1u);
			if (r.sequence != r.number)
				atomicAdd(&result[DISORDER], 1u);
		}
	}
	if (rc < 0 && !(threadIdx.x & 31))
		result[ERROR] = (uint32_t)-rc;
	/* the last warp to finish closes the ring, because no warp can push any more */
	if (claim && !(threadIdx.x & 31) && atomicAdd(&result[COUNTED], 1u) + 1 == gridDim.x * (blockDim.x / 32)) {
		gtu_store_release(&s.ring->closed, 1);
		gtu_records_notify(s);
	}
}
