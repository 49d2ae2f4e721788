// SPDX-License-Identifier: MIT
/* Energy costs per event, for discrete and mobile GPUs, and sums over them. */
#include <limits.h>

#include "energy.h"

/*
 * "MMGPU": Arunkumar et al., Understanding the Future of Energy Efficiency in Multi-Module GPUs,
 * HPCA 2019, table Ib: microbenchmarks on a Tesla K40 (28 nm, GDDR5).
 * "Horowitz": Computing's Energy Problem, ISSCC 2014 (45 nm).
 * "FGDRAM": O'Connor et al., Fine-Grained DRAM, MICRO 2017.
 * "Tom's": Tom's Hardware, GeForce GTX 980 and 970 review, 2014, idle power.
 * "CACTI": as GPUWattch of 2013 contains it, and gpuwattch_gtx480.xml of GPGPU-Sim 3.2 configures it: a bank of 128 KB
 * at 40 nm. SCU, section 5, takes cache and interconnection from CACTI, not from measurements of a GPU.
 */
static const struct lab_energy_cost discrete[LAB_EVENTS] = {
	[LAB_E_INSTRUCTION] = { "thread instruction", "MMGPU: integer and float instructions of 50 to 70 pJ; half as much and again",
				{ 30, 60, 90 } },
	[LAB_E_L1] = { "L1 access", "MMGPU: L1 to registers 5.99 nJ for 128 bytes; least: half", { 3000, 5990, 5990 } },
	[LAB_E_SHARED] = { "shared memory access", "MMGPU: shared memory to registers 5.45 nJ for 128 bytes; least: half",
			   { 2700, 5450, 5450 } },
	[LAB_E_L2] = { "L2 sector", "MMGPU: L2 to L1 3.96 nJ for 32 bytes; least: half", { 1980, 3960, 3960 } },
	[LAB_E_L2_WRITE] = { "L2 write", "none: its sectors have it", { 0, 0, 0 } },
	[LAB_E_DRAM] = { "DRAM sector", "MMGPU: DRAM to L2 7.82 nJ for 32 bytes; least: FGDRAM, GDDR5 of 14 pJ a bit",
			 { 3580, 7820, 7820 } },
	[LAB_E_UNIT] = { "unit element", "assumed: four accesses of a buffer; Horowitz: 10 pJ at 8 KB, 20 pJ at 32 KB",
			 { 40, 80, 160 } },
	[LAB_E_UNIT_L2] = { "L2 sector of a unit", "CACTI: a read 0.20 nJ, a write 0.32 nJ; most: as an SM's",
			    { 200, 320, 3960 } },
	[LAB_E_SECOND] = { "static power", "Tom's: 9.2 and 15.8 W idle (two GTX 980); most: MMGPU, 62 W of a K40", { 9.2, 15.8, 62 } },
};

static const struct lab_energy_cost mobile[LAB_EVENTS] = {
	[LAB_E_INSTRUCTION] = { "thread instruction", "assumed: half of the discrete chip's, at 20 nm and a lower voltage; most: all",
				{ 15, 30, 60 } },
	[LAB_E_L1] = { "L1 access", "as above", { 1500, 3000, 5990 } },
	[LAB_E_SHARED] = { "shared memory access", "as above", { 1350, 2720, 5450 } },
	[LAB_E_L2] = { "L2 sector", "as above, wires a quarter to a half as long", { 500, 1000, 1980 } },
	[LAB_E_L2_WRITE] = { "L2 write", "none: its sectors have it", { 0, 0, 0 } },
	[LAB_E_DRAM] = { "DRAM sector", "assumed: LPDDR4 of 4 to 12 pJ a bit", { 1020, 2050, 3070 } },
	[LAB_E_UNIT] = { "unit element", "assumed: four accesses of a buffer; Horowitz: 10 pJ at 8 KB, 20 pJ at 32 KB",
			 { 20, 60, 160 } },
	[LAB_E_UNIT_L2] = { "L2 sector of a unit", "as above; most: as an SM's", { 200, 320, 1980 } },
	[LAB_E_SECOND] = { "static power", "assumed: a tenth of the 10 W that NVIDIA gives for a Jetson TX1, by two",
			   { 0.5, 1, 2 } },
};

/*
 * "GPUWattch": as GPGPU-Sim 3.2 contains it; configured by its gpuwattch_gtx480.xml (40 nm, 700 MHz), it prints the energy of
 * each event. A thread's instruction has 71 pJ of the pipeline's 25.46 W at one warp instruction a cycle and SM, 20.5 of two
 * register reads and a write, 5 of execution, and 4 of the 122 pJ that a warp's fetch and decoding take. A DRAM read command
 * has 64 bytes there: two chips of 4 bytes, a burst of 8. The ends of the ranges that are not GPUWattch's are those above.
 */
static const struct lab_energy_cost gpuwattch[LAB_EVENTS] = {
	[LAB_E_INSTRUCTION] = { "thread instruction", "GPUWattch: 100 pJ", { 30, 100, 100 } },
	[LAB_E_L1] = { "L1 access", "GPUWattch: read hit 2.93 nJ", { 2930, 2930, 5990 } },
	[LAB_E_SHARED] = { "shared memory access", "GPUWattch: 2.12 nJ", { 2120, 2120, 5450 } },
	[LAB_E_L2] = { "L2 sector", "GPUWattch: of 4, a read hit of 2.81 nJ and 6 flits of 1.94 nJ", { 1980, 3610, 3960 } },
	[LAB_E_L2_WRITE] = { "L2 write", "GPUWattch: write hit 13.85 nJ, beyond a read's 2.81 nJ", { 0, 11040, 11040 } },
	[LAB_E_DRAM] = { "DRAM sector", "GPUWattch: half of a read's 26.95 nJ", { 3580, 13470, 13470 } },
	[LAB_E_UNIT] = { "unit element", "assumed: four accesses of a buffer; Horowitz: 10 pJ at 8 KB, 20 pJ at 32 KB",
			 { 40, 80, 160 } },
	[LAB_E_UNIT_L2] = { "L2 sector of a unit", "CACTI: a read 0.20 nJ, a write 0.32 nJ; most: as an SM's",
			    { 200, 320, 3960 } },
	[LAB_E_SECOND] = { "static power", "GPUWattch: constant power 11 W", { 9.2, 11, 62 } },
};

static const struct lab_energy_cost gpuwattch_mobile[LAB_EVENTS] = {
	[LAB_E_INSTRUCTION] = { "thread instruction", "assumed: half of the discrete chip's, at 20 nm and a lower voltage; most: all",
				{ 15, 50, 100 } },
	[LAB_E_L1] = { "L1 access", "as above", { 1465, 1465, 2930 } },
	[LAB_E_SHARED] = { "shared memory access", "as above", { 1060, 1060, 2120 } },
	[LAB_E_L2] = { "L2 sector", "as above, wires a quarter to a half as long", { 450, 900, 1800 } },
	[LAB_E_L2_WRITE] = { "L2 write", "as above", { 0, 2760, 5520 } },
	[LAB_E_DRAM] = { "DRAM sector", "assumed: LPDDR4 of 4 to 12 pJ a bit", { 1020, 2050, 3070 } },
	[LAB_E_UNIT] = { "unit element", "assumed: four accesses of a buffer; Horowitz: 10 pJ at 8 KB, 20 pJ at 32 KB",
			 { 20, 60, 160 } },
	[LAB_E_UNIT_L2] = { "L2 sector of a unit", "as above; most: as an SM's", { 200, 320, 1800 } },
	[LAB_E_SECOND] = { "static power", "assumed: a tenth of the 10 W that NVIDIA gives for a Jetson TX1, by two",
			   { 0.5, 1, 2 } },
};

const struct lab_energy_cost *lab_energy_costs(const struct lab_machine *m)
{
	if (m->gpuwattch)
		return m->dram_gbs < 64 ? gpuwattch_mobile : gpuwattch;
	return m->dram_gbs < 64 ? mobile : m->dram_gbs < 400 ? discrete : NULL;
}

void lab_energy_add(struct lab_energy *e, const struct lab_machine *m, const struct lab_stats *s, uint64_t cycles,
		    uint64_t elements)
{
	e->count[LAB_E_INSTRUCTION] += (double)s->thread_instructions;
	e->count[LAB_E_L1] += (double)(lab_sum(s->l1_load, LAB_STATUSES) + lab_sum(s->l1_store, LAB_STATUSES));
	e->count[LAB_E_SHARED] += (double)s->shared_accesses;
	e->count[LAB_E_L2] += (double)(lab_sum(s->l2_read, LAB_STATUSES) + lab_sum(s->l2_write, LAB_STATUSES));
	e->count[LAB_E_L2_WRITE] += (double)lab_sum(s->request[LAB_STORE], LAB_SIZES);
	e->count[LAB_E_DRAM] += (double)s->dram_reads + (double)s->dram_writes;
	e->count[LAB_E_UNIT] += (double)elements;
	e->count[LAB_E_SECOND] += lab_seconds(m, cycles);
}

void lab_energy_add_unit(struct lab_energy *e, const struct lab_machine *m, const struct lab_stats *s, uint64_t cycles,
			 uint64_t elements)
{
	const double of_sms = e->count[LAB_E_L2], writes = e->count[LAB_E_L2_WRITE];

	lab_energy_add(e, m, s, cycles, elements);
	e->count[LAB_E_UNIT_L2] += e->count[LAB_E_L2] - of_sms;
	e->count[LAB_E_L2] = of_sms;
	e->count[LAB_E_L2_WRITE] = writes;
}

#define LIKELY UINT_MAX
/* In pJ. Bit k of @high selects event k's highest cost, otherwise its lowest; LIKELY: likely costs. */
static double total(const struct lab_energy_cost *cost, const struct lab_energy *e, unsigned high)
{
	double j = 0;
	unsigned k;

	for (k = 0; k < LAB_EVENTS; k++)
		j += e->count[k] * (high == LIKELY ? cost[k].cost.likely : high >> k & 1 ? cost[k].cost.max :
				    cost[k].cost.min) * (k == LAB_E_SECOND ? 1e12 : 1);
	return j;
}

struct lab_energy_range lab_energy_joules(const struct lab_energy_cost *cost, const struct lab_energy *e)
{
	return (struct lab_energy_range){ 1e-12 * total(cost, e, 0), 1e-12 * total(cost, e, LIKELY),
					  1e-12 * total(cost, e, (1u << LAB_EVENTS) - 1) };
}

/* A quotient of sums that are linear in each cost is extreme where each cost is extreme. */
struct lab_energy_range lab_energy_ratio(const struct lab_energy_cost *cost, const struct lab_energy *a,
					 const struct lab_energy *b)
{
	struct lab_energy_range r = { 0, total(cost, a, LIKELY) / total(cost, b, LIKELY), 0 };
	unsigned high;

	for (high = 0; high < 1u << LAB_EVENTS; high++) {
		double q = total(cost, a, high) / total(cost, b, high);

		r.min = !high || q < r.min ? q : r.min;
		r.max = !high || q > r.max ? q : r.max;
	}
	return r;
}
