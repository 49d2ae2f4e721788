/* SPDX-License-Identifier: MIT */
/*
 * The units' descriptor tables. hw.h derives the numbers of registers and slots from the order of the
 * rows. The model, the driver, the runtime and the tools derive names, limits and texts from them.
 * The arguments of a table are the macros that its rows expand to:
 *
 * GTU_UNIT_ROWS(U)                U(UNIT, unit, text), in the order of pages and GTU_UNIT_* bits
 * GTU_x_PARAMETER_ROWS(P, F, H)   P(UNIT, unit, NAME, name, property, default, min, max, step,
 *                                 text): the build's configuration sets it as `unit_name`, to a multiple
 *                                 of `step` (0: to a power of two)
 *                                 F(UNIT, NAME, name, property, value, text): same in every build
 *                                 H(UNIT, NAME, property, value): likewise, without a name
 * GTU_x_SETTING_ROWS(S, X)        S(UNIT, unit, NAME, name, reset, min, max, text): the build's
 *                                 configuration sets the value after a reset as `unit_name`
 *                                 X(UNIT, NAME, name, reset, min, max, text): same in every build
 * GTU_x_COUNTER_ROWS(C, A)        C(UNIT, NAME, name, measure, text)
 *                                 A(UNIT, NAME, name, attribute, measure, text): has another name
 *                                 in sysfs
 * GTU_x_BLOCK_ROWS(B)             B(UNIT, NAME, block, stride): the unit has control registers of its
 *                                 own, a block for each of what its parameter NAME counts, `stride`
 *                                 bytes apart from GTU_UREG_OWN on. At most one row
 * GTU_x_REGISTER_ROWS(R, D)       R(UNIT, NAME, name, bytes, text): a read-only register of each block,
 *                                 at GTU_UNIT_NAME
 *                                 D(UNIT, NAME, field, bit, bits, values): a field of the register,
 *                                 from `bit` on; names of its values from 0 on, or "": a number
 * GTU_x_OPERATION_ROWS(O)         O(UNIT, NAME, name, title, text): opcode GTU_OP_NAME
 * GTU_x_SLOT_ROWS(L)              L(UNIT, NAME, name, direction, width, text): elements of `width`
 *                                 bytes
 */
#ifndef GTU_UNITS_H
#define GTU_UNITS_H

#define GTU_UNIT_ROWS(U)                                                                           \
	U(SCU, scu, "stream compaction")                                                           \
	U(IRU, iru, "irregular access reordering")                                               \
	U(PEG, peg, "edge gathering and distribution")                                             \
	U(WVR, wvr, "sparse work weaving")                                                      \
	U(ZCM, zcm, "zero-copy monitor")

/* The first registers of every unit's page. */
#define GTU_UREG_REGISTER_ROWS(R, D)                                                               \
	R(UREG, ID, id, 4, "four characters: the unit")                                            \
	R(UREG, VERSION, version, 4, "of the unit")                                                \
	R(UREG, STATUS, status, 4, "state")                                                        \
	D(UREG, STATUS, "present", 0, 1, "")                                                       \
	D(UREG, STATUS, "busy", 1, 1, "")

/* Built into every device; without a register page. */
#define GTU_BASIC_OPERATION_ROWS(O)                                                                \
	O(BASIC, NOP, "nop", "nop", "nothing")                                                     \
	O(BASIC, COPY, "copy", "copy", "slot 0 to slot 1")                                         \
	O(BASIC, FILL, "fill", "fill", "imm to slot 1")                                            \
	O(BASIC, FENCE, "fence", "fence", "waits for earlier jobs of the context's other queues")
#define GTU_BASIC_SLOT_ROWS(L)                                                                     \
	L(BASIC, SOURCE, "source", "in", "1 to 8", "COPY")                                         \
	L(BASIC, DESTINATION, "destination", "out", "1 to 8", "COPY, FILL")

/* ---- SCU ------------------------------------------------------------------------------------ */

#define GTU_SCU_PARAMETER_ROWS(P, F, H)                                                            \
	P(SCU, scu, WIDTH, width, "pipeline-width", 4, 1, 64, 0, "elements per cycle")               \
	P(SCU, scu, LATENCY, latency, "fetch-latency", 200, 1, 1 << 20, 1, "cycles per fetch")    \
	P(SCU, scu, MERGE, merge, "merge-window", 4, 1, 32, 1, "elements of the merge window")     \
	F(SCU, WAYS, ways, "table-ways", GTU_TABLE_WAYS, "ways of a table's set")                  \
	F(SCU, GROUP, group, "group-elements", GTU_GROUP_MAX, "elements per group")                  \
	F(SCU, LINES_LOG2, lines_log2, "table-lines-log2", GTU_TABLE_LINES_LOG2,                   \
	  "log2 of the greatest table's lines")                                                    \
	/* the published build's buffers: SCU, table 1 */                                          \
	P(SCU, scu, IN_FLIGHT, in_flight, "requests-in-flight", 32, 1, 4096, 1,                    \
	  "reads in flight per coalescing unit")                                                   \
	P(SCU, scu, VECTOR_BYTES, vector_bytes, "vector-bytes", 5 << 10, 1 << 10, 1 << 16, 128,    \
	  "bytes of the vector buffer")                                                            \
	P(SCU, scu, FIFO_BYTES, fifo_bytes, "fifo-bytes", 38 << 10, 1 << 10, 1 << 16, 128,         \
	  "bytes of the FIFO of requests")                                                         \
	P(SCU, scu, HASH_BYTES, hash_bytes, "hash-bytes", 18 << 10, 1 << 10, 1 << 15, 128,         \
	  "bytes of the buffer of hash requests")
#define GTU_SCU_SETTING_ROWS(S, X)
#define GTU_SCU_COUNTER_ROWS(C, A)                                                                 \
	C(SCU, JOBS, jobs, "jobs", "completed")                                                    \
	C(SCU, CYCLES, cycles, "cycles", "of all jobs")                                            \
	C(SCU, IN, in, "elements", "input elements read")                                          \
	C(SCU, OUT, out, "elements", "produced")                                                   \
	C(SCU, DROPPED, dropped, "elements", "filtered out")                                       \
	C(SCU, PROBES, probes, "probes", "of the filter table")                                    \
	C(SCU, EVICTIONS, evictions, "evictions", "from the filter table")                         \
	C(SCU, GROUPS, groups, "groups", "emitted")                                                \
	C(SCU, GROUPED, grouped, "elements", "in the groups emitted")
#define GTU_SCU_BLOCK_ROWS(B)
#define GTU_SCU_REGISTER_ROWS(R, D)
#define GTU_SCU_OPERATION_ROWS(O)                                                                  \
	O(SCU, SCU_BITMASK, "scu-bitmask", "bitmask construction",                                 \
	  "one bit per element: the result of a comparison")                                       \
	O(SCU, SCU_DATA, "scu-data", "data compaction", "the elements that the mask selects")      \
	O(SCU, SCU_ACCESS, "scu-access", "access compaction", "the elements that indices name")    \
	O(SCU, SCU_REPLICATE, "scu-replicate", "replication compaction",                           \
	  "each element, as often as its count says")                                              \
	O(SCU, SCU_EXPAND, "scu-expand", "access expansion",                                       \
	  "ranges of elements, by first index and count")
#define GTU_SCU_SLOT_ROWS(L)                                                                       \
	L(SCU, DATA, "data", "in", "1 to 8", "may be GTU_COUNT_TO_END if an index selects from it")  \
	L(SCU, INDEX, "index", "in", "4 or 8", "ACCESS, EXPAND")                                   \
	L(SCU, COUNT, "count", "in", "4 or 8", "REPLICATE, EXPAND")                                \
	L(SCU, MASK, "mask", "in", "1 bit", "one bit per input element; absent: all ones")         \
	L(SCU, OUT, "output", "out", "as DATA", "elements; BITMASK: bits")                         \
	L(SCU, FILTER, "filter mask", "both", "1 bit",                                             \
	  "of output elements: written by PRODUCE, FUSED, read by APPLY, grouping")                \
	L(SCU, REORDER, "reorder vector", "both", "4", "of output elements: likewise")             \
	L(SCU, FILTER_TABLE, "filter table", "both", "lines", "a power of two >= 16")              \
	L(SCU, GROUP_TABLE, "group table", "both", "lines", "a power of two >= 16")                \
	L(SCU, COST_GATHERED, "gathered cost", "in", "4 or 8", "costs, selected like the data")    \
	L(SCU, COST_INPUT, "input cost", "in", "4 or 8",                                           \
	  "one cost per input element, replicated like the data")

/* ---- IRU ------------------------------------------------------------------------------------ */

#define GTU_IRU_PARAMETER_ROWS(P, F, H)                                                            \
	P(IRU, iru, SETS, sets, "sets", 1024, 2, 65536, 0, "hash sets in total")                     \
	P(IRU, iru, PARTITIONS, partitions, "partitions", 4, 1, 16, 0, "partitions")               \
	P(IRU, iru, BANKS, banks, "banks", 2, 1, 64, 0, "banks per partition")                       \
	F(IRU, LANES, lanes, "lanes", GTU_WARP, "elements per set and per record")                     \
	P(IRU, iru, INTERLEAVE, interleave, "interleave", 256, 128, 1 << 20, 0,                    \
	  "bytes that a partition fetches in turn")                                                     \
	P(IRU, iru, PREFETCH, prefetch, "prefetch", 8, 1, 256, 1, "fetches in flight per partition") \
	P(IRU, iru, LATENCY, latency, "latency", 200, 1, 1 << 20, 1, "cycles per fetch")          \
	P(IRU, iru, INDEX_BITS, index_bits, "index-bits", 32, 1, 32, 1, "bits per index")        \
	P(IRU, iru, POSITION_BITS, position_bits, "position-bits", 32, 1, 32, 1,                   \
	  "bits per position")                                                                    \
	P(IRU, iru, RING_DEPTH, ring_depth, "ring-depth", 64, 1, 4096, 1,                          \
	  "elements in a partition's ring input")                                               \
	P(IRU, iru, QUEUE_DEPTH, queue_depth, "queue-depth", 64, 32, 4096, 1,                      \
	  "elements in a classifier queue")
#define GTU_IRU_SETTING_ROWS(S, X)                                                                 \
	S(IRU, iru, TIMEOUT, timeout, 1024, 1, 0xffffffffu, "cycles of the timeout")
#define GTU_IRU_COUNTER_ROWS(C, A)                                                                 \
	C(IRU, JOBS, jobs, "jobs", "completed")                                                    \
	C(IRU, CYCLES, cycles, "cycles", "of all jobs")                                            \
	C(IRU, IN, in, "elements", "input elements read")                                          \
	C(IRU, MERGED, merged, "elements", "merged by the operation")                              \
	C(IRU, RECORDS, records, "records", "of all reasons")                                      \
	C(IRU, FULL, full, "records", "of full sets")                                              \
	C(IRU, TIMEOUT, timeout, "records", "after the time-out")                                  \
	C(IRU, END, end, "records", "at the end of the stream")                                    \
	C(IRU, DISABLED, disabled, "records", "without an active lane")                            \
	C(IRU, LINES, lines, "lines", "sum of the records' distinct lines")                        \
	C(IRU, HOPS, hops, "hops", "of elements on the ring")                                      \
	C(IRU, BLOCKED, blocked, "insertions", "that waited for a full set")
#define GTU_IRU_BLOCK_ROWS(B)
#define GTU_IRU_REGISTER_ROWS(R, D)
#define GTU_IRU_OPERATION_ROWS(O)                                                                  \
	O(IRU, IRU_STREAM, "iru-stream", "IRU stream",                                             \
	  "records of elements whose indices share lines")
#define GTU_IRU_SLOT_ROWS(L)                                                                       \
	L(IRU, INDICES, "indices", "in", "4 or 8", "n indices; RANGES: the array of the ranges")   \
	L(IRU, SECONDARY, "secondary", "in", "4",                                                  \
	  "n values; may be absent if no operation needs them")                                    \
	L(IRU, RING, "ring", "out", "records", "header and `count` records (a power of two)")      \
	L(IRU, FIRST, "first", "in", "4 or 8", "RANGES: first element of each range in the array") \
	L(IRU, COUNT, "count", "in", "4", "RANGES: elements of each range, at least 1")

/* ---- PEG ------------------------------------------------------------------------------------ */

#define GTU_PEG_PARAMETER_ROWS(P, F, H)                                                            \
	P(PEG, peg, ENGINES, engines, "engines", 16, 1, GTU_PEG_ENGINES_MAX, 1, "engines")         \
	P(PEG, peg, ENTRIES, entries, "entries", 24, 1, 4096, 1,                                   \
	  "entries in an engine's working table")                                                  \
	F(PEG, LANES, lanes, "lanes", GTU_WARP, "edges per record")                                  \
	P(PEG, peg, EDGE_BYTES, edge_bytes, "edge-bytes", 2048, 1024, 1 << 20, 32,                 \
	  "bytes per engine for gathered edges")                                                \
	P(PEG, peg, LIST_BYTES, list_bytes, "list-bytes", 46 * 1024, 16, 1 << 20, 16,              \
	  "bytes per engine for vertex lists")                                                  \
	P(PEG, peg, LATENCY, latency, "latency", 200, 1, 1 << 20, 1, "cycles per fetch")          \
	P(PEG, peg, MESSAGE, message, "message", 16, 1, 4096, 1,                                   \
	  "cycles from an engine to the control processor")                                        \
	F(PEG, CHUNK, chunk, "chunk", GTU_PEG_CHUNK, "vertices dealt to an engine at a time")
#define GTU_PEG_SETTING_ROWS(S, X)                                                                 \
	S(PEG, peg, INTERVAL, interval, 512, 1, 1 << 30,                                           \
	  "cycles between two checks by the load balancer")                                             \
	S(PEG, peg, SHIFT, shift, 4, 0, 63, "N in the balancer's threshold Rmax / 2^N")                       \
	/* minimum 2: half of a smaller range is empty */                                          \
	S(PEG, peg, FLOOR, floor, 32, 2, 0xffffffffu, "minimum of the balancer's threshold")
#define GTU_PEG_COUNTER_ROWS(C, A)                                                                 \
	C(PEG, JOBS, jobs, "jobs", "completed")                                                    \
	C(PEG, CYCLES, cycles, "cycles", "of all jobs")                                            \
	C(PEG, VERTICES, vertices, "vertices", "taken from input lists into tables, or emitted")   \
	C(PEG, EDGES, edges, "edges", "emitted")                                                   \
	C(PEG, RECORDS, records, "records", "emitted")                                             \
	C(PEG, PARTIAL, partial, "records", "with fewer than a warp's lanes")                      \
	C(PEG, INDEX_FETCHES, index_fetches, "fetches", "FI: of offsets")                          \
	C(PEG, EDGE_FETCHES, edge_fetches, "fetches", "FE: of lines of edges")                     \
	C(PEG, REFILLS, refills, "refills", "of input lists")                                      \
	C(PEG, PUSHED, pushed, "vertices", "put into output lists")                                \
	C(PEG, SPILLED, spilled, "vertices", "of those, stored off chip")                          \
	C(PEG, POLLS, polls, "polls", "by the control processor")                                  \
	C(PEG, MOVES, moves, "moves", "of edge ranges between engines")                            \
	C(PEG, MOVED, moved, "edges", "in the moves of edge ranges")                               \
	C(PEG, REFUSED, refused, "moves",                                                          \
	  "no free entry at the receiver, or nothing left to give")                                \
	C(PEG, LIST_MOVES, list_moves, "moves", "of vertices between lists")                       \
	C(PEG, LIST_MOVED, list_moved, "vertices", "in the moves between lists")
/* GraphPEG, section 3.3.2; 0 while the engine is idle */
#define GTU_PEG_BLOCK_ROWS(B) B(PEG, ENGINES, "engine", 0x40)
#define GTU_PEG_REGISTER_ROWS(R, D)                                                                \
	R(PEG, R_EFS, r_efs, 8, "edges gathered or being fetched, and in RD and FE entries")       \
	R(PEG, R_BC, r_bc, 4, "balancing control")                                                 \
	D(PEG, R_BC, "role", 0, 2, "none, donating, receiving standby, receiving")                 \
	R(PEG, R_BS, r_bs, 4, "balancing status")                                                  \
	D(PEG, R_BS, "step", 0, 2, "none, ready, refused, done")                                   \
	R(PEG, R_BW0, r_bw0, 8, "start of the range that is moved")                                \
	R(PEG, R_BW1, r_bw1, 8, "end of the range that is moved")                                  \
	R(PEG, R_BW2, r_bw2, 8, "base vertex of the range that is moved")
#define GTU_PEG_OPERATION_ROWS(O)                                                                  \
	O(PEG, PEG_STREAM, "peg-stream", "PEG stream", "records of the edges of listed vertices")
#define GTU_PEG_SLOT_ROWS(L)                                                                       \
	L(PEG, VERTICES, "offsets", "in", "4 or 8",                                                \
	  "offsets into the edges, number of vertices + 1")                                        \
	L(PEG, EDGES, "edges", "in", "4 or 8", "vertex ids; may be GTU_COUNT_TO_END")                \
	L(PEG, WEIGHTS, "weights", "in", "4 or 8", "may be GTU_COUNT_TO_END")                        \
	L(PEG, INPUT, "input list", "in", "as EDGES", "list of vertices; absent: all in order")    \
	L(PEG, RINGS, "rings", "both", "records", "a ring per engine, GTU_PEG_STRIDE() apart")     \
	L(PEG, OUTPUT, "output list", "out", "as EDGES",                                           \
	  "list of vertices; absent: nothing can be pushed")                                       \
	L(PEG, SPILL, "spill lines", "both", "lines",                                              \
	  "off-chip vertices, GTU_LINE_BYTES a line; may be absent")

/* ---- Weaver --------------------------------------------------------------------------------- */

#define GTU_WVR_PARAMETER_ROWS(P, F, H)                                                            \
	P(WVR, wvr, ENTRIES, entries, "entries", 512, 1, 65536, 1,                                 \
	  "entries in the sparse work table")                                                      \
	P(WVR, wvr, WARPS, warps, "warps", 32, 1, 1024, 1, "warps in the dense id table")          \
	F(WVR, LANES, lanes, "lanes", GTU_WARP, "threads per warp")                                  \
	P(WVR, wvr, TABLE_LATENCY, table_latency, "table-latency", 10, 1, 1 << 20, 1,              \
	  "cycles per read of a table")                                                              \
	P(WVR, wvr, LATENCY, latency, "latency", 200, 1, 1 << 20, 1, "cycles per fetch")
#define GTU_WVR_SETTING_ROWS(S, X)
#define GTU_WVR_STATE_ROW(A, n) A(WVR, S##n, s##n, state_##n, "cycles", "in state S" #n)
#define GTU_WVR_COUNTER_ROWS(C, A)                                                                 \
	C(WVR, JOBS, jobs, "jobs", "completed")                                                    \
	C(WVR, CYCLES, cycles, "cycles", "of all jobs")                                            \
	C(WVR, ROUNDS, rounds, "rounds", "of registrations")                                       \
	C(WVR, REGISTERED, registered, "registrations", "taken")                                   \
	C(WVR, WORK, work, "work ids", "emitted")                                                  \
	C(WVR, RECORDS, records, "records", "emitted")                                             \
	C(WVR, PARTIAL, partial, "records", "with fewer than a warp's lanes")                      \
	C(WVR, SKIPS, skips, "skips", "received")                                                  \
	C(WVR, SKIPPED, skipped, "work ids", "that skips removed")                                 \
	GTU_WVR_STATE_ROW(A, 0) GTU_WVR_STATE_ROW(A, 1) GTU_WVR_STATE_ROW(A, 2)                    \
	GTU_WVR_STATE_ROW(A, 3) GTU_WVR_STATE_ROW(A, 4) GTU_WVR_STATE_ROW(A, 5)                    \
	GTU_WVR_STATE_ROW(A, 6) GTU_WVR_STATE_ROW(A, 7) GTU_WVR_STATE_ROW(A, 8)
#define GTU_WVR_BLOCK_ROWS(B)
#define GTU_WVR_REGISTER_ROWS(R, D)
#define GTU_WVR_OPERATION_ROWS(O)                                                                  \
	O(WVR, WVR_STREAM, "wvr-stream", "Weaver stream",                                          \
	  "records of the edges of registered vertices")
#define GTU_WVR_SLOT_ROWS(L)                                                                       \
	L(WVR, TABLE, "registrations", "in", "32", "registrations, in any order within a round")   \
	L(WVR, RING, "ring", "both", "records",                                                    \
	  "header, `count` records (a power of two), return ring")                                 \
	L(WVR, EDGES, "edges", "in", "4 or 8", "WITH_TARGET: vertex ids; may be GTU_COUNT_TO_END") \
	L(WVR, WEIGHTS, "weights", "in", "4 or 8", "WITH_WEIGHT; may be GTU_COUNT_TO_END")

/* ---- ZCM ------------------------------------------------------------------------------------ */

#define GTU_ZCM_PARAMETER_ROWS(P, F, H)                                                            \
	H(ZCM, LINE_BYTES, "line-bytes", GTU_LINE_BYTES)                                           \
	H(ZCM, SECTOR_BYTES, "sector-bytes", GTU_SECTOR_BYTES)
#define GTU_ZCM_SETTING_ROWS(S, X) X(ZCM, ENABLE, enable, 0, 0, 1, "1: monitor")
#define GTU_ZCM_REQUEST_ROWS(C, DIR, dir)                                                          \
	C(ZCM, DIR##_32, dir##_32, "requests", "of 32 bytes")                                      \
	C(ZCM, DIR##_64, dir##_64, "requests", "of 64 bytes")                                      \
	C(ZCM, DIR##_96, dir##_96, "requests", "of 96 bytes")                                      \
	C(ZCM, DIR##_128, dir##_128, "requests", "of 128 bytes")
#define GTU_ZCM_TRIP_ROW(C, n)                                                                     \
	C(ZCM, TRIP_##n, trip_##n, "round trips", "of " #n " cycles to twice that")
#define GTU_ZCM_COUNTER_ROWS(C, A)                                                                 \
	GTU_ZCM_REQUEST_ROWS(C, HOST_READ, host_read)                                              \
	GTU_ZCM_REQUEST_ROWS(C, HOST_WRITE, host_write)                                            \
	GTU_ZCM_REQUEST_ROWS(C, APERTURE_READ, aperture_read)                                      \
	GTU_ZCM_REQUEST_ROWS(C, APERTURE_WRITE, aperture_write)                                    \
	C(ZCM, HOST_READ_BYTES, host_read_bytes, "bytes", "read from the host's memory")           \
	C(ZCM, HOST_WRITE_BYTES, host_write_bytes, "bytes", "written to the host's memory")        \
	C(ZCM, APERTURE_READ_BYTES, aperture_read_bytes, "bytes", "read from the aperture")        \
	C(ZCM, APERTURE_WRITE_BYTES, aperture_write_bytes, "bytes", "written to the aperture")     \
	C(ZCM, FLIGHT_NOW, in_flight, "requests", "in flight at the snapshot")                     \
	C(ZCM, FLIGHT_MAX, in_flight_max, "requests", "in flight at most")                         \
	C(ZCM, FLIGHT_SUM, in_flight_sum, "cycles",                                                \
	  "of all round trips; / monitored_cycles = mean in flight")                                 \
	C(ZCM, MONITORED, monitored_cycles, "cycles", "monitored")                                     \
	GTU_ZCM_TRIP_ROW(C, 1) GTU_ZCM_TRIP_ROW(C, 2) GTU_ZCM_TRIP_ROW(C, 4)                       \
	GTU_ZCM_TRIP_ROW(C, 8) GTU_ZCM_TRIP_ROW(C, 16) GTU_ZCM_TRIP_ROW(C, 32)                     \
	GTU_ZCM_TRIP_ROW(C, 64) GTU_ZCM_TRIP_ROW(C, 128) GTU_ZCM_TRIP_ROW(C, 256)                  \
	GTU_ZCM_TRIP_ROW(C, 512) GTU_ZCM_TRIP_ROW(C, 1024) GTU_ZCM_TRIP_ROW(C, 2048)               \
	GTU_ZCM_TRIP_ROW(C, 4096) GTU_ZCM_TRIP_ROW(C, 8192) GTU_ZCM_TRIP_ROW(C, 16384)             \
	GTU_ZCM_TRIP_ROW(C, 32768)
#define GTU_ZCM_BLOCK_ROWS(B)
#define GTU_ZCM_REGISTER_ROWS(R, D)
#define GTU_ZCM_OPERATION_ROWS(O)
#define GTU_ZCM_SLOT_ROWS(L)

#endif
