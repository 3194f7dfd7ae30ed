/* SPDX-License-Identifier: Apache-2.0 */
/* needy.c: a shared object, and with -DIS_NEEDED the one it needs, with thread-local memory. */
#ifdef IS_NEEDED
int flextrace_needed(void);

int flextrace_needed(void)
{
	static __thread int memory[100];

	return ++memory[0];
}
#else
int flextrace_needed(void);

int flextrace_needy(void);

int flextrace_needy(void)
{
	return flextrace_needed();
}
#endif
