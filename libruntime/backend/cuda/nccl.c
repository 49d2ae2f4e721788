// SPDX-License-Identifier: MIT
/* Loads NCCL on demand and reports what is missing. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nccl.h"

#define LIBRARY "libnccl.so.2"
#define LIBRARY_VARIABLE "GTU_NCCL_LIBRARY"
#define MULTICAST_VARIABLE "NCCL_NVLS_ENABLE"

static bool find_calls(struct nccl *n, const char *library)
{
	const struct {
		const char *name;
		void *to;
	} call[] = {
#define NCCL_NAME(name, args) { #name, &n->name },
		NCCL_CALLS(NCCL_NAME)
#undef NCCL_NAME
		{ "ncclGetErrorString", &n->ncclGetErrorString }, { "ncclGetLastError", &n->ncclGetLastError },
	};
	void *symbol;
	size_t i;

	for (i = 0; i < sizeof(call) / sizeof(call[0]); i++) {
		symbol = dlsym(n->library, call[i].name);
		if (!symbol) {
			snprintf(n->missing, sizeof(n->missing), "%.160s has no %s: NCCL is too old; install 2.14 or newer", library,
				 call[i].name);
			return false;
		}
		memcpy(call[i].to, &symbol, sizeof(symbol));
	}
	return true;
}

static bool check_version(struct nccl *n)
{
	if (n->ncclGetVersion(&n->version)) {
		snprintf(n->missing, sizeof(n->missing), "NCCL does not tell its version");
		return false;
	}
	if (n->version >= NCCL_LEAST)
		return true;
	snprintf(n->missing, sizeof(n->missing), "NCCL has version code %d, which is too old: install 2.14 or newer",
		 n->version);
	return false;
}

void gtu_nccl_load(struct nccl *n)
{
	const char *library = secure_getenv(LIBRARY_VARIABLE), *multicast = getenv(MULTICAST_VARIABLE);

	memset(n, 0, sizeof(*n));
	/* a library cannot set a variable safely: another thread may be reading the environment */
	if (!multicast || !*multicast) {
		snprintf(n->missing, sizeof(n->missing), MULTICAST_VARIABLE " is not set: NCCL would use multicast by NVLink switches, "
			 "which has hung hosts; set it to 0 before the program starts threads");
		return;
	}
	if (!library || !*library)
		library = LIBRARY;
	/* the library stays: it has threads of its own */
	n->library = dlopen(library, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	if (!n->library) {
		snprintf(n->missing, sizeof(n->missing), "there is no NCCL: %.200s; install it, or set " LIBRARY_VARIABLE,
			 dlerror());
		return;
	}
	if (find_calls(n, library) && check_version(n))
		return;
	dlclose(n->library);
	n->library = NULL;
}

int gtu_nccl_fail(const struct nccl *n, ncclComm_t comm, ncclResult_t rc, struct gtu_error *err, const char *call)
{
	const char *text = n->ncclGetErrorString(rc), *last = n->ncclGetLastError(comm);

	return gtu_fail(err, GTU_ERR_FAIL, "%s failed: %s (%d)%s%.300s", call, text ? text : "no description", rc,
			last && *last ? ": " : "", last ? last : "");
}
