/* SPDX-License-Identifier: Apache-2.0 */
/*
 * secure.c: says whether the kernel calls this process secure, as it does for set-uid and set-gid
 * programs, and which environment libflextrace heeded.
 */
#include <stdio.h>
#include <sys/auxv.h>

#include <flextrace/flextrace.h>

int main(void)
{
	printf("secure %lu\n", getauxval(AT_SECURE));
	printf("device %s\n",
	       flextrace_device_mode() == FLEXTRACE_DEVICE_MODE_OFF ? "off" : "drain");
	return 0;
}
