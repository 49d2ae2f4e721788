/* SPDX-License-Identifier: MIT */
/*
 * The device's monitor (zcm_core.h) on the link to host memory: it sees every request of the GPU, as it would see those
 * of a device's units, and counts it with the device's own code.
 */
#ifndef GTU_LAB_MONITOR_H
#define GTU_LAB_MONITOR_H

#include "firmware-model/lab/engine/lab.h"
#include "firmware-model/units/zcm/zcm_core.h"

struct lab_monitor {
	struct zcm zcm;
	uint64_t count[GTU_ZCM_COUNTERS];	/* as the device's registers: GTU_ZCM_C_... */
	struct lab_observer observer;
};

/*
 * Watch @lab's link, instead of another observer. GTU_ERR_USAGE without a link. lab_monitor_free() before @lab goes.
 */
int lab_monitor_attach(struct lab *lab, struct lab_monitor *m, struct gtu_error *err);
/* Give up what it holds; its counters stay. */
void lab_monitor_free(struct lab_monitor *m);
/*
 * When nothing is under way, what it counted since it was attached to a new laboratory is what the link carried: requests by size,
 * bytes, the sum of round trips. GTU_ERR_VERIFY names what differs.
 */
int lab_monitor_check(const struct lab *lab, struct lab_monitor *m, struct gtu_error *err);

#endif
