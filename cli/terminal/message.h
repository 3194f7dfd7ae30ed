/* SPDX-License-Identifier: Apache-2.0 */
/* message.h: the switch behind cli_is_quiet(), for the option parser only. */
#ifndef FLEXTRACE_MESSAGE_H
#define FLEXTRACE_MESSAGE_H

#include "cli.h"

void message_set_quiet(bool quiet);

#endif
