/* SPDX-License-Identifier: MIT */
#ifndef GTU_BENCH_GPU_H
#define GTU_BENCH_GPU_H

/* Implements gtu bench gpu, with the verb's own command line. Returns the exit code. */
int bench_gpu(int argc, char **argv);

#endif
