/* SPDX-License-Identifier: MIT */
/*
 * The device's link monitor (zcm_core.h) attached to the link to host memory. It counts every
 * request of the GPU with the device model's own code.
 */
#ifndef GTU_LAB_MONITOR_H
#define GTU_LAB_MONITOR_H

#include "firmware-model/lab/engine/lab.h"
#include "firmware-model/units/zcm/zcm_core.h"

/* Bytes over the link are also counted over time. */
#define LAB_MONITOR_BINS	128u
#define LAB_MONITOR_PARTS	8u

struct lab_monitor {
	struct zcm zcm;
	/* bytes by the cycle of arrival; a bin's width doubles when time exceeds the bins */
	uint64_t bin[LAB_MONITOR_BINS], bin_cycles;
	uint64_t count[GTU_ZCM_COUNTERS]; /* same layout as the device's registers: GTU_ZCM_C_... */
};

/*
 * Attach to @lab's link, replacing any observer. GTU_ERR_USAGE without a link. Call
 * lab_monitor_free() before lab_destroy().
 */
int lab_monitor_attach(struct lab *lab, struct lab_monitor *m, struct gtu_error *err);
/* Bytes that arrived in each of @part[LAB_MONITOR_PARTS], equal parts of the first @cycles. */
void lab_monitor_parts(const struct lab_monitor *m, uint64_t cycles, uint64_t *part);
/* Free the buffers; the counters stay valid. */
void lab_monitor_free(struct lab_monitor *m);
/*
 * Compare the counters since attachment to a new lab with the lab's own: requests by size, bytes,
 * sum of round trips. Nothing may be in flight. GTU_ERR_VERIFY names the first difference.
 */
int lab_monitor_check(const struct lab *lab, struct lab_monitor *m, struct gtu_error *err);

#endif
