/* SPDX-License-Identifier: MIT */
#ifndef FAKE_NCCL_H
#define FAKE_NCCL_H

/* Configuration and record of the fake NCCL in libnccl.c. */
struct fake_nccl {
	int version;
	long fail_at;			/* the call that fails, counted from 1; ncclCommAbort() never fails */
	/* recorded */
	long calls, live, sends, gathers;
	const char *failed;		/* name of the failed call */
};

#endif
