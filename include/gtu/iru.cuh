/* SPDX-License-Identifier: MIT */
/*
 * load_iru() for CUDA kernels (IRU, section 4): replaces the load of an index, and optionally of a
 * secondary value, by the next element that the IRU has reordered. Lanes may be diverged. CUDA C++
 * for compute capability 7.0 and later; tests also compile it for a CPU.
 *
 * The host calls configure_iru() with a ring of its own, zeroes the GPU memory and copies the engine to
 * it, copies the elements to gtu_iru_stream, and submits the descriptor, to which it adds the
 * indices. All warps of the grid must be resident, in a grid and blocks of one
 * dimension, and the kernel calls load_iru() at least n times for n elements: with the paper's
 * loops over i < n, rounded up to whole warps.
 */
#ifndef GTU_IRU_CUH
#define GTU_IRU_CUH

#include "gtu/warp_elements.cuh"

enum { GTU_IRU_INDEX, GTU_IRU_SECOND, GTU_IRU_POSITION };

/* One module has one stream: define GTU_IRU_STREAM_EXTERN in all files of a module but one. */
#ifdef GTU_IRU_STREAM_EXTERN
extern
#endif
__constant__ struct gtu_elements gtu_iru_stream;

/* Byte offsets of a record's fields. Returns the bytes of a record. */
__host__ __device__ static inline uint32_t gtu_iru_fields(bool secondary, bool position, uint32_t offset[GTU_ELEMENT_FIELDS])
{
	uint32_t at = GTU_RECORD_FIELDS;

	offset[GTU_IRU_INDEX] = at;
	offset[GTU_IRU_SECOND] = secondary ? at += 128 : 0;
	offset[GTU_IRU_POSITION] = position ? at += 128 : 0;
	offset[3] = 0;
	return at + 128;
}

/*
 * An IRU_STREAM over a ring of the caller, in mode ALL. @param is that of struct gtu_hw_desc. False: a value
 * is invalid, or the memory has too few bytes for the ring.
 */
__host__ static inline bool configure_iru(const struct gtu_elements_memory &m, uint32_t param, struct gtu_elements_stream &s)
{
	uint32_t offset[GTU_ELEMENT_FIELDS];
	const uint32_t record_bytes = gtu_iru_fields((param & GTU_IRU_WITH_SECONDARY) != 0,
						     (param & GTU_IRU_WITH_POSITION) != 0, offset);

	if (!gtu_elements_configure(m, 1, record_bytes, 0, 0, false, s))
		return false;
	for (uint32_t f = 0; f < GTU_ELEMENT_FIELDS; f++)
		s.elements.offset[f] = offset[f];
	s.elements.all_lanes = 1;
	s.desc.opcode = GTU_OP_IRU_STREAM;
	s.desc.param = param | GTU_IRU_ALL;
	s.desc.operand[GTU_IRU_RING] = gtu_elements_rings(m);
	return true;
}

/*
 * The next element. False: the thread is disabled, because its element was merged into another, or
 * no element is left.
 */
template <typename T> __device__ static inline bool load_iru(T &index)
{
	uint64_t bits;

	if (gtu_elements_pop(gtu_iru_stream, GTU_IRU_INDEX, &bits) <= 0)
		return false;
	memcpy(&index, &bits, sizeof(index) < 8 ? sizeof(index) : 8);
	return true;
}

/* With the element of the secondary array, of 4 bytes. */
template <typename T, typename S> __device__ static inline bool load_iru(T &index, S &secondary)
{
	const bool enabled = load_iru(index);
	uint64_t bits;

	static_assert(sizeof(S) == 4, "elements of the secondary array have 4 bytes");
	gtu_elements_pop(gtu_iru_stream, GTU_IRU_SECOND, &bits);
	if (enabled)
		memcpy(&secondary, &bits, sizeof(secondary));
	return enabled;
}

/* With the position that the element had in the arrays. */
template <typename T, typename S> __device__ static inline bool load_iru(T &index, S &secondary, uint32_t &position)
{
	const bool enabled = load_iru(index, secondary);
	uint64_t bits;

	gtu_elements_pop(gtu_iru_stream, GTU_IRU_POSITION, &bits);
	if (enabled)
		position = (uint32_t)bits;
	return enabled;
}

#endif
