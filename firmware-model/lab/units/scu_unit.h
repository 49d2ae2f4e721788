/* SPDX-License-Identifier: MIT */
/*
 * The SCU on the crossbar of a laboratory's machine (SCU, figure 5): the unit's core over the machine's L2 and DRAM.
 * Operations run while no kernel does, as the paper has them.
 */
#ifndef GTU_LAB_SCU_UNIT_H
#define GTU_LAB_SCU_UNIT_H

#include "firmware-model/lab/engine/lab.h"
#include "firmware-model/units/scu/scu_core.h"

/* SCU, tables 1 and 2, with the values chosen where they are unclear: widths 4 and 1; 16 bytes per buffer element. */
extern const struct scu_pipe_shape lab_scu_published;

/* Sums over all operations. */
struct lab_scu_counts {
	uint64_t operations, cycles;
	uint64_t slots;			/* of these: what a memory that answers at once would take */
	uint64_t count[GTU_SCU_COUNTERS]; /* by GTU_SCU_C_... */
	struct scu_pipe_counts pipe;
};

struct lab_scu;
int lab_scu_attach(struct lab *lab, const struct scu_pipe_shape *shape, const struct lab_unit_path *path, struct lab_scu **out,
		   struct gtu_error *err);
void lab_scu_free(struct lab_scu *u);	/* after its lab; NULL is allowed */
const struct lab_scu_counts *lab_scu_counts(struct lab_scu *u);

/* A descriptor: opcode, param and imm of uapi/gtu/hw.h; slots without an array are not given. */
struct lab_scu_op {
	uint8_t opcode;
	uint32_t param;
	uint64_t imm;
	uint8_t group_max;		/* elements per group; 0: the device's 8 */
	bool state_in_set;		/* a set has its state, and a group's set its counts beside the tags, without accesses of their own */
	bool skips_excluded;		/* elements that a mask or filter excludes take no slot */
	struct lab_scu_operand {
		const struct lab_array *array;
		/* elements, bits or lines, from the array's begin; lines: a multiple of 16 */
		uint64_t count;
	} operand[GTU_SCU_OPERANDS];
};

/*
 * Run @op to its end, all its writes accepted. @count gets the completion's: elements put out, or kept by PRODUCE.
 * GTU_ERR_USAGE for FUSED grouping, which needs its first pass done before the second begins; GTU_ERR_FAIL where it
 * ends in error, with status and operand; errors of lab_run_units(). Parameters are not checked.
 */
int lab_scu_run(struct lab_scu *u, const struct lab_scu_op *op, uint64_t *count, struct gtu_error *err);

#endif
