/* SPDX-License-Identifier: MIT */
/* A page that needs nothing else: no network, no script, light and dark. */
#ifndef GTU_HTML_H
#define GTU_HTML_H

#include <stdio.h>

/* Up to the body; the title is escaped. Text within goes through svg_text(). */
void html_begin(FILE *to, const char *title);
void html_end(FILE *to);

#endif
