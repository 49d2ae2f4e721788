// SPDX-License-Identifier: MIT
/* The built-in machine descriptions, embedded from firmware-model/machines. */
#include <string.h>

#include "machine.h"

#define SHIP(id, file)                                                                             \
	__asm__(".section .rodata\n"                                                               \
		".balign 16\n"                                                                     \
		"lab_machine_text_" #id ":\n"                                                      \
		".incbin \"firmware-model/machines/" file "\"\n"                                   \
		"lab_machine_end_" #id ":\n"                                                       \
		".byte 0\n"                                                                        \
		".previous\n");                                                                    \
	extern const char lab_machine_text_##id[] __attribute__((visibility("hidden")));           \
	extern const char lab_machine_end_##id[] __attribute__((visibility("hidden")))

SHIP(gtx980, "gtx980.machine");
SHIP(tx1, "tx1.machine");
SHIP(graphpeg, "graphpeg.machine");
SHIP(v100, "v100.machine");
SHIP(v100_pcie4, "v100-pcie4.machine");
SHIP(vortex, "vortex.machine");
SHIP(h200, "h200.machine");
SHIP(oracle_gtx980, "oracle-gtx980.machine");
SHIP(oracle_titanx, "oracle-titanx.machine");

static const struct {
	const char *name, *text, *end;
} shipped[] = {
	{ "gtx980", lab_machine_text_gtx980, lab_machine_end_gtx980 },
	{ "tx1", lab_machine_text_tx1, lab_machine_end_tx1 },
	{ "graphpeg", lab_machine_text_graphpeg, lab_machine_end_graphpeg },
	{ "v100", lab_machine_text_v100, lab_machine_end_v100 },
	{ "v100-pcie4", lab_machine_text_v100_pcie4, lab_machine_end_v100_pcie4 },
	{ "vortex", lab_machine_text_vortex, lab_machine_end_vortex },
	{ "h200", lab_machine_text_h200, lab_machine_end_h200 },
	{ "oracle-gtx980", lab_machine_text_oracle_gtx980, lab_machine_end_oracle_gtx980 },
	{ "oracle-titanx", lab_machine_text_oracle_titanx, lab_machine_end_oracle_titanx },
};
#define SHIPPED (sizeof(shipped) / sizeof(shipped[0]))

const char *lab_machine_builtin(unsigned i)
{
	return i < SHIPPED ? shipped[i].name : NULL;
}

int lab_machine_open(const char *name, struct lab_machine *m, struct gtu_error *err)
{
	char known[256] = "";
	unsigned i;

	if (strpbrk(name, "/."))
		return lab_machine_read(name, m, err);
	for (i = 0; i < SHIPPED; i++) {
		if (!strcmp(name, shipped[i].name))
			return lab_machine_parse(shipped[i].text, (size_t)(shipped[i].end - shipped[i].text),
						 shipped[i].name, m, err);
		strcat(strcat(known, i ? ", " : ""), shipped[i].name);
	}
	return gtu_fail(err, GTU_ERR_USAGE, "unknown machine '%.60s'; use one of %s, or a file name with a '.' or '/'",
			name, known);
}
