// SPDX-License-Identifier: MIT
/*
 * GraphPEG as a unit of the device (GraphPEG, section 3): a graph and a list of vertices in, one
 * ring of warp records per engine out, pushed vertices back. peg_core.c, peg_engine.c and
 * peg_balance.c decide the records and their cycles. This file serves their fetches after a fixed
 * latency; peg_rings.c passes the records to the consumers. Specification:
 * Documentation/units-peg.md.
 */
#include "peg.h"

/* The stream's parameters that the descriptor and the build decide. */
static struct peg_stream params_of(const struct gtu_job *job)
{
	const uint32_t param = job->desc.param, *set = job->page->setting;
	const unsigned engines = param >> GTU_PEG_ENGINES_SHIFT & 63;

	return (struct peg_stream){
		.engines = (uint16_t)(engines ? engines : job->page->param[GTU_PEG_P_ENGINES]),
		.vertex_list = param & GTU_PEG_VERTEX_LIST,
		.pull = param & GTU_PEG_PULL,
		.demand = param & GTU_PEG_DEMAND,
		.stand_by = param & GTU_PEG_STAND_BY,
		.balance_edges = param & GTU_PEG_BALANCE_EDGES,
		.balance_lists = param & GTU_PEG_BALANCE_LISTS,
		.id_log2 = param & GTU_PEG_IDS_8 ? 3 : 2,
		.offset_log2 = param & GTU_PEG_OFFSETS_8 ? 3 : 2,
		.weight_log2 = param & GTU_PEG_WEIGHTS_8 ? 3 : 2,
		.field = { param & (GTU_PEG_WITH_SRC | GTU_PEG_VERTEX_LIST), param & GTU_PEG_WITH_DST,
			   param & GTU_PEG_WITH_WEIGHT, param & GTU_PEG_WITH_INDEX },
		.edge_bytes = job->desc.imm >> 32,
		.list_bytes = (uint32_t)job->desc.imm,
		.interval = set[GTU_PEG_S_INTERVAL],
		.shift = (uint8_t)set[GTU_PEG_S_SHIFT],
		.floor = set[GTU_PEG_S_FLOOR],
		.message = (uint16_t)job->page->param[GTU_PEG_P_MESSAGE],
	};
}

/* ---- Build parameters --------------------------------------------------------------------------- */

static struct peg_shape shape_of(const struct gtu_dev_config *config)
{
	return (struct peg_shape){
		.engines = (uint16_t)config->peg_engines,
		.entries = config->peg_entries,
		.edge_bytes = config->peg_edge_bytes,
		.list_bytes = config->peg_list_bytes,
	};
}

/* The stream's own state lies before the core. */
#define CORE_AT ((sizeof(struct peg_unit) + 63) & ~(size_t)63)

static size_t state_bytes(const struct gtu_dev_config *config)
{
	const struct peg_shape shape = shape_of(config);

	return CORE_AT + peg_core_bytes(&shape);
}

static bool own_register(const struct gtu_dev_config *config, const void *state, bool held, uint32_t reg,
			 uint64_t *value, bool *wide)
{
	const struct peg_unit *u = state;
	const uint32_t n = (reg - GTU_PEG_REG(0)) / 0x40;
	const struct peg_engine *e;
	static const struct peg_engine idle;

	if (n >= config->peg_engines)
		return false;
	e = held && n < u->core->stream.engines ? &u->core->engine[n] : &idle;
	*wide = true;
	switch (reg & 0x3f) {
	case GTU_PEG_R_EFS: return *value = e->efs, true;
	case GTU_PEG_R_BC: return *wide = false, *value = e->bc, true;
	case GTU_PEG_R_BS: return *wide = false, *value = e->bs, true;
	case GTU_PEG_R_BW0: return *value = e->bw[0], true;
	case GTU_PEG_R_BW1: return *value = e->bw[1], true;
	case GTU_PEG_R_BW2: return *value = e->bw[2], true;
	}
	return false;
}

/* ---- Operands ----------------------------------------------------------------------------------- */

static bool operands(struct gtu_job *job)
{
	const struct peg_stream s = params_of(job);
	const uint64_t return_bytes = job->desc.param2 ? 1ull << job->desc.param2 << s.id_log2 : 0;
	const uint64_t ring = GTU_PEG_STRIDE(job->operand[GTU_PEG_RINGS].count, peg_record_bytes(&s), return_bytes);
	const uint8_t graph = s.vertex_list ? GTU_REQUIRE_NONE : GTU_REQUIRE_READ;
	const struct gtu_requirement want[] = {
		{ .slot = GTU_PEG_VERTICES, .width_log2 = s.offset_log2, .need = graph },
		{ .slot = GTU_PEG_EDGES, .width_log2 = s.id_log2, .rest = 1, .need = graph },
		{ .slot = GTU_PEG_WEIGHTS, .width_log2 = s.weight_log2, .rest = 1,
		  .need = graph && !s.field[2] ? GTU_REQUIRE_READ | GTU_REQUIRE_MAYBE : graph },
		{ .slot = GTU_PEG_INPUT, .width_log2 = s.id_log2,
		  .need = GTU_REQUIRE_READ | (graph ? GTU_REQUIRE_MAYBE : 0) },
		{ .slot = GTU_PEG_RINGS, .width_log2 = 6, .need = GTU_REQUIRE_BOTH, .bytes = ring * s.engines },
		{ .slot = GTU_PEG_OUTPUT, .width_log2 = s.id_log2, .need = GTU_REQUIRE_WRITE | GTU_REQUIRE_MAYBE },
		{ .slot = GTU_PEG_SPILL, .width_log2 = 7, .need = GTU_REQUIRE_BOTH | GTU_REQUIRE_MAYBE },
	};

	return gtu_job_operands(job, want, GTU_PEG_OPERANDS);
}

static bool start(struct gtu_job *job)
{
	const uint32_t param = job->desc.param, *build = job->page->param;
	const uint32_t ring = job->operand[GTU_PEG_RINGS].count, graph_only =
		GTU_PEG_PULL | GTU_PEG_OFFSETS_8 | GTU_PEG_WEIGHTS_8 | GTU_PEG_WITH_SRC | GTU_PEG_WITH_DST |
		GTU_PEG_WITH_WEIGHT | GTU_PEG_WITH_INDEX | GTU_PEG_BALANCE_EDGES | GTU_PEG_STAND_BY;
	const struct peg_stream s = params_of(job);
	const uint64_t lanes = peg_record_bytes(&s) - sizeof(struct gtu_hw_warp);

	if (param & ~GTU_PEG_PARAM_MASK)
		return gtu_job_error(job, GTU_CPL_RESERVED, 0xff, 0), false;
	if (s.engines > build[GTU_PEG_P_ENGINES] || !lanes || (s.vertex_list && param & graph_only) ||
	    (param & GTU_PEG_STAND_BY && !(param & GTU_PEG_BALANCE_EDGES)) ||
	    s.list_bytes > build[GTU_PEG_P_LIST_BYTES] || s.edge_bytes > build[GTU_PEG_P_EDGE_BYTES] ||
	    (s.list_bytes && s.list_bytes / 2 >> s.id_log2 < 1) || (s.edge_bytes && s.edge_bytes < lanes) ||
	    (job->desc.param2 && (job->desc.param2 < 5 || job->desc.param2 > 20)))
		return gtu_job_error(job, GTU_CPL_PARAM, 0xff, 0), false;
	if (!ring || ring & (ring - 1))
		return gtu_job_error(job, GTU_CPL_OPERAND, GTU_PEG_RINGS, 0), false;
	if (!operands(job))
		return false;
	if (!s.vertex_list && !job->operand[GTU_PEG_VERTICES].count)
		return gtu_job_error(job, GTU_CPL_OPERAND, GTU_PEG_VERTICES, 0), false;
	/* a return ring requires an output list, and SPILL requires both */
	if (!job->operand[GTU_PEG_OUTPUT].key != !job->desc.param2)
		return gtu_job_error(job, GTU_CPL_OPERAND, GTU_PEG_OUTPUT, 0), false;
	if (job->operand[GTU_PEG_SPILL].key && !job->operand[GTU_PEG_OUTPUT].key)
		return gtu_job_error(job, GTU_CPL_OPERAND, GTU_PEG_SPILL, 0), false;
	return true;
}

/* ---- Fetch port of the core ------------------------------------------------------------------ */

/* Input list index of vertex @i of those dealt to engine @n. */
static uint64_t dealt(const struct peg_unit *u, unsigned n, uint64_t i)
{
	return (i / PEG_CHUNK * u->core->stream.engines + n) * PEG_CHUNK + i % PEG_CHUNK;
}

static void deal(struct peg_unit *u, unsigned engines_, uint64_t vertices)
{
	const uint64_t chunks = (vertices + PEG_CHUNK - 1) / PEG_CHUNK;

	for (unsigned n = 0; n < engines_; n++) {
		const uint64_t own = chunks > n ? (chunks - n - 1) / engines_ + 1 : 0;

		u->left[n] = own * PEG_CHUNK;
		if (own && (chunks - 1) % engines_ == n)
			u->left[n] -= chunks * PEG_CHUNK - vertices;
	}
}

static uint64_t fetch_refill(void *ctx, unsigned n, unsigned slot, uint64_t first, unsigned count,
			     uint64_t cycle)
{
	struct peg_unit *u = ctx;
	struct gtu_mem *m = &u->job->mem[GTU_PEG_INPUT];

	(void)slot;
	if (!m->key)
		return cycle + 1;
	gtu_mem_request(m, dealt(u, n, first), count, cycle);
	return cycle + u->core->port.latency;
}

static uint64_t fetch_index(void *ctx, unsigned n, unsigned slot, uint64_t vertex, uint64_t cycle)
{
	struct peg_unit *u = ctx;

	(void)n, (void)slot;
	gtu_mem_request(&u->job->mem[GTU_PEG_VERTICES], vertex, 2, cycle);
	return cycle + u->core->port.latency;
}

static uint64_t fetch_edges(void *ctx, unsigned n, unsigned slot, uint64_t first, unsigned count,
			    uint64_t cycle)
{
	struct peg_unit *u = ctx;
	const struct peg_stream *s = &u->core->stream;

	(void)n, (void)slot;
	if (s->field[s->pull ? 0 : 1])
		gtu_mem_request(&u->job->mem[GTU_PEG_EDGES], first, count, cycle);
	if (s->field[2])
		gtu_mem_request(&u->job->mem[GTU_PEG_WEIGHTS], first, count, cycle);
	return cycle + u->core->port.latency;
}

/* Load elements of an operand, each once. */
static inline bool load(struct gtu_mem *m, uint64_t first, unsigned count, void *to)
{
	const uint64_t byte = first << m->width_log2, bytes = (uint64_t)count << m->width_log2;

	if (m->base && byte + bytes <= m->bytes) {
		memcpy(to, m->base + byte, bytes);
		return true;
	}
	return gtu_mem_load(m, byte, to, bytes);
}

static bool load_vertices(void *ctx, unsigned n, uint64_t first, unsigned count, void *to)
{
	struct peg_unit *u = ctx;
	struct gtu_mem *m = &u->job->mem[GTU_PEG_INPUT];
	const uint64_t at = dealt(u, n, first);

	if (m->key)
		return load(m, at, count, to);
	for (unsigned i = 0; i < count; i++) {	/* all vertices, in order */
		if (u->core->stream.id_log2 == 3)
			((uint64_t *)to)[i] = at + i;
		else
			((uint32_t *)to)[i] = (uint32_t)(at + i);
	}
	return true;
}

static bool load_index(void *ctx, unsigned n, uint64_t vertex, uint64_t *from, uint64_t *to)
{
	struct peg_unit *u = ctx;
	struct gtu_mem *m = &u->job->mem[GTU_PEG_VERTICES];
	union { uint64_t wide[2]; uint32_t narrow[2]; } at;

	(void)n;
	if (!load(m, vertex, 2, &at))
		return false;
	*from = m->width_log2 == 3 ? at.wide[0] : at.narrow[0];
	*to = m->width_log2 == 3 ? at.wide[1] : at.narrow[1];
	return true;
}

static bool load_edges(void *ctx, unsigned n, uint64_t first, unsigned count, void *ids, void *weights)
{
	struct peg_unit *u = ctx;

	(void)n;
	return (!ids || load(&u->job->mem[GTU_PEG_EDGES], first, count, ids)) &&
	       (!weights || load(&u->job->mem[GTU_PEG_WEIGHTS], first, count, weights));
}

/* ---- The job --------------------------------------------------------------------------------- */

static bool begin(struct gtu_job *job, struct gtu_stream *ring)
{
	struct peg_unit *u = job->page->state;
	const struct peg_shape shape = shape_of(gtu_dev_config(job->dev));
	const struct gtu_mem *m = job->mem;
	struct peg_core *core = u->core ? u->core : peg_core_init((uint8_t *)u + CORE_AT, &shape);
	struct peg_stream s = params_of(job);
	const struct peg_port port = {
		.ctx = u, .refill = fetch_refill, .index = fetch_index, .edges = fetch_edges,
		.load_vertices = load_vertices, .load_index = load_index, .load_edges = load_edges,
		.spill = peg_spill, .unspill = peg_unspill, .latency = gtu_job_latency(job, GTU_PEG_P_LATENCY),
	};

	memset(u, 0, sizeof(*u));
	u->core = core;
	u->job = job;
	s.edges_addr = m[GTU_PEG_EDGES].addr;
	s.edges = m[GTU_PEG_EDGES].count;
	s.vertices = s.vertex_list ? 0 : m[GTU_PEG_VERTICES].count - 1;
	if (s.field[2] && m[GTU_PEG_WEIGHTS].count < s.edges)
		s.edges = m[GTU_PEG_WEIGHTS].count;
	deal(u, s.engines, m[GTU_PEG_INPUT].key ? m[GTU_PEG_INPUT].count : s.vertices);
	s.left = u->left;
	if (!peg_core_start(u->core, &s, &port))
		return gtu_job_error(job, GTU_CPL_PARAM, 0xff, 0), false;
	u->status = PEG_MORE;
	ring->ring = &job->mem[GTU_PEG_RINGS];
	ring->rings = s.engines;
	ring->count = job->operand[GTU_PEG_RINGS].count;
	ring->record_bytes = core->record_bytes;
	ring->return_size = job->desc.param2 ? 1u << job->desc.param2 : 0;
	ring->return_width = 1u << s.id_log2;
	ring->counts_changes = true;
	job->page->live[GTU_PEG_C_JOBS]++;
	return true;
}

static const uint64_t *account(struct gtu_job *job)
{
	const struct peg_unit *u = job->page->state;

	job->cycles = u->core->count.cycles = u->core->cycle + u->flush_cycles;
	return (const uint64_t *)&u->core->count;
}

/* The core stopped at an error, and the rings hold every record before it. */
static int fail(struct gtu_job *job, const struct peg_unit *u)
{
	const struct peg_engine *e = &u->core->engine[u->core->bad_engine];

	switch (u->status) {
	case PEG_BAD_VERTEX:
		job->needed = e->bad_value;
		return gtu_job_error(job, GTU_CPL_INDEX, GTU_PEG_INPUT, dealt(u, u->core->bad_engine, e->bad));
	case PEG_BAD_OFFSET:
		job->needed = e->bad_value;
		return gtu_job_error(job, GTU_CPL_INDEX, GTU_PEG_VERTICES, e->bad);
	}
	return gtu_job_error(job, GTU_CPL_DMA, GTU_PEG_VERTICES, 0);	/* if memory has set no error */
}

static int advance(struct gtu_job *job, const struct gtu_stream *s, uint64_t until)
{
	struct peg_unit *u = job->page->state;
	struct peg_core *c = u->core;
	const uint32_t all = s->rings == 32 ? ~0u : (1u << s->rings) - 1;

	if (u->blocked)
		return GTU_RUN_STALLED;
	if (u->status > PEG_DONE)
		return fail(job, u);
	if (u->status == PEG_DONE) {
		if (!s->return_size)
			return GTU_RUN_DONE;
		if (u->closed != all)
			return GTU_RUN_STALLED;
		return peg_flush(job, u, until) ? GTU_RUN_DONE : GTU_RUN_MORE;
	}
	if (u->status == PEG_IDLE && !s->moved)
		return GTU_RUN_STALLED;
	if (c->cycle >= until)
		return GTU_RUN_MORE;
	u->status = (uint8_t)peg_core_run(c, until);
	return STREAM_AGAIN;
}

static const struct gtu_stream_ops stream = {
	.operands = operands,
	.begin = begin,
	.pump = peg_pump,
	.advance = advance,
	.account = account,
	.counters = GTU_PEG_COUNTERS,
};

const struct gtu_unit gtu_unit_peg = {
	.version = 1,
	.exclusive = true,
	.state_bytes = state_bytes,
	.latency = offsetof(struct gtu_dev_config, peg_latency),
	.own_register = own_register,
	.start = start,
	.run = stream_run,
	.stop = stream_stop,
	.stream = &stream,
};
