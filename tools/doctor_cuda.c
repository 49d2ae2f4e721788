// SPDX-License-Identifier: MIT
/* gtu doctor: a GPU as the device. */
#include "doctor.h"

void doctor_cuda(struct doctor *d)
{
	doctor_say(d, FOUND_SKIP, "cuda", "this build has no GPU backend");
}
