// SPDX-License-Identifier: MIT
/*
 * bringup: writes the report as a self-contained HTML page with BAR map, register table and
 * histogram.
 */
#include <inttypes.h>
#include <string.h>

#include "bringup.h"
#include "tools/support/html.h"
#include "tools/support/svg.h"
#include "tools/support/atomic_file.h"

static const char *const class_of[] = { "ok", "warn", "fail", "skip" };

static void text(FILE *f, const char *s)
{
	svg_text(f, s, SIZE_MAX);
}

static void verdict(FILE *f, const struct bringup *b)
{
	const char *name[16];
	unsigned i, n = bringup_diagnoses(b, name, 16);

	fprintf(f, "<h1>GTU bring-up: %s</h1>\n<p>", b->fails ? "something is wrong" : "nothing failed");
	fprintf(f, "%u of %u steps checked. ", __builtin_popcount(b->checked), __builtin_popcount(b->chosen));
	if (b->identified)
		fprintf(f, "Programming model %u.%u, units 0x%x, %u contexts, %u queues, %u vectors, aperture of %" PRIu64 " MiB, clock %.0f MHz. ",
			b->version >> 16, b->version & 0xffff, b->units, b->contexts, b->queues, b->vectors, b->aperture >> 20,
			(double)b->clock_hz * 1e-6);
	if (*b->link) {
		fputs("Link: ", f);
		text(f, b->link);
		fputs(". ", f);
	}
	fputs("</p>\n", f);
	if (n) {
		fputs("<p>Bugs that explain the findings: ", f);
		for (i = 0; i < n; i++) {
			fputs("<span class=\"name\">", f);
			text(f, name[i]);
			fputs("</span> ", f);
		}
		fputs("</p>\n", f);
	}
}

/* Write the failed findings or, with @failed false, all findings in order. */
static void findings(FILE *f, const struct bringup *b, bool failed)
{
	unsigned i;

	fprintf(f, "<h2>%s</h2>\n<table><tr><th>step<th><th>finding</tr>\n", failed ? "Failures" : "All findings");
	for (i = 0; i < b->findings; i++) {
		const struct bringup_finding *d = &b->finding[i];

		if (failed && d->state != BRINGUP_FAIL)
			continue;
		fprintf(f, "<tr%s><td style=\"white-space:nowrap\">%s<td class=\"%s\" style=\"white-space:nowrap\">%s<td>",
			d->state == BRINGUP_FAIL ? " class=\"bad\"" : "", d->step, class_of[d->state], class_of[d->state]);
		if (*d->bug)
			fprintf(f, "<span class=\"name\">%s</span> ", d->bug);
		text(f, d->text);
		fputs("</tr>\n", f);
	}
	fputs("</table>\n", f);
}

static const char *size_of(uint64_t bytes)
{
	static char s[32];

	if (bytes >> 30 && !(bytes & 0x3fffffff))
		snprintf(s, sizeof(s), "%" PRIu64 " GiB", bytes >> 30);
	else if (bytes >> 20 && !(bytes & 0xfffff))
		snprintf(s, sizeof(s), "%" PRIu64 " MiB", bytes >> 20);
	else if (bytes >> 10 && !(bytes & 0x3ff))
		snprintf(s, sizeof(s), "%" PRIu64 " KiB", bytes >> 10);
	else
		snprintf(s, sizeof(s), "%" PRIu64, bytes);
	return s;
}

static void box(FILE *f, double x, double y, double w, double h, const char *fill, const char *label)
{
	fprintf(f, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\" stroke=\"#555\"/>"
		"<text x=\"%.1f\" y=\"%.1f\">", x, y, w, h, fill, x + 5, y + h / 2 + 4);
	text(f, label);
	fputs("</text>\n", f);
}

/* Draw each BAR as a column of logarithmic height with its parts. */
static void bar_map(FILE *f, const struct bringup *b)
{
	static const char *const what[ACCESS_BARS] = { "registers", "MSI-X", "doorbells", "", "aperture", "" };
	double x = 10, y;
	unsigned i, u, bars = 0;

	for (i = 0; i < ACCESS_BARS; i++)
		bars += b->bar[i] != 0;
	fprintf(f, "<h2>BAR map</h2>\n<svg class=\"paper\" viewBox=\"0 0 %u 330\" role=\"img\" aria-label=\"BAR map\">\n", bars > 4 ? 220 * bars + 20 : 900);
	for (i = 0; i < ACCESS_BARS; i++) {
		char label[96];
		unsigned log2 = 0;

		if (!b->bar[i])
			continue;
		/* limit the height to the page */
		while (log2 < 31 && 2ull << log2 <= b->bar[i])
			log2++;
		snprintf(label, sizeof(label), "BAR %u  %s", i, size_of(b->bar[i]));
		fprintf(f, "<text x=\"%.0f\" y=\"16\" font-weight=\"600\">%s</text><text x=\"%.0f\" y=\"32\">0x%" PRIx64 ", %s-bit%s</text>\n", x, label, x,
			b->bar_address[i], b->bar_flags[i] & 4 ? "64" : "32", b->bar_flags[i] & 8 ? ", pref." : "");
		if (i == GTU_BAR_REGS) {
			box(f, x, 40, 190, 30, "#dbeafe", "0x0000 global");
			for (u = 0, y = 70; u < GTU_UNIT_COUNT; u++, y += 30) {
				snprintf(label, sizeof(label), "0x%x %s%s", gtu_unit_table[u].page, gtu_unit_table[u].name, b->units >> u & 1 ? "" : " (absent)");
				box(f, x, y, 190, 30, b->units >> u & 1 ? "#dcfce7" : "#eee", label);
			}
			snprintf(label, sizeof(label), "0x%x nothing", (GTU_UNIT_COUNT + 1) * GTU_PAGE);
			box(f, x, y, 190, 30, "#fff", label);
			box(f, x, y + 30, 190, 60, "#fef9c3", "0x8000 device tree");
		} else if (i == GTU_BAR_MSIX) {
			snprintf(label, sizeof(label), "0x000 table, %u", b->vectors);
			box(f, x, 40, 190, 80, "#dbeafe", label);
			box(f, x, 120, 190, 40, "#fef9c3", "0x800 pending bits");
		} else {
			snprintf(label, sizeof(label), i == GTU_BAR_DOORBELL ? "%s: %u x 2^%u" : "%s", what[i], b->queues, b->stride);
			box(f, x, 40, 190, 9.0 * log2, i == GTU_BAR_DOORBELL ? "#fae8ff" : "#ffedd5", label);
		}
		x += 220;
	}
	fputs("</svg>\n", f);
}

static void register_diff(FILE *f, const struct bringup *b)
{
	unsigned i;

	if (!b->regs)
		return;
	fputs("<h2>Registers after a reset, then registers that did not keep a written value</h2>\n<table><tr><th class=\"n\">offset<th>name<th>access<th class=\"n\">expected<th class=\"n\">read<th class=\"n\">bits that differ</tr>\n", f);
	for (i = 0; i < b->regs; i++) {
		const struct bringup_register *r = &b->reg[i];

		fprintf(f, "<tr%s><td class=\"n\">0x%03x<td><code>%s</code><td>%s<td class=\"n\">", r->bad ? " class=\"bad\"" : "", r->offset, r->name,
			r->access);
		fprintf(f, r->wanted ? "0x%" PRIx64 : "&ndash;", r->want);
		fprintf(f, "<td class=\"n\">0x%" PRIx64 "<td class=\"n\">", r->got);
		if (r->bad)
			fprintf(f, "0x%" PRIx64, r->got ^ r->want);
		fputs("</tr>\n", f);
	}
	fputs("</table>\n", f);
}

static void histogram(FILE *f, const struct bringup *b)
{
	static const char *const name[] = { "reads of host memory", "writes of host memory", "reads of the aperture", "writes of the aperture" };
	static const char *const colour[] = { "#2563eb", "#dc2626", "#16a34a", "#d97706" };
	uint64_t max = 1;
	unsigned d, s;
	double x = 60;

	if (!b->watched)
		return;
	for (d = 0; d < GTU_ZCM_DIRECTIONS; d++)
		for (s = 0; s < 4; s++)
			max = b->requests[d][s] > max ? b->requests[d][s] : max;
	fprintf(f, "<h2>Sizes of requests in the lock step, counted by the monitor (ZCM)</h2>\n<svg class=\"paper\" viewBox=\"0 0 900 260\" role=\"img\" "
		"aria-label=\"request sizes\">\n<text x=\"2\" y=\"20\">%" PRIu64 "</text><line x1=\"55\" y1=\"200\" x2=\"890\" y2=\"200\" stroke=\"#555\"/>\n", max);
	for (s = 0; s < 4; s++, x += 210) {
		for (d = 0; d < 2; d++) {
			const double h = 180.0 * (double)b->requests[d][s] / (double)max;

			fprintf(f, "<rect x=\"%.1f\" y=\"%.1f\" width=\"70\" height=\"%.1f\" fill=\"%s\"><title>%" PRIu64 " %s of %u bytes</title></rect>"
				"<text x=\"%.1f\" y=\"%.1f\">%" PRIu64 "</text>\n", x + 80 * d, 200 - h, h, colour[d], b->requests[d][s], name[d], 32 * (s + 1),
				x + 80 * d, 196 - h, b->requests[d][s]);
		}
		fprintf(f, "<text x=\"%.1f\" y=\"218\">%u bytes</text>\n", x + 45, 32 * (s + 1));
	}
	for (d = 0; d < 2; d++)
		fprintf(f, "<rect x=\"%u\" y=\"236\" width=\"12\" height=\"12\" fill=\"%s\"/><text x=\"%u\" y=\"247\">%s</text>\n", 60 + 240 * d, colour[d],
			78 + 240 * d, name[d]);
	fputs("</svg>\n", f);
}

static void times(FILE *f, const struct bringup *b)
{
	unsigned i;

	fputs("<h2>Time</h2>\n<p>", f);
	for (i = 0; i < b->times; i++)
		fprintf(f, "%s%s %.3f s", i ? ", " : "", b->time[i].name, b->time[i].seconds);
	if (b->rate > 0)
		fprintf(f, ". Lock step: %" PRIu64 " descriptors of seed %" PRIu64 ", %.0f a second", b->compared, b->seed, b->rate);
	fputs(".</p>\n", f);
}

int bringup_html(const struct bringup *b, const char *path, struct gtu_error *err)
{
	struct atomic_file w;
	int rc = atomic_file_open(&w, path, err);

	if (rc)
		return rc;
	html_begin(w.file, "GTU bring-up");
	verdict(w.file, b);
	if (b->fails)
		findings(w.file, b, true);
	bar_map(w.file, b);
	register_diff(w.file, b);
	histogram(w.file, b);
	findings(w.file, b, false);
	times(w.file, b);
	html_end(w.file);
	return atomic_file_close(&w, 0, err);
}
