// SPDX-License-Identifier: MIT
/* Tests of the parameters of experiments: units, ranges, sources. */
#include <string.h>

#include "tests/unit/test.h"
#include "firmware-model/lab/engine/parameters.h"

static uint32_t width, bytes, latency;
static const struct lab_key keys[] = {
	{ "u.width", &width, 1, 64, LAB_NUMBER }, { "u.bytes", &bytes, 1, 1 << 20, LAB_BYTES }, { "u.latency", &latency, 0, 1000, LAB_CYCLES },
};

static const char *const right[] = {
	"u.width = 4 # source: paper: table 2\n", "u.bytes = 8 KiB\t# source: settled: as large as needed\n",
	"u.latency = 20 cycles # source: calibrated on: figure 1, a baseline\n",
};

/* Parse the three lines, line @i replaced by @line. */
static int parsed(unsigned i, const char *line, struct gtu_error *err)
{
	char text[1024] = "# a comment\n\n";
	unsigned k;

	for (k = 0; k < 3; k++)
		strcat(text, k == i ? line : right[k]);
	return lab_parameters_parse(text, strlen(text), "x.parameters", keys, 3, err);
}

TEST(parameters_are_read_with_their_units)
{
	static const char *const sources[] = {
		"paper: section 4", "vendor: a manual", "oracle: its machine", "compiled: bfs.cu", "calibrated on: figure 2, x", "settled: a reason",
	};
	struct gtu_error err = { 0 };
	char line[80];
	unsigned i;

	CHECKF(!parsed(3, "", &err), "%s", err.text);
	CHECK(width == 4 && bytes == 8192 && latency == 20);
	for (i = 0; i < sizeof(sources) / sizeof(sources[0]); i++) {
		snprintf(line, sizeof(line), "u.width = %u # source: %s\n", i + 1, sources[i]);
		CHECKF(!parsed(0, line, &err) && width == i + 1, "%s: %s", sources[i], err.text);
	}
}

TEST(invalid_parameters_are_refused)
{
	static const struct { unsigned line; const char *text, *message; } of[] = {
		{ 0, "", "x.parameters: the key 'u.width' is missing" },
		{ 0, "u.width = 4 # source: paper: a\nu.width = 4 # source: paper: a\n", "x.parameters:4: 'u.width' was given in line 3 already" },
		{ 1, "u.size = 4 B # source: paper: a\n", ":4: unknown key 'u.size'" },
		{ 1, "u.bytes = 2 MiB # source: paper: a\n", "'u.bytes' must be between 1 and 1048576 B, not 2097152" },
		{ 1, "u.bytes = 8 cycles # source: paper: a\n", "'u.bytes' is given in B, not in 'cycles'" },
		{ 1, "u.bytes = 8 # source: paper: a\n", "'u.bytes' is given in B, not in ''" },
		{ 0, "u.width = 4 B # source: paper: a\n", "'u.width' has no unit" },
		{ 0, "u.width = 1.5 # source: paper: a\n", "whole number" },
		{ 0, "u.width = -1 # source: paper: a\n", "needs a number" },
		{ 0, "u.width = 4\n", "'u.width' has no '# source: ...'" },
		{ 0, "u.width = 4 # paper: a\n", "'u.width' has no '# source: ...'" },
		{ 0, "u.width = 4 # source:\n", "'u.width' has no '# source: ...'" },
		{ 0, "u.width = 4 # source: figure 10\n", "the source of 'u.width' is 'paper: '" },
		{ 0, "u.width = 4 # source: settled:\n", "the source of 'u.width' is 'paper: '" },
		{ 0, "u.width 4 # source: paper: a\n", "'u.width 4 ' is not 'key = value'" },
	};
	struct gtu_error err = { 0 };
	unsigned i;

	for (i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		CHECK_EQ(parsed(of[i].line, of[i].text, &err), GTU_ERR_INPUT);
		CHECKF(strstr(err.text, of[i].message), "%u: %s", i, err.text);
	}
}

TEST(every_paper_has_built_in_parameters)
{
	static const char *const names[] = { "emogi", "iru", "scu", "graphpeg", "sparseweaver" };
	size_t n;
	unsigned i;

	for (i = 0; i < 5; i++)
		CHECKF(lab_parameters_builtin(names[i], &n) && n > 100, "%s", names[i]);
	CHECK(!lab_parameters_builtin("halo", &n));
}

TEST_MAIN
