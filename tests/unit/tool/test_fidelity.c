// SPDX-License-Identifier: MIT
/* Tests of the page of judged rows: causes of misses, other readings. */
#include <stdlib.h>
#include <string.h>

#include "tests/unit/test.h"
#include "tools/report/fidelity.h"

static struct fidelity_cause causes[] = {
	{ 3, 10, "mean", "bfs: *", "no-port", "the port" },
	{ 4, 10, "*", "*: speed-up", NULL, "not known" },
};

/* A paper with two misses, a row that is met, and an open row; a run without a cause; a reading. */
static struct fidelity_paper *paper(void)
{
	static struct fidelity_paper p;
	unsigned k;

	p = (struct fidelity_paper){ .experiment = "scu", .title = "SCU", .cause = causes, .causes = 2, .stages = 3 };
	p.stage[0] = (struct fidelity_stage){ .name = "scu", .command = "gtu lab run scu" };
	p.stage[1] = (struct fidelity_stage){ .name = "no-port", .command = "gtu lab run scu --set a=1", .kind = FIDELITY_CAUSE };
	p.stage[2] = (struct fidelity_stage){ .name = "lines", .command = "gtu lab run scu --set a=2", .kind = FIDELITY_READING,
					      .missing = "x.gtu" };
	for (k = 0; k < 2; k++) {
		struct lab_table *t = &p.stage[k].table;

		lab_table_add(t, 10, "mean", LAB_SPEEDUP_RULE, 2, k ? 1.9 : 1.1, "bfs: speed-up");
		lab_table_add(t, 10, "mean", LAB_SPEEDUP_RULE, 2, k ? 1.2 : 1.1, "sssp: speed-up");
		lab_table_add(t, 11, "mean", LAB_COUNT_RULE, 4, 4, "requests");
		lab_table_add(t, 11, "mean", LAB_OPEN_RULE, 4, 4, "sensitivity");
		strcpy(t->row[3].reason, "the other memory");
	}
	return &p;
}

static void drop(struct fidelity_paper *p)
{
	unsigned k;

	for (k = 0; k < p->stages; k++)
		lab_table_free(&p->stage[k].table);
}

static char *page_of(const struct fidelity_paper *p)
{
	size_t bytes;
	char *s;
	FILE *f = open_memstream(&s, &bytes);

	fidelity_write(p, 1, "abc", "8", f);
	fclose(f);
	return s;
}

TEST(misses_have_the_first_cause_that_matches)
{
	struct fidelity_paper *p = paper();
	struct gtu_error err = { 0 };
	char *s = page_of(p);

	CHECKF(!fidelity_check(p, &err), "%s", err.text);
	CHECKF(strstr(s, "| 10 | bfs: speed-up | mean | 2.000 | 1.100 | the port | no-port | 1.900 |"), "%s", s);
	CHECKF(strstr(s, "| 10 | sssp: speed-up | mean | 2.000 | 1.100 | not known | - | - |"), "%s", s);
	CHECKF(strstr(s, "| SCU | 3 | 1 | 33% | 0 | 1 | 1 | 0 | 1 |"), "%s", s);
	CHECKF(strstr(s, "| paper | count | speed-up | rank | curve | range | direction |\n|---|---|---|---|---|---|---|\n"
		      "| SCU | 1 of 1 | 0 of 2 | 0 of 0 | 0 of 0 | 0 of 0 | 0 of 0 |\n| all | 1 of 1 | 0 of 2 |"), "%s", s);
	CHECKF(strstr(s, "| 11 | requests | mean | 4.000 | 4.000 | 1.000 | count | met |"), "%s", s);
	CHECKF(strstr(s, "| 11 | sensitivity | mean | 4.000 | 4.000 | open | the other memory |"), "%s", s);
	CHECKF(strstr(s, "| lines | another reading | `gtu lab run scu --set a=2` | not run: x.gtu is missing |"), "%s", s);
	CHECKF(!strstr(s, "Other readings"), "%s", s);
	free(s);
	p->causes = 1;
	s = page_of(p);
	CHECKF(strstr(s, "| 10 | sssp: speed-up | mean | 2.000 | 1.100 | not stated | - | - |") && strstr(s, "| 1 | 0 | 1 | 1 |"), "%s", s);
	free(s);
	drop(p);
}

TEST(readings_are_beside_the_judged_rows)
{
	static const char json[] = "{ \"stage\": { \"cpu_seconds\": 12.5 } }";
	struct fidelity_paper *p = paper();
	struct json_tree *tree;
	struct gtu_error err;
	char *s;

	CHECK(!json_read_text("x", json, sizeof(json) - 1, &tree, &p->stage[2].doc, &err));
	lab_table_add(&p->stage[2].table, 10, "mean", LAB_SPEEDUP_RULE, 2, 1.8, "bfs: speed-up");
	s = page_of(p);
	CHECKF(strstr(s, "| figure | row | graph | paper | ours | lines | verdict |\n|---|---|---|---|---|---|---|\n"
		      "| 10 | bfs: speed-up | mean | 2.000 | 1.100 | 1.800 | met |\n"), "%s", s);
	CHECKF(strstr(s, "`gtu lab run scu --set a=2` | 12.5 s |"), "%s", s);
	free(s);
	json_read_free(tree);
	drop(p);
}

TEST(causes_without_a_row_or_a_run_are_refused)
{
	static const struct { struct fidelity_cause cause; const char *message; } of[] = {
		{ { 7, 12, "*", "*", NULL, "x" }, "scu.fidelity:7: no judged row has figure 12" },
		{ { 7, 10, "KRON", "*", NULL, "x" }, "no judged row has figure 10, text '*' and graph 'KRON'" },
		{ { 7, 11, "mean", "sensitivity", NULL, "x" }, "no judged row has figure 11" },
		{ { 7, 10, "*", "*", "port", "x" }, "'port' is not a stage of the kind cause" },
		{ { 7, 10, "*", "*", "lines", "x" }, "'lines' is not a stage of the kind cause" },
	};
	struct fidelity_paper *p = paper();
	struct gtu_error err = { 0 };
	unsigned i;

	for (i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		struct fidelity_cause cause = of[i].cause;

		p->cause = &cause;
		p->causes = 1;
		CHECK_EQ(fidelity_check(p, &err), GTU_ERR_INPUT);
		CHECKF(strstr(err.text, of[i].message), "%u: %s", i, err.text);
	}
	drop(p);
}

TEST_MAIN
