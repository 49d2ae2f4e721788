// SPDX-License-Identifier: MIT
/* gtu doctor: reports GPUs. A GPU is optional, so a missing one is no failure. */
#include "doctor.h"
#include "gtu/gpu.h"

void doctor_cuda(struct doctor *d)
{
	struct gtu_error err = { 0 };
	int count = gtu_gpu_count(&err);

	if (count > 0)
		doctor_say(d, FOUND_OK, "cuda", "%d GPU%s: --device cuda:0", count, count == 1 ? "" : "s");
	else
		doctor_say(d, FOUND_SKIP, "cuda", "%s", count < 0 ? err.text : "no GPU");
}
