/* SPDX-License-Identifier: MIT */
#ifndef TESTS_MUTANTS_SYSTEMATIC_H
#define TESTS_MUTANTS_SYSTEMATIC_H

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * The switches in the copies of the sources that ci/mutants --systematic makes (docs/mutants.md, "Systematic
 * mutants"). The environment turns on one mutant by its number: O2_SYSTEMATIC=NUMBER:FILE; 0 is none. Each
 * mutant that is reached sets its byte in the file. The file is mapped, so that mutants reached in children
 * and in processes that crash count too.
 *
 * Every copy includes this header, and the linker keeps one instance of each symbol. System calls are made
 * directly, because some tests make the C library's functions fail.
 */

#define O2_SYSTEMATIC_BYTES (1u << 16) /* size of the file: one byte for each mutant */

extern unsigned char o2_systematic_nowhere[O2_SYSTEMATIC_BYTES];
extern unsigned char *o2_systematic_reached;
extern unsigned int o2_systematic_on;
void o2_systematic_start(void);

__attribute__((weak)) unsigned char o2_systematic_nowhere[O2_SYSTEMATIC_BYTES];
__attribute__((weak)) unsigned char *o2_systematic_reached = o2_systematic_nowhere;
__attribute__((weak)) unsigned int o2_systematic_on;

/* Runs once for each copy in a program; only the first call opens the file. */
__attribute__((weak, constructor(101))) void o2_systematic_start(void)
{
	const char *text = getenv("O2_SYSTEMATIC");
	char *file;
	long fd, memory;

	if (text == NULL || o2_systematic_reached != o2_systematic_nowhere)
		return;
	o2_systematic_on = (unsigned int)strtoul(text, &file, 10);
	fd = syscall(SYS_openat, AT_FDCWD, file + 1, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return;
	memory = syscall(SYS_mmap, NULL, O2_SYSTEMATIC_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (memory != -1)
		o2_systematic_reached = (unsigned char *)memory;
	syscall(SYS_close, fd);
}

static inline int o2_systematic(unsigned int number)
{
	o2_systematic_reached[number] = 1;
	return o2_systematic_on == number;
}

/* Define the macros that tests/mutants/switches.py writes. */
#define o2_mutant(number)		 o2_systematic(number)
#define o2_mutant_differs(differs)	 ((void)0)
#define o2_mutate(number, clean, broken) (o2_systematic(number) ? (broken) : (clean))

#endif
