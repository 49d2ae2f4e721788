/* SPDX-License-Identifier: MIT */
#ifndef FAKE_NVRTC_H
#define FAKE_NVRTC_H

/* Configuration and record of the fake NVRTC in libnvrtc.c. */
struct fake_nvrtc {
	long fail_at;			/* the call that fails, counted from 1; 0: none */
	const char *log;		/* the compiler's messages: the program does not compile; NULL: it does */
	/* recorded */
	long calls, live;
	int has_kernels;		/* the header gtu/weave.cuh is given as text */
	char source[4096], name[64], options[512];
};

#endif
