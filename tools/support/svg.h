/* SPDX-License-Identifier: MIT */
/* SVG primitives that all drawings share: escaping, colours, hatching, the frame. */
#ifndef GTU_SVG_H
#define GTU_SVG_H

#include <stdbool.h>
#include <stdio.h>

#define SVG_COLOURS 8u
/* Mostly Okabe and Ito's palette, which readers with colour vision deficiency can distinguish. */
extern const char *const svg_colour[SVG_COLOURS];

#define SVG_CHARACTER 0.56		/* mean width of a letter, as a fraction of the font size */
/*
 * Attributes of elements whose colours the page's style (html.c) inverts in dark mode. The halo
 * keeps numbers readable over lines.
 */
#define SVG_HALO "class='halo' paint-order='stroke' stroke='white' stroke-width='3'"
#define SVG_GRID "class='grid' stroke='#dddddd'"
#define SVG_AXIS "class='axis' stroke='black'"

/*
 * Write at most @length bytes of @s as text or attribute value of XML or HTML; characters are never
 * split. Markup is escaped. Invalid UTF-8 and characters that XML forbids become U+FFFD.
 */
void svg_text(FILE *to, const char *s, size_t length);

/* The distance between ticks: the least of 1, 2 and 5 times a power of ten that is at least @x. */
double svg_step(double x);

/*
 * Begin a drawing of @width x @height user units. @page: the drawing is part of a page begun with
 * html_begin(), otherwise a file of its own. @label describes it to screen readers.
 */
void svg_begin(FILE *to, double width, double height, const char *label, bool page);
void svg_end(FILE *to, bool page);
/*
 * Define the fills "url(#p0)" to "url(#p7)", hatched in the colours, and "url(#grey)". svg_begin()
 * calls it for a file, html_begin() for a page.
 */
void svg_patterns(FILE *to);

#endif
