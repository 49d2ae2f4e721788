// SPDX-License-Identifier: MIT
/* Fuzz target: json_read_text(). Every value of an accepted document is visited. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tools/support/json_read.h"

/* Receives the sums, so that no read is optimized away. */
uint64_t fuzz_sink;

static void visit(const struct json_value *v, unsigned depth)
{
	const struct json_value *m;
	unsigned long count = 0;

	if (depth > JSON_READ_DEPTH)
		abort();
	fuzz_sink += v->kind + (v->key ? strlen(v->key) : 0) + (v->string ? strlen(v->string) : 0);
	for json_each(m, v) {
		visit(m, depth + 1);
		count++;
	}
	if (count != v->count)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct json_value *top = NULL;
	struct json_tree *tree = NULL;
	struct gtu_error err = { 0 };
	int rc = json_read_text("fuzz", (const char *)data, size, &tree, &top, &err);

	if ((!rc && !top) || (rc && (rc != GTU_ERR_INPUT || !*err.text)))
		abort();
	if (!rc)
		visit(top, 0);
	json_read_free(tree);
	return 0;
}
