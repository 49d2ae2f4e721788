/* Self-contained HTML pages: no network, no scripts, light and dark colours. */
/* A page that needs nothing else: no network, no script, light and dark. */
#ifndef GTU_HTML_H
#define GTU_HTML_H

#include <stdio.h>

/* Write the page up to <body>; the title is escaped. Write other text with svg_text(). */
void html_begin(FILE *to, const char *title);
void html_end(FILE *to);

#endif
