/* SPDX-License-Identifier: MIT */
/* What all drawings share: escaping, colours, the hatching of what a paper says, the frame. */
#ifndef GTU_SVG_H
#define GTU_SVG_H

#include <stdbool.h>
#include <stdio.h>

#define SVG_COLOURS 8u
/* Told apart by readers who see few colours, too: Okabe and Ito's. */
extern const char *const svg_colour[SVG_COLOURS];

#define SVG_CHARACTER 0.56		/* mean width of a letter, of its size */
/* Attributes of what the page's style (html.c) turns over in the dark. */
#define SVG_HALO "class='halo' paint-order='stroke' stroke='white' stroke-width='3'" /* numbers stay readable over lines */
#define SVG_GRID "class='grid' stroke='#dddddd'"
#define SVG_AXIS "class='axis' stroke='black'"

/*
 * At most @length bytes of @s, no part of a character, as text of XML or HTML and within quotes there: markup is escaped, what is no UTF-8
 * or no character of XML becomes U+FFFD.
 */
void svg_text(FILE *to, const char *s, size_t length);

/* 1, 2 or 5 times a power of ten, at least @x: what lies between two lines of an axis. */
double svg_step(double x);

/*
 * A drawing of so many units begins. @page: it is part of a page that begins with html_begin(), else a file of its own.
 * @label says what it shows to who cannot see it.
 */
void svg_begin(FILE *to, double wide, double high, const char *label, bool page);
void svg_end(FILE *to);
/* Fills "url(#p0)" to "url(#p7)", hatched in the colours, and "url(#grey)": svg_begin() has them in a file, html_begin() for all of a page. */
void svg_patterns(FILE *to);

#endif
