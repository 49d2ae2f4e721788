// SPDX-License-Identifier: MIT
/*
 * --plot of benchmarks: draws charts from the JSON, so that page and drawing cannot differ. Closes
 * both.
 */
#include <stdlib.h>

#include "report.h"
#include "tools/support/atomic_file.h"

int report_close(struct report *r, struct atomic_file *w, struct gtu_error *err)
{
	const int rc = r->no_memory ? gtu_fail(err, GTU_ERR_NOMEM, "no memory for the %s", r->page ? "page" : "drawing") : 0;

	report_free(r);
	return atomic_file_close(w, rc, err);
}

static int draw(const char *path, const struct json_value *doc, void (*chart)(struct report *r, const struct json_value *doc),
		struct gtu_error *err)
{
	struct report r = { .page = false };
	struct atomic_file w;
	int rc = atomic_file_open(&w, path, err);

	if (rc)
		return rc;
	r.to = w.file;
	chart(&r, doc);
	return report_close(&r, &w, err);
}

int report_plot(const char *path, void (*write)(const void *subject, FILE *to), const void *subject,
		void (*chart)(struct report *r, const struct json_value *doc), struct gtu_error *err)
{
	const struct json_value *doc;
	struct json_tree *tree = NULL;
	char *text = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);
	int rc;

	if (f)
		write(subject, f);
	if (!f || fclose(f))
		rc = gtu_fail(err, GTU_ERR_NOMEM, "no memory for the drawing");
	else
		rc = json_read_text("the benchmark's own JSON", text, size, &tree, &doc, err);
	if (!rc)
		rc = draw(path, doc, chart, err);
	json_read_free(tree);
	free(text);
	return rc;
}
