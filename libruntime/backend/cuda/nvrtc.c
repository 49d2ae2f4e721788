// SPDX-License-Identifier: MIT
/*
 * Compiles programs of gtu/weave.h for a GPU at run time by NVIDIA's NVRTC, which is loaded on demand
 * like the CUDA driver (load.c).
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gtu/weave.h"

#define LIBRARY_VARIABLE "GTU_NVRTC_LIBRARY"

/* The subset of NVRTC that this file uses: entry point, arguments. Declared here for the reason in api.h. */
typedef int nvrtcResult;
typedef struct nvrtc_program *nvrtcProgram;
#define NVRTC_ERROR_COMPILATION 6
#define NVRTC_CALLS(X)                                                                             \
	X(nvrtcCreateProgram, (nvrtcProgram *p, const char *source, const char *name, int headers, \
			       const char *const *header, const char *const *include_name))        \
	X(nvrtcDestroyProgram, (nvrtcProgram *p))                                                  \
	X(nvrtcCompileProgram, (nvrtcProgram p, int options, const char *const *option))           \
	X(nvrtcGetCUBINSize, (nvrtcProgram p, size_t *bytes))                                      \
	X(nvrtcGetCUBIN, (nvrtcProgram p, char *image))                                            \
	X(nvrtcGetProgramLogSize, (nvrtcProgram p, size_t *bytes))                                 \
	X(nvrtcGetProgramLog, (nvrtcProgram p, char *log))

struct nvrtc {
	void *library;
#define NVRTC_MEMBER(name, args) nvrtcResult (*name) args;
	NVRTC_CALLS(NVRTC_MEMBER)
#undef NVRTC_MEMBER
	const char *(*nvrtcGetErrorString)(nvrtcResult rc);
};

/* Headers by which NVRTC compiles without files: those of this library, and what they need of C. */
#define EMBED(symbol, file)                                                                        \
	__asm__(".section .rodata\n"                                                               \
		".globl " #symbol "\n"                                                             \
		".hidden " #symbol "\n"                                                            \
		".type " #symbol ", @object\n"                                                     \
		#symbol ":\n"                                                                      \
		".incbin \"" file "\"\n"                                                           \
		".byte 0\n"                                                                        \
		".previous\n");                                                                    \
	extern const char symbol[] __attribute__((visibility("hidden")))
EMBED(gtu_weave_h_text, "include/gtu/weave.h");
EMBED(gtu_weave_cuh_text, "include/gtu/weave.cuh");

static const char *const include_name[] = { "gtu/weave.cuh", "gtu/weave.h", "stdint.h", "stdbool.h", "stddef.h" };
static const char *const header[] = {
	gtu_weave_cuh_text,
	gtu_weave_h_text,
	"typedef signed char int8_t;\ntypedef short int16_t;\ntypedef int int32_t;\ntypedef long long int64_t;\n"
	"typedef unsigned char uint8_t;\ntypedef unsigned short uint16_t;\ntypedef unsigned uint32_t;\n"
	"typedef unsigned long long uint64_t;\ntypedef unsigned long long uintptr_t;\n"
	"#define INT32_MAX 0x7fffffff\n#define UINT32_MAX 0xffffffffu\n#define UINT64_MAX 0xffffffffffffffffull\n",
	"",
	"#define offsetof(type, member) __builtin_offsetof(type, member)\n",
};
#define HEADERS (sizeof(header) / sizeof(header[0]))

static int load(struct nvrtc *api, struct gtu_error *err)
{
	static const char *const names[] = { "libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so",
					     "/usr/local/cuda/lib64/libnvrtc.so" };
	const struct {
		const char *name;
		void *to;
	} call[] = {
#define NVRTC_NAME(name, args) { #name, &api->name },
		NVRTC_CALLS(NVRTC_NAME)
#undef NVRTC_NAME
		{ "nvrtcGetErrorString", &api->nvrtcGetErrorString },
	};
	const char *chosen = secure_getenv(LIBRARY_VARIABLE);
	void *symbol;
	size_t i;

	memset(api, 0, sizeof(*api));
	/* the library stays: it never frees what its C++ runtime allocates when it is loaded */
	if (chosen && *chosen)
		api->library = dlopen(chosen, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	else
		for (i = 0; i < sizeof(names) / sizeof(names[0]) && !api->library; i++)
			api->library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	if (!api->library)
		return gtu_fail(err, GTU_ERR_UNSUPPORTED, "there is no NVRTC on this computer, which compiles programs for a "
				"GPU: %s; install it (part of NVIDIA's CUDA toolkit), or compile the program by nvcc", dlerror());
	for (i = 0; i < sizeof(call) / sizeof(call[0]); i++) {
		symbol = dlsym(api->library, call[i].name);
		if (!symbol) {
			dlclose(api->library);
			return gtu_fail(err, GTU_ERR_UNSUPPORTED, "the NVRTC library%s%s has no %s: it is too old or damaged; "
					"install one of CUDA 12 or later", chosen && *chosen ? " " : "",
					chosen && *chosen ? chosen : "", call[i].name);
		}
		memcpy(call[i].to, &symbol, sizeof(symbol));
	}
	return 0;
}

static int fail_call(const struct nvrtc *api, nvrtcResult rc, const char *call, struct gtu_error *err)
{
	return gtu_fail(err, GTU_ERR_FAIL, "%s failed: %s (%d)", call, api->nvrtcGetErrorString(rc), rc);
}

/* The first line of the compiler's messages that reports an error. */
static int fail_source(const struct nvrtc *api, nvrtcProgram p, const char *name, struct gtu_error *err)
{
	size_t bytes = 0;
	char *log = NULL, *line = NULL, *rest;
	nvrtcResult rc = api->nvrtcGetProgramLogSize(p, &bytes);
	int ret;

	if (!rc && bytes) {
		log = calloc(bytes + 1, 1);
		if (log && !api->nvrtcGetProgramLog(p, log))
			for (line = strtok_r(log, "\n", &rest); line && !strstr(line, "error"); line = strtok_r(NULL, "\n", &rest))
				;
	}
	ret = gtu_fail(err, GTU_ERR_INPUT, "the program %s does not compile for the GPU: %.300s", name,
		       line ? line : "the compiler gives no reason");
	free(log);
	return ret;
}

/* The program's text: gtu/weave.cuh, the functions, the kernels. */
static char *whole_source(const struct gtu_weave_program *p)
{
	const char *none = "gtu_weave_no_filter";
	char *text;

	if (asprintf(&text, "#include \"gtu/weave.cuh\"\n#line 1 \"%s\"\n%s\nGTU_WEAVE_KERNELS(%s, %s, %s, %s, %s, %s)\n",
		     p->name, p->source, p->name, p->init, p->filter_source ? p->filter_source : none,
		     p->filter_target ? p->filter_target : none, p->gather, p->apply) < 0)
		return NULL;
	return text;
}

static int compile(const struct nvrtc *api, const struct gtu_weave_program *p, const char *text, unsigned capability,
		   void **image, size_t *bytes, struct gtu_error *err)
{
	char architecture[48];
	const char **option;
	int options = 0, ret = 0;
	nvrtcProgram compiled;
	nvrtcResult rc;
	char *out = NULL;

	while (p->options && p->options[options])
		options++;
	option = calloc((size_t)options + 2, sizeof(*option));
	if (!option)
		return gtu_fail(err, GTU_ERR_NOMEM, "no memory for the options of NVRTC: %d options", options);
	snprintf(architecture, sizeof(architecture), "--gpu-architecture=sm_%u", capability);
	option[0] = architecture;
	option[1] = "--std=c++17";
	if (options)
		memcpy(option + 2, p->options, (size_t)options * sizeof(*option));
	rc = api->nvrtcCreateProgram(&compiled, text, p->name, HEADERS, header, include_name);
	if (rc) {
		free(option);
		return fail_call(api, rc, "nvrtcCreateProgram", err);
	}
	rc = api->nvrtcCompileProgram(compiled, options + 2, option);
	if (rc)
		ret = rc == NVRTC_ERROR_COMPILATION ? fail_source(api, compiled, p->name, err) :
						      fail_call(api, rc, "nvrtcCompileProgram", err);
	if (!ret) {
		rc = api->nvrtcGetCUBINSize(compiled, bytes);
		if (rc)
			ret = fail_call(api, rc, "nvrtcGetCUBINSize", err);
	}
	if (!ret) {
		out = malloc(*bytes + 1);
		rc = out ? api->nvrtcGetCUBIN(compiled, out) : 0;
		if (!out)
			ret = gtu_fail(err, GTU_ERR_NOMEM, "no memory for the compiled program: %zu bytes", *bytes);
		else if (rc)
			ret = fail_call(api, rc, "nvrtcGetCUBIN", err);
	}
	if (ret)
		free(out);
	else
		*image = out;
	api->nvrtcDestroyProgram(&compiled);
	free(option);
	return ret;
}

int gtu_weave_compile(const struct gtu_weave_program *p, unsigned capability, void **image, size_t *bytes, struct gtu_error *err)
{
	struct nvrtc api;
	char *text;
	int ret;

	if (!p->name || !p->source || !p->init || !p->gather || !p->apply)
		return gtu_fail(err, GTU_ERR_USAGE, "a program for a GPU needs a name, a source, and the functions init, gather "
				"and apply: one of them is NULL");
	ret = load(&api, err);
	if (ret)
		return ret;
	text = whole_source(p);
	ret = text ? compile(&api, p, text, capability, image, bytes, err) :
		     gtu_fail(err, GTU_ERR_NOMEM, "no memory for the source of the program %s: %zu bytes", p->name,
			      strlen(p->source));
	free(text);
	dlclose(api.library);
	return ret;
}
