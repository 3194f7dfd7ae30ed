/* SPDX-License-Identifier: Apache-2.0 */
#include "mpi.h"

#include <elf.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "child.h"
#include "provider.h"
#include "tracer/src/area/elf_file.h"

#define LIBRARY "libflextrace-mpi-%s.so"

/* An MPI, what its programs need, and the names of its launchers where links end. */
static const struct mpi_kind {
	const char *name, *title;
	const char *needed[3];
	const char *launchers[3];
} kinds[] = {
	{"openmpi", "Open MPI", {"libmpi.so.40"}, {"orterun", "prterun", "openmpi"}},
	{"mpich", "MPICH", {"libmpich.so.12", "libmpi.so.12"}, {"hydra", "mpich"}},
};
#define N_KINDS (sizeof(kinds) / sizeof(kinds[0]))

static bool has_string(const char *strings, uint64_t n_bytes, const char *wanted)
{
	for (uint64_t i = 0; i < n_bytes; i += strlen(strings + i) + 1) /* a NUL is behind them */
		if (strcmp(strings + i, wanted) == 0)
			return true;
	return false;
}

/* The names of libraries that a program needs are among the strings of its dynamic section. */
static const struct mpi_kind *kind_of_strings(const char *strings, uint64_t n_bytes)
{
	for (size_t i = 0; i < N_KINDS; i++)
		for (size_t n = 0; n < 3 && kinds[i].needed[n]; n++)
			if (has_string(strings, n_bytes, kinds[i].needed[n]))
				return &kinds[i];
	return NULL;
}

static const struct mpi_kind *kind_of_program(const char *program)
{
	struct flextrace_i_elf_section section;
	const struct mpi_kind *kind = NULL;
	struct flextrace_i_elf elf;
	char path[PATH_MAX], *strings;

	if (program[0] == '-' || child_find(program, path) != 0 ||
	    flextrace_i_elf_open(&elf, path) != 0)
		return NULL;
	if (flextrace_i_elf_find(&elf, ".dynstr", SHT_STRTAB, &section) == 0 &&
	    flextrace_i_elf_load(&elf, &section, &strings) == 0) {
		kind = kind_of_strings(strings, section.bytes);
		free(strings);
	}
	flextrace_i_elf_close(&elf);
	return kind;
}

static const struct mpi_kind *kind_of_launcher(const char *program)
{
	char path[PATH_MAX], real[PATH_MAX];

	if (child_find(program, path) != 0 || !realpath(path, real))
		return NULL;
	for (size_t i = 0; i < N_KINDS; i++)
		for (size_t n = 0; n < 3 && kinds[i].launchers[n]; n++)
			if (strstr(strrchr(real, '/'), kinds[i].launchers[n]))
				return &kinds[i];
	return NULL;
}

static const struct mpi_kind *choose(const char *wanted, char *const argv[])
{
	const struct mpi_kind *kind = NULL;

	for (size_t i = 0; i < N_KINDS; i++)
		if (strcmp(kinds[i].name, wanted) == 0)
			return &kinds[i];
	if (strcmp(wanted, MPI_AUTO) != 0)
		return NULL;
	for (char *const *word = argv; *word && !kind; word++)
		kind = kind_of_program(*word);
	return kind ? kind : kind_of_launcher(argv[0]);
}

int mpi_find_library(const char *wanted, char *const argv[], char ret_path[PATH_MAX],
                     struct flextrace_error *error)
{
	const struct mpi_kind *kind = choose(wanted, argv);
	char file[64];

	if (!kind && strcmp(wanted, MPI_AUTO) != 0)
		return error_set(error, FLEXTRACE_E_USAGE,
		                 "Option `mpi` takes openmpi or mpich: value=%s", wanted);
	if (!kind)
		return error_set(error, FLEXTRACE_E_USAGE,
		                 "No program of the command needs an MPI that is known; say which "
		                 "it is with --mpi=openmpi or --mpi=mpich");
	snprintf(file, sizeof(file), LIBRARY, kind->name);
	if (library_find("mpi/", file, ret_path))
		return FLEXTRACE_OK;
	return error_set(error, FLEXTRACE_E_USAGE,
	                 "There is no %s beside this command: flextrace was built where %s's "
	                 "compiler wrapper (mpicc) was not found",
	                 file, kind->title);
}

void mpi_preload(const char *library)
{
	const char *before = getenv("LD_PRELOAD");
	char *list = NULL;

	if (before && strncmp(before, library, strlen(library)) == 0)
		return; /* of two runs the second one */
	if (!before || !before[0])
		setenv("LD_PRELOAD", library, 1);
	else if (asprintf(&list, "%s:%s", library, before) >= 0)
		setenv("LD_PRELOAD", list, 1);
	free(list);
}
