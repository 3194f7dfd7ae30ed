/* SPDX-License-Identifier: Apache-2.0 */
/* version.h: the version of flextrace; the whole project takes it from here. */
#ifndef FLEXTRACE_VERSION_H
#define FLEXTRACE_VERSION_H

#define FLEXTRACE_VERSION "0.1.0"

#endif
