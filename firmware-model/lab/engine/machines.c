// SPDX-License-Identifier: MIT
/* The built-in machine descriptions and parameters of experiments, embedded from firmware-model/machines. */
#include <string.h>

#include "machine.h"
#include "parameters.h"

#define SHIPPED(X)                                                                                 \
	X(gtx980, "gtx980") X(tx1, "tx1") X(graphpeg, "graphpeg") X(v100, "v100")                  \
	X(v100_pcie4, "v100-pcie4") X(vortex, "vortex") X(h200, "h200")                            \
	X(oracle_gtx980, "oracle-gtx980") X(oracle_titanx, "oracle-titanx")

#define EXPERIMENTS(X) X(emogi) X(iru) X(scu) X(graphpeg) X(sparseweaver)

/* The text of @file between the symbols lab_KIND_text_ID and lab_KIND_end_ID. */
#define EMBED(kind, id, file)                                                                      \
	__asm__(".section .rodata\n"                                                               \
		".balign 16\n"                                                                     \
		"lab_" #kind "_text_" #id ":\n"                                                    \
		".incbin \"firmware-model/machines/" file "\"\n"                                   \
		"lab_" #kind "_end_" #id ":\n"                                                     \
		".byte 0\n"                                                                        \
		".previous\n");                                                                    \
	extern const char lab_##kind##_text_##id[] __attribute__((visibility("hidden")));          \
	extern const char lab_##kind##_end_##id[] __attribute__((visibility("hidden")));
#define EMBED_MACHINE(id, name) EMBED(machine, id, name ".machine")
SHIPPED(EMBED_MACHINE)
#define EMBED_PARAMETERS(id) EMBED(parameters, id, #id ".parameters")
EXPERIMENTS(EMBED_PARAMETERS)

static const struct {
	const char *name, *text, *end;
} shipped[] = {
#define ROW(id, name) { name, lab_machine_text_##id, lab_machine_end_##id },
	SHIPPED(ROW)
};
#define MACHINES (sizeof(shipped) / sizeof(shipped[0]))

const char *lab_machine_builtin(unsigned i)
{
	return i < MACHINES ? shipped[i].name : NULL;
}

int lab_machine_open(const char *name, struct lab_machine *m, struct gtu_error *err)
{
	char known[256] = "";
	unsigned i;

	if (strpbrk(name, "/."))
		return lab_machine_read(name, m, err);
	for (i = 0; i < MACHINES; i++) {
		if (!strcmp(name, shipped[i].name))
			return lab_machine_parse(shipped[i].text, (size_t)(shipped[i].end - shipped[i].text),
						 shipped[i].name, m, err);
		strcat(strcat(known, i ? ", " : ""), shipped[i].name);
	}
	return gtu_fail(err, GTU_ERR_USAGE, "unknown machine '%.60s'; use one of %s, or a file name with a '.' or '/'",
			name, known);
}

const char *lab_parameters_builtin(const char *name, size_t *bytes)
{
	static const struct { const char *name, *text, *end; } experiments[] = {
#define EXPERIMENT(id) { #id, lab_parameters_text_##id, lab_parameters_end_##id },
		EXPERIMENTS(EXPERIMENT)
	};
	unsigned i;

	for (i = 0; i < sizeof(experiments) / sizeof(experiments[0]); i++)
		if (!strcmp(experiments[i].name, name)) {
			*bytes = (size_t)(experiments[i].end - experiments[i].text);
			return experiments[i].text;
		}
	return NULL;
}
