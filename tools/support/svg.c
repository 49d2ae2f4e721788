// SPDX-License-Identifier: MIT
/* Writes SVG: escaped text, patterns, begin and end of a drawing. */
#include "svg.h"

#include <math.h>

#include "json.h"

const char *const svg_colour[SVG_COLOURS] = {
	"#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#56b4e9", "#8c6d31", "#777777"
};

void svg_text(FILE *to, const char *text, size_t length)
{
	const unsigned char *s = (const unsigned char *)text;
	unsigned n, step;

	for (; *s && length; length -= step, s += step) {
		n = json_utf8_length(s);
		step = n ? n : 1;
		if (step > length)
			return;
		/* XML also excludes U+FFFE and U+FFFF */
		if (!n || (*s < ' ' && *s != '\t' && *s != '\n') || *s == 0x7f || (n == 3 && s[0] == 0xef && s[1] == 0xbf && s[2] >= 0xbe))
			fputs("\xef\xbf\xbd", to);
		else if (*s == '&')
			fputs("&amp;", to);
		else if (*s == '<')
			fputs("&lt;", to);
		else if (*s == '>')
			fputs("&gt;", to);
		else if (*s == '"')
			fputs("&quot;", to);
		else if (*s == '\'')
			fputs("&#39;", to);
		else
			fwrite(s, 1, n, to);
	}
}

double svg_step(double x)
{
	double ten = pow(10, floor(log10(x)));

	return ten * (x <= ten ? 1 : x <= 2 * ten ? 2 : x <= 5 * ten ? 5 : 10);
}

void svg_patterns(FILE *to)
{
	unsigned i;

	fputs("<defs>\n", to);
	for (i = 0; i <= SVG_COLOURS; i++) {
		fputs("<pattern id='", to);
		fprintf(to, i < SVG_COLOURS ? "p%u" : "grey", i);
		fprintf(to, "' width='6' height='6' patternUnits='userSpaceOnUse' patternTransform='rotate(45)'>"
			"<rect class='ground' width='6' height='6' fill='white'/><rect width='2.5' height='6' fill='%s'/></pattern>\n",
			i < SVG_COLOURS ? svg_colour[i] : "#777777");
	}
	fputs("</defs>\n", to);
}

void svg_begin(FILE *to, double width, double height, const char *label, bool page)
{
	/* a narrow page scrolls its charts, whose text would be too small */
	if (page)
		fputs("<div class=\"chart\">", to);
	fprintf(to, "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 %.0f %.0f' width='%.0f' height='%.0f' role='img' aria-label='",
		width, height, width, height);
	svg_text(to, label, 200);
	fputs("' font-family='Helvetica, Arial, Liberation Sans, DejaVu Sans, sans-serif'>\n", to);
	if (!page)
		svg_patterns(to);
	fprintf(to, "<rect class='ground' width='%.0f' height='%.0f' fill='white'/>\n", width, height);
}

void svg_end(FILE *to, bool page)
{
	fputs(page ? "</svg></div>\n" : "</svg>\n", to);
}
