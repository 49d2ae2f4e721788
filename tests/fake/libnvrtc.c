// SPDX-License-Identifier: MIT
/* A fake NVRTC for tests: it records what it is asked to compile, and any call can be made to fail. */
#include <stdio.h>
#include <string.h>

#include "fake_nvrtc.h"

struct fake_nvrtc fake_nvrtc;

/* Count a call; true if it must fail. */
static int fails(void)
{
	return ++fake_nvrtc.calls == fake_nvrtc.fail_at;
}

int nvrtcCreateProgram(void **program, const char *source, const char *name, int headers, const char *const *header,
		       const char *const *include_name)
{
	if (fails())
		return 1;
	*program = &fake_nvrtc;
	fake_nvrtc.live++;
	snprintf(fake_nvrtc.source, sizeof(fake_nvrtc.source), "%s", source);
	snprintf(fake_nvrtc.name, sizeof(fake_nvrtc.name), "%s", name);
	for (int i = 0; i < headers; i++)
		if (!strcmp(include_name[i], "gtu/weave.cuh"))
			fake_nvrtc.has_kernels = strstr(header[i], "#define GTU_WEAVE_KERNELS(") != NULL;
	return 0;
}

int nvrtcDestroyProgram(void **program)
{
	*program = NULL;
	fake_nvrtc.live--;
	return 0;
}

int nvrtcCompileProgram(void *program, int options, const char *const *option)
{
	(void)program;
	if (fails())
		return 11;
	fake_nvrtc.options[0] = 0;
	for (int i = 0; i < options; i++) {
		strncat(fake_nvrtc.options, option[i], sizeof(fake_nvrtc.options) - strlen(fake_nvrtc.options) - 1);
		strncat(fake_nvrtc.options, " ", sizeof(fake_nvrtc.options) - strlen(fake_nvrtc.options) - 1);
	}
	return fake_nvrtc.log ? 6 : 0;
}

int nvrtcGetCUBINSize(void *program, size_t *bytes)
{
	(void)program;
	*bytes = 5;
	return fails() ? 1 : 0;
}

int nvrtcGetCUBIN(void *program, char *image)
{
	(void)program;
	memcpy(image, "cubin", 5);
	return fails() ? 1 : 0;
}

int nvrtcGetProgramLogSize(void *program, size_t *bytes)
{
	(void)program;
	*bytes = strlen(fake_nvrtc.log) + 1;
	return fails() ? 1 : 0;
}

int nvrtcGetProgramLog(void *program, char *log)
{
	(void)program;
	strcpy(log, fake_nvrtc.log);
	return fails() ? 1 : 0;
}

#ifndef FAKE_OLD
const char *nvrtcGetErrorString(int rc)
{
	return rc == 11 ? "NVRTC_ERROR_INTERNAL_ERROR" : "NVRTC_ERROR_OF_THE_FAKE";
}
#endif
