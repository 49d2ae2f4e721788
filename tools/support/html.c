// SPDX-License-Identifier: MIT
/* Writes the head, style and end of self-contained HTML pages. */
#include "html.h"

#include <stdint.h>

#include "svg.h"

/*
 * Drawings (svg.h) are black on white; the style inverts them by class for dark pages. A drawing of
 * class "paper" stays black on white because its colours need it. The policy makes a browser refuse
 * external resources even if a bug in this tool refers to one.
 */
static const char head[] =
	"<meta charset=\"utf-8\">\n"
	"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
	"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	"<meta name=\"color-scheme\" content=\"light dark\">\n";
static const char style[] =
	"<style>\n"
	":root{--ink:#222;--soft:#666;--ground:#fff;--line:#ddd;--panel:#f6f7f9;--ok:#1a7f37;--warn:#9a6700;--fail:#cf222e;--bad:#ffebe9}\n"
	"@media (prefers-color-scheme:dark){:root{--ink:#e4e6ea;--soft:#9aa0aa;--ground:#15171b;--line:#3a3f47;--panel:#1d2025;"
	"--ok:#56d364;--warn:#e3b341;--fail:#ff7b72;--bad:#4a1f22}}\n"
	"body{font:14px/1.45 system-ui,sans-serif;margin:2em auto;max-width:76em;padding:0 1em;color:var(--ink);background:var(--ground)}\n"
	"h1{font-size:1.5em}h2{font-size:1.25em;margin-top:2.5em;border-bottom:1px solid var(--line);padding-bottom:.2em}h3{font-size:1.05em;margin-top:1.6em}\n"
	"a{color:inherit}table{border-collapse:collapse;width:100%}\n"
	"td,th{padding:.25em .6em;border-bottom:1px solid var(--line);text-align:left;vertical-align:baseline;overflow-wrap:anywhere}\n"
	"th{color:var(--soft);font-weight:600}table.facts{width:auto}table.facts th{white-space:nowrap}\n"
	"code,.n{font-family:ui-monospace,monospace;font-size:.92em}.n{text-align:right;white-space:nowrap;overflow-wrap:normal}\n"
	".ok,.met{color:var(--ok)}.warn{color:var(--warn)}.fail,.missed{color:var(--fail);font-weight:600}.skip,.soft{color:var(--soft)}\n"
	"tr.bad{background:var(--bad)}.name{background:#cf222e;color:#fff;border-radius:3px;padding:0 .4em}\n"
	".headline{display:flex;flex-wrap:wrap;gap:.6em 2.2em;margin:.8em 0 1.6em}.headline dt{color:var(--soft)}\n"
	".headline dd{margin:0;font-size:1.5em;font-weight:600}\n"
	"details{margin:.8em 0}summary{cursor:pointer;color:var(--soft)}\n"
	"svg{display:block;max-width:100%;height:auto;margin:1em 0}@media (max-width:40em){.chart{overflow-x:auto}.chart svg{max-width:none;width:40em}"
	".chart::before{content:\"\\2194  scroll sideways\";position:sticky;left:0;color:var(--soft);font-size:.85em}}\n"
	"svg.hidden{position:absolute;width:0;height:0}\n"
	"svg text{fill:var(--ink)}svg text.soft{fill:var(--soft)}svg .ground{fill:var(--ground)}svg .halo{stroke:var(--ground)}\n"
	"svg .grid{stroke:var(--line)}svg .axis{stroke:var(--ink)}\n"
	"svg.paper{background:#fff}svg.paper text{font:12px ui-monospace,monospace;fill:#222}\n"
	"@media print{h2{break-before:page}svg,tr{break-inside:avoid}}\n"
	"</style>\n";

void html_begin(FILE *to, const char *title)
{
	fputs("<!DOCTYPE html>\n<html lang=\"en\"><head>", to);
	fputs(head, to);
	fputs("<title>", to);
	svg_text(to, title, SIZE_MAX);
	fputs("</title>\n", to);
	fputs(style, to);
	fputs("</head><body>\n<svg class=\"hidden\" aria-hidden=\"true\">", to);
	svg_patterns(to);
	fputs("</svg>\n", to);
}

void html_end(FILE *to)
{
	fputs("</body></html>\n", to);
}
