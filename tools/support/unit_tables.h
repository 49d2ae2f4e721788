/* SPDX-License-Identifier: MIT */
/* The tables of the units for readers (unit_tables.c). */
#ifndef GTU_UNIT_TABLES_H
#define GTU_UNIT_TABLES_H

/* Print the tables of the unit @name, or of the "device". Returns an exit code, CLI_USAGE after a message. */
int unit_print_tables(const char *name);

#endif
