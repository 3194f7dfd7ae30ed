/* SPDX-License-Identifier: Apache-2.0 */
#include "services.h"

static const struct flextrace_i_services *services;

void flextrace_i_services_set(const struct flextrace_i_services *new_services)
{
	if (new_services && new_services->size >= sizeof(*new_services))
		__atomic_store_n(&services, new_services, __ATOMIC_RELEASE);
}

const struct flextrace_i_services *flextrace_i_services_borrow(void)
{
	return __atomic_load_n(&services, __ATOMIC_ACQUIRE);
}

void flextrace_thread_init(void)
{
	const struct flextrace_i_services *s = flextrace_i_services_borrow();

	if (s)
		s->init_thread();
}

uint64_t flextrace_n_unrecorded(void)
{
	const struct flextrace_i_services *s = flextrace_i_services_borrow();

	return s ? s->n_unrecorded() : 0;
}

int flextrace_i_enter_handler(enum flextrace_i_event event)
{
	const struct flextrace_i_services *s = flextrace_i_services_borrow();

	return s && s->enter_handler(event);
}
