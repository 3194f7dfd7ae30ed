/* SPDX-License-Identifier: Apache-2.0 */
#include "every_macro.h"

int main(void)
{
	return record_all() < 0;
}
