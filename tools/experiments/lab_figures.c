// SPDX-License-Identifier: MIT
/* Every figure and table of the five papers: the command that repeats it, its place, or why it is not repeated. */
#include "lab_figures.h"

#include "lab_run.h"

#define F(n) n
#define T(n) LAB_TABLE(n)

/* kind RUN: gtu lab run PAPER --figure N; text: what the rows lack, or NULL */
static const struct row {
	const char *paper;
	unsigned number;
	const char *title;
	enum lab_figure_kind kind;
	const char *text;
} rows[] = {
	{ "emogi", F(1), "a graph and its CSR form", LAB_FIGURE_PLACE, "Documentation/graph-files.md" },
	{ "emogi", F(2), "monitor of the link", LAB_FIGURE_PLACE, "firmware-model/units/zcm/zcm_core.c" },
	{ "emogi", F(3), "request sizes of three array accesses", LAB_FIGURE_RUN, NULL },
	{ "emogi", F(4), "bandwidth of the array accesses", LAB_FIGURE_RUN, "VTune's counts over time are eight means" },
	{ "emogi", F(5), "request sizes in BFS", LAB_FIGURE_RUN, NULL },
	{ "emogi", F(6), "edges over the degree", LAB_FIGURE_RUN, "twelve points of the curve" },
	{ "emogi", F(7), "number of requests in BFS", LAB_FIGURE_RUN, NULL },
	{ "emogi", F(8), "bandwidth in BFS", LAB_FIGURE_RUN, NULL },
	{ "emogi", F(9), "BFS over unified memory", LAB_FIGURE_RUN, NULL },
	{ "emogi", F(10), "read amplification", LAB_FIGURE_RUN, NULL },
	{ "emogi", F(11), "four algorithms over unified memory", LAB_FIGURE_RUN, NULL },
	{ "emogi", F(12), "edges of 4 and 8 bytes", LAB_FIGURE_RUN, NULL },
	{ "emogi", F(13), "PCIe 3.0 and 4.0", LAB_FIGURE_RUN, "a V100 with either link, not an A100" },
	{ "emogi", T(1), "the evaluation's machine", LAB_FIGURE_PLACE, "gtu lab machine v100" },
	{ "emogi", T(2), "graphs", LAB_FIGURE_RUN, NULL },
	{ "emogi", T(3), "HALO", LAB_FIGURE_RUN, "an order of our own: EMOGI does not describe HALO's; a V100 with 12 GB" },
	{ "emogi", T(4), "Subway", LAB_FIGURE_RUN, "the CPU's part is a time at a bandwidth" },

	{ "scu", F(1), "share of compaction in the time", LAB_FIGURE_RUN, NULL },
	{ "scu", F(2), "a graph, its CSR form and traversals", LAB_FIGURE_NONE, "an illustration" },
	{ "scu", F(3), "frontiers of BFS", LAB_FIGURE_NONE, "an illustration" },
	{ "scu", F(4), "data of SSSP", LAB_FIGURE_NONE, "an illustration" },
	{ "scu", F(5), "the Tegra X1 with the SCU", LAB_FIGURE_PLACE, "gtu lab machine tx1" },
	{ "scu", F(6), "the five operations", LAB_FIGURE_PLACE, "tests/unit/units/test_scu.c" },
	{ "scu", F(7), "architecture of the SCU", LAB_FIGURE_PLACE, "firmware-model/units/scu/scu_pipe.c" },
	{ "scu", F(8), "architecture with filtering and grouping", LAB_FIGURE_PLACE, "firmware-model/units/scu/scu_table.c" },
	{ "scu", F(9), "energy", LAB_FIGURE_RUN, NULL },
	{ "scu", F(10), "time", LAB_FIGURE_RUN, NULL },
	{ "scu", F(11), "basic and enhanced SCU", LAB_FIGURE_RUN, NULL },
	{ "scu", F(12), "coalescing by grouping", LAB_FIGURE_RUN, NULL },
	{ "scu", F(13), "memory bandwidth", LAB_FIGURE_RUN, NULL },
	{ "scu", T(1), "hardware parameters", LAB_FIGURE_PLACE, "include/uapi/gtu/units.h" },
	{ "scu", T(2), "parameters per GPU", LAB_FIGURE_PLACE, "tools/experiments/lab_scu.c" },
	{ "scu", T(3), "GTX 980", LAB_FIGURE_PLACE, "gtu lab machine gtx980" },
	{ "scu", T(4), "Tegra X1", LAB_FIGURE_PLACE, "gtu lab machine tx1" },
	{ "scu", T(5), "graphs", LAB_FIGURE_PLACE, "tools/experiments/lab_scu.c" },

	{ "iru", F(1), "warps that diverge in memory", LAB_FIGURE_NONE, "an illustration" },
	{ "iru", F(2), "a graph and its CSR form", LAB_FIGURE_NONE, "an illustration" },
	{ "iru", F(3), "time of a warp before and after the load", LAB_FIGURE_RUN, NULL },
	{ "iru", F(4), "integration with the GPU", LAB_FIGURE_PLACE, "firmware-model/lab/units/iru_unit.c" },
	{ "iru", F(5), "architecture of the IRU", LAB_FIGURE_PLACE, "firmware-model/units/iru/iru_core.c" },
	{ "iru", F(6), "the reordering hash", LAB_FIGURE_PLACE, "firmware-model/units/iru/iru_steps.h" },
	{ "iru", F(7), "two arrays with filtering", LAB_FIGURE_PLACE, "tests/unit/units/test_iru_core.c" },
	{ "iru", F(8), "the API", LAB_FIGURE_PLACE, "include/gtu/iru.cuh" },
	{ "iru", F(9), "BFS kernel", LAB_FIGURE_PLACE, "tests/cuda/listings.cu" },
	{ "iru", F(10), "SSSP kernel", LAB_FIGURE_PLACE, "tests/cuda/listings.cu" },
	{ "iru", F(11), "PageRank kernel", LAB_FIGURE_PLACE, "tests/cuda/listings.cu" },
	{ "iru", F(12), "accesses to L1 and L2", LAB_FIGURE_RUN, NULL },
	{ "iru", F(13), "traffic between SMs and memory partitions", LAB_FIGURE_RUN, NULL },
	{ "iru", F(14), "coalescing", LAB_FIGURE_RUN, NULL },
	{ "iru", F(15), "filtered elements", LAB_FIGURE_RUN, NULL },
	{ "iru", F(16), "time and energy", LAB_FIGURE_RUN, NULL },
	{ "iru", T(1), "hardware requirements", LAB_FIGURE_RUN, "sizes; area and energy of SRAM need CACTI" },
	{ "iru", T(2), "GTX 980", LAB_FIGURE_PLACE, "gtu lab machine gtx980" },
	{ "iru", T(3), "graphs", LAB_FIGURE_RUN, "stand-ins, with the locality of their order" },

	{ "graphpeg", F(1), "BFS without GraphPEG", LAB_FIGURE_PLACE, "firmware-model/lab/kernels/peg_advance.c" },
	{ "graphpeg", F(2), "Gunrock and the cost of its balancing", LAB_FIGURE_RUN, NULL },
	{ "graphpeg", F(3), "overview of GraphPEG", LAB_FIGURE_PLACE, "firmware-model/units/peg/peg_core.c" },
	{ "graphpeg", F(4), "BFS kernels with GraphPEG", LAB_FIGURE_PLACE, "tests/cuda/listings.cu" },
	{ "graphpeg", F(5), "edge gathering", LAB_FIGURE_PLACE, "firmware-model/units/peg/peg_engine.c" },
	{ "graphpeg", F(6), "edge-frontier balancing", LAB_FIGURE_PLACE, "firmware-model/units/peg/peg_balance.c" },
	{ "graphpeg", F(7), "splits of shared memory", LAB_FIGURE_RUN, NULL },
	{ "graphpeg", F(8), "balancing configurations", LAB_FIGURE_RUN, NULL },
	{ "graphpeg", F(9), "time of four implementations", LAB_FIGURE_RUN, NULL },
	{ "graphpeg", F(10), "speed-ups", LAB_FIGURE_RUN, NULL },
	{ "graphpeg", F(11), "number of SMs", LAB_FIGURE_RUN, NULL },
	{ "graphpeg", T(1), "intrinsic functions", LAB_FIGURE_PLACE, "include/gtu/peg.cuh" },
	{ "graphpeg", T(2), "GPU parameters", LAB_FIGURE_PLACE, "gtu lab machine graphpeg" },
	{ "graphpeg", T(3), "graphs", LAB_FIGURE_PLACE, "tools/experiments/lab_graphpeg_runs.c" },
	{ "graphpeg", T(4), "working table of eight entries", LAB_FIGURE_RUN, NULL },
	{ "graphpeg", T(5), "size of the working table", LAB_FIGURE_RUN, NULL },

	{ "sparseweaver", F(1), "imbalance in a warp", LAB_FIGURE_NONE, "an illustration" },
	{ "sparseweaver", F(2), "software mappings", LAB_FIGURE_RUN, NULL },
	{ "sparseweaver", F(3), "software mappings on two NVIDIA GPUs", LAB_FIGURE_RUN, "on Vortex, not on an A30 and an RTX 4090" },
	{ "sparseweaver", F(4), "stalls on an NVIDIA GPU", LAB_FIGURE_RUN, "counts of Vortex, not the stalls of an A30's profiler" },
	{ "sparseweaver", F(5), "disassembly of a mapping", LAB_FIGURE_NONE, "an illustration" },
	{ "sparseweaver", F(6), "Weaver's tables and states", LAB_FIGURE_PLACE, "firmware-model/units/wvr/wvr_core.c" },
	{ "sparseweaver", F(7), "execution flow", LAB_FIGURE_PLACE, "tests/unit/units/test_wvr_core.c" },
	{ "sparseweaver", F(8), "system overview", LAB_FIGURE_PLACE, "include/gtu/weave.h" },
	{ "sparseweaver", F(9), "generated gather kernel", LAB_FIGURE_PLACE, "tests/cuda/listings.cu" },
	{ "sparseweaver", F(10), "four mappings and Weaver", LAB_FIGURE_RUN, NULL },
	{ "sparseweaver", F(11), "skewness", LAB_FIGURE_RUN, NULL },
	{ "sparseweaver", F(12), "ratio of the clocks", LAB_FIGURE_RUN, NULL },
	{ "sparseweaver", F(13), "latency of the tables", LAB_FIGURE_RUN, NULL },
	{ "sparseweaver", F(14), "L3 cache", LAB_FIGURE_RUN, "a larger L2 in place of an L3" },
	{ "sparseweaver", F(15), "sizes of L1 and L2", LAB_FIGURE_RUN, NULL },
	{ "sparseweaver", F(16), "block utilisation on an FPGA", LAB_FIGURE_NONE, "there is no gateware" },
	{ "sparseweaver", F(17), "push and pull", LAB_FIGURE_RUN, NULL },
	{ "sparseweaver", F(18), "EGHW", LAB_FIGURE_RUN, NULL },
	{ "sparseweaver", F(19), "graph convolution", LAB_FIGURE_RUN, NULL },
	{ "sparseweaver", T(1), "properties of the software mappings", LAB_FIGURE_RUN, "counts of a run; S_strict is absent" },
	{ "sparseweaver", T(2), "instructions", LAB_FIGURE_PLACE, "include/gtu/weaver.cuh" },
	{ "sparseweaver", T(3), "graphs", LAB_FIGURE_PLACE, "tools/experiments/lab_sparseweaver.c" },
	{ "sparseweaver", T(4), "area", LAB_FIGURE_NONE, "there is no gateware" },
	{ "sparseweaver", T(5), "auto-tuner", LAB_FIGURE_RUN, "an auto-tuner of our own, on the same machine" },
};

unsigned lab_figures(struct lab_figure *out, unsigned capacity)
{
	const unsigned n = sizeof(rows) / sizeof(rows[0]);

	for (unsigned i = 0; i < n && i < capacity; i++) {
		const struct row *r = &rows[i];

		out[i] = (struct lab_figure){ .paper = r->paper, .title = r->title, .kind = r->kind, .text = r->text ? r->text : "",
					      .table = r->number >= LAB_TABLE(0),
					      .number = r->number >= LAB_TABLE(0) ? r->number - LAB_TABLE(0) : r->number };
		if (r->kind == LAB_FIGURE_RUN)
			snprintf(out[i].command, sizeof(out[i].command), "gtu lab run %s --%s %u", r->paper,
				 out[i].table ? "table" : "figure", out[i].number);
	}
	return n;
}
