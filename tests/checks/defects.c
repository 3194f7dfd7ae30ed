/* SPDX-License-Identifier: Apache-2.0 */
/* One defect of each kind that the sanitizers look for, by name: defects NAME */
#include <limits.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void *volatile kept;
static volatile uint32_t shared;

static int leak(void)
{
	kept = malloc(10);
	kept = NULL;
	return 0;
}

static int overrun(void)
{
	char *volatile bytes = malloc(10);
	volatile int at = 10;

	if (!bytes)
		return 1;
	bytes[at] = 1;
	free(bytes);
	return 0;
}

static int overflow(void)
{
	volatile int number = INT_MAX;

	number = number + 1;
	return 0;
}

/* Often: two accesses at the very same time do not see each other. */
static void *add(void *unused)
{
	int i;

	(void)unused;
	for (i = 0; i < 10000; i++)
		shared++;
	return NULL;
}

static int race(void)
{
	pthread_t threads[2];
	int i;

	for (i = 0; i < 2; i++) {
		if (pthread_create(&threads[i], NULL, add, NULL) != 0)
			return 1;
	}
	for (i = 0; i < 2; i++)
		(void)pthread_join(threads[i], NULL);
	return 0;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*make)(void);
	} defects[] = {
		{"leak", leak}, {"overrun", overrun}, {"overflow", overflow}, {"race", race}};
	size_t i;

	for (i = 0; argc == 2 && i < sizeof(defects) / sizeof(*defects); i++) {
		if (strcmp(defects[i].name, argv[1]) == 0)
			return defects[i].make();
	}
	return 2;
}
