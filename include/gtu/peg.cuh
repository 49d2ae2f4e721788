/* SPDX-License-Identifier: MIT */
/*
 * The intrinsics of GraphPEG (GraphPEG, table 1) for CUDA kernels: __pop_edge_src(),
 * __pop_edge_dst(), __pop_edge_wt(), __pop_edge_idx(), __pop_vert(), __push_vert(). The paper's
 * kernels compile as printed (figure 4). Lanes may be diverged. CUDA C++ for compute capability 7.0
 * and later; tests also compile it for a CPU.
 *
 * A vertex list is an index into gtu_vertex_lists. The host, for each list that a kernel uses: calls
 * configure_peg() with rings of its own, zeroes the GPU memory and copies the engines to it, copies
 * the elements to gtu_vertex_lists (cudaMemcpyToSymbol, or cuModuleGetGlobal and cuMemcpyHtoD), and
 * submits the descriptor, to which it adds input, rows and edges. The
 * stream's input list and its output list may be different entries with the same content. All warps
 * of the grid must be resident, in a grid and blocks of one dimension.
 */
#ifndef GTU_PEG_CUH
#define GTU_PEG_CUH

#include "gtu/warp_elements.cuh"

#define GTU_VERTEX_LISTS	8u

enum { GTU_EDGE_SRC, GTU_EDGE_DST, GTU_EDGE_WT, GTU_EDGE_IDX };

/* One module has one table: define GTU_VERTEX_LISTS_EXTERN in all files of a module but one. */
#ifdef GTU_VERTEX_LISTS_EXTERN
extern
#endif
__constant__ struct gtu_elements gtu_vertex_lists[GTU_VERTEX_LISTS];

/*
 * Byte offsets and widths of a record's fields for a stream with @param of struct gtu_hw_desc.
 * Returns the bytes of a record.
 */
__host__ __device__ static inline uint32_t gtu_peg_fields(uint32_t param, uint32_t offset[GTU_ELEMENT_FIELDS], uint32_t *wide)
{
	const bool list = param & GTU_PEG_VERTEX_LIST;
	const bool has[GTU_ELEMENT_FIELDS] = { list || param & GTU_PEG_WITH_SRC, !list && param & GTU_PEG_WITH_DST,
					       !list && param & GTU_PEG_WITH_WEIGHT, !list && param & GTU_PEG_WITH_INDEX };
	const bool eight[GTU_ELEMENT_FIELDS] = { (param & GTU_PEG_IDS_8) != 0, (param & GTU_PEG_IDS_8) != 0,
						 (param & GTU_PEG_WEIGHTS_8) != 0, (param & GTU_PEG_OFFSETS_8) != 0 };
	uint32_t at = GTU_RECORD_FIELDS;

	*wide = 0;
	for (uint32_t f = 0; f < GTU_ELEMENT_FIELDS; f++) {
		offset[f] = has[f] ? at : 0;
		*wide |= (uint32_t)(has[f] && eight[f]) << f;
		at += has[f] ? (eight[f] ? 256u : 128u) : 0;
	}
	return at;
}

/*
 * A PEG_STREAM over rings of the caller. @param is that of struct gtu_hw_desc with the number of engines
 * (GTU_PEG_ENGINES_SHIFT, not 0); @back_log2: param2, log2 of the entries of a return ring; 0: the kernel
 * pushes nothing. False: a value is invalid, or the memory has too few bytes for the rings.
 */
__host__ static inline bool configure_peg(const struct gtu_elements_memory &m, uint32_t param, uint32_t back_log2,
					  struct gtu_elements_stream &s)
{
	uint32_t offset[GTU_ELEMENT_FIELDS], wide;
	const uint32_t record_bytes = gtu_peg_fields(param, offset, &wide);

	if (!gtu_elements_configure(m, param >> GTU_PEG_ENGINES_SHIFT & 0x3f, record_bytes, back_log2 ? 1u << back_log2 : 0,
				    param & GTU_PEG_IDS_8 ? 8 : 4, (param & GTU_PEG_DEMAND) != 0, s))
		return false;
	for (uint32_t f = 0; f < GTU_ELEMENT_FIELDS; f++)
		s.elements.offset[f] = offset[f];
	s.elements.wide = wide;
	s.desc.opcode = GTU_OP_PEG_STREAM;
	s.desc.param = param;
	s.desc.param2 = back_log2;
	s.desc.operand[GTU_PEG_RINGS] = gtu_elements_rings(m);
	return true;
}

/* Bits of a field as any basic data type; all ones (-1 as an integer) if no edge is left. */
template <typename T> __device__ static inline void gtu_peg_pop(int list, uint32_t field, T &value)
{
	uint64_t bits = ~0ull;

	if (gtu_elements_pop(gtu_vertex_lists[list], field, &bits) < 0)
		bits = ~0ull;
	memcpy(&value, &bits, sizeof(value));
}

/*
 * Pop a field of the next edge of vertex list @vl. A lane keeps its edge until it pops the same field
 * again. Vertices and indices are negative if all edges have been taken, or if the stream failed
 * (the stream's *error).
 */
template <typename T> __device__ static inline void __pop_edge_src(int vl, T &src) { gtu_peg_pop(vl, GTU_EDGE_SRC, src); }
template <typename T> __device__ static inline void __pop_edge_dst(int vl, T &dst) { gtu_peg_pop(vl, GTU_EDGE_DST, dst); }
template <typename T> __device__ static inline void __pop_edge_wt(int vl, T &wt) { gtu_peg_pop(vl, GTU_EDGE_WT, wt); }
template <typename T> __device__ static inline void __pop_edge_idx(int vl, T &idx) { gtu_peg_pop(vl, GTU_EDGE_IDX, idx); }
/* Pop a vertex of a stream with GTU_PEG_VERTEX_LIST. */
template <typename T> __device__ static inline void __pop_vert(int vl, T &v) { gtu_peg_pop(vl, GTU_EDGE_SRC, v); }

/* The same with a pointer: table 1 has references, figure 4 passes addresses. */
template <typename T> __device__ static inline void __pop_edge_src(int vl, T *src) { gtu_peg_pop(vl, GTU_EDGE_SRC, *src); }
template <typename T> __device__ static inline void __pop_edge_dst(int vl, T *dst) { gtu_peg_pop(vl, GTU_EDGE_DST, *dst); }
template <typename T> __device__ static inline void __pop_edge_wt(int vl, T *wt) { gtu_peg_pop(vl, GTU_EDGE_WT, *wt); }
template <typename T> __device__ static inline void __pop_edge_idx(int vl, T *idx) { gtu_peg_pop(vl, GTU_EDGE_IDX, *idx); }
template <typename T> __device__ static inline void __pop_vert(int vl, T *v) { gtu_peg_pop(vl, GTU_EDGE_SRC, *v); }

/* Push @v into the output list of @vl's stream. */
template <typename T> __device__ static inline void __push_vert(int vl, T v)
{
	gtu_elements_push(gtu_vertex_lists[vl], (uint64_t)v);
}

#endif
