// SPDX-License-Identifier: MIT
/* Loads the CUDA driver on demand and reports what is missing. */
#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api.h"

#define DRIVER "libcuda.so.1"
#define DRIVER_VARIABLE "GTU_CUDA_LIBRARY"

int gtu_cuda_fail(const struct cuda_api *api, CUresult rc, struct gtu_error *err, const char *what, ...)
{
	const char *name = NULL, *text = NULL;
	char call[256];
	va_list ap;

	va_start(ap, what);
	vsnprintf(call, sizeof(call), what, ap);
	va_end(ap);
	if (api->cuGetErrorName && api->cuGetErrorName(rc, &name))
		name = NULL;
	if (api->cuGetErrorString && api->cuGetErrorString(rc, &text))
		text = NULL;
	return gtu_fail(err, rc == CUDA_ERROR_OUT_OF_MEMORY ? GTU_ERR_NOMEM : GTU_ERR_FAIL,
			"%s failed: %s (%s, %d)", call, text ? text : "no description",
			name ? name : "unknown to this driver", rc);
}

static int find_calls(struct cuda_api *api, const char *library, struct gtu_error *err)
{
	const struct {
		const char *name;
		void *to;
	} call[] = {
#define CUDA_NAME(name, args) { #name, &api->name },
		CUDA_CALLS(CUDA_NAME)
#undef CUDA_NAME
	};
	void *symbol;
	size_t i;

	for (i = 0; i < sizeof(call) / sizeof(call[0]); i++) {
		symbol = dlsym(api->library, call[i].name);
		if (!symbol)
			return gtu_fail(err, GTU_ERR_UNSUPPORTED,
					"the CUDA driver's %s has no %s: the driver is too old or damaged; install a newer one",
					library, call[i].name);
		memcpy(call[i].to, &symbol, sizeof(symbol));
	}
	return 0;
}

static int fail_no_gpu(struct gtu_error *err)
{
	return gtu_fail(err, GTU_ERR_UNSUPPORTED, "the CUDA driver finds no GPU on this "
			"computer; use another device (--device model), or make one "
			"visible (CUDA_VISIBLE_DEVICES)");
}

static int init_driver(struct cuda_api *api, int major, struct gtu_error *err)
{
	CUresult rc = api->cuInit(0);

	if (rc == CUDA_ERROR_NO_DEVICE)
		return fail_no_gpu(err);
	if (rc) {
		gtu_cuda_fail(api, rc, err, "the CUDA driver does not start: cuInit");
		return err ? err->code = GTU_ERR_UNSUPPORTED : GTU_ERR_UNSUPPORTED;
	}
	rc = api->cuDriverGetVersion(&api->version);
	if (rc)
		return gtu_cuda_fail(api, rc, err, "cuDriverGetVersion");
	if (api->version / 1000 < major)
		return gtu_fail(err, GTU_ERR_UNSUPPORTED,
				"the CUDA driver supports CUDA %d.%d, but the kernels of this "
				"build need %d.0 or newer; install a newer driver",
				api->version / 1000, api->version % 1000 / 10, major);
	rc = api->cuDeviceGetCount(&api->devices);
	if (rc)
		return gtu_cuda_fail(api, rc, err, "cuDeviceGetCount");
	return api->devices < 1 ? fail_no_gpu(err) : 0;
}

int gtu_cuda_load(struct cuda_api *api, const char *library, int major, struct gtu_error *err)
{
	int rc;

	memset(api, 0, sizeof(*api));
	if (!library)
		library = secure_getenv(DRIVER_VARIABLE);
	if (!library || !*library)
		library = DRIVER;
	api->library = dlopen(library, RTLD_NOW | RTLD_LOCAL);
	if (!api->library)
		return gtu_fail(err, GTU_ERR_UNSUPPORTED, "there is no CUDA driver on this "
				"computer: %s; install NVIDIA's driver, or use another device "
				"(--device model)", dlerror());
	rc = find_calls(api, library, err);
	if (!rc)
		rc = init_driver(api, major, err);
	if (rc)
		gtu_cuda_unload(api);
	return rc;
}

void gtu_cuda_unload(struct cuda_api *api)
{
	if (api->library)
		dlclose(api->library);
	memset(api, 0, sizeof(*api));
}
