/* SPDX-License-Identifier: Apache-2.0 */
#include "mpi.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "child.h"
#include "provider.h"
#include "tracer/src/area/elf_file.h"

/* A word, and the MPI that it tells of. */
struct mark {
	const char *word, *mpi;
};

static const char *mpi_of_strings(const char *strings, uint64_t n_bytes)
{
	static const struct mark libraries[] = {{"libmpi.so.40", "openmpi"},
	                                        {"libmpich.so.12", "mpich"},
	                                        {"libmpi.so.12", "mpich"}};

	for (size_t i = 0; i < sizeof(libraries) / sizeof(libraries[0]); i++)
		if (memmem(strings, n_bytes, libraries[i].word, strlen(libraries[i].word) + 1))
			return libraries[i].mpi;
	return NULL;
}

/* The names of libraries that a program needs are among the strings of its dynamic section. */
static const char *mpi_of_program(const char *program)
{
	struct flextrace_i_elf_section section;
	struct flextrace_i_elf elf;
	char path[PATH_MAX], *strings;
	const char *mpi = NULL;

	if (program[0] == '-' || child_find(program, path) != 0 ||
	    flextrace_i_elf_open(&elf, path) != 0)
		return NULL;
	if (flextrace_i_elf_find(&elf, ".dynstr", SHT_STRTAB, &section) == 0 &&
	    flextrace_i_elf_load(&elf, &section, &strings) == 0) {
		mpi = mpi_of_strings(strings, section.bytes);
		free(strings);
	}
	flextrace_i_elf_close(&elf);
	return mpi;
}

/* By its name where links end. */
static const char *mpi_of_launcher(const char *program)
{
	static const struct mark launchers[] = {{"orterun", "openmpi"},
	                                        {"prterun", "openmpi"},
	                                        {"openmpi", "openmpi"},
	                                        {"hydra", "mpich"},
	                                        {"mpich", "mpich"}};
	char path[PATH_MAX], real[PATH_MAX];

	if (child_find(program, path) != 0 || !realpath(path, real))
		return NULL;
	for (size_t i = 0; i < sizeof(launchers) / sizeof(launchers[0]); i++)
		if (strstr(strrchr(real, '/'), launchers[i].word))
			return launchers[i].mpi;
	return NULL;
}

int mpi_find_library(const char *wanted, char *const argv[], char ret_path[PATH_MAX],
                     struct flextrace_error *error)
{
	const char *mpi = strcmp(wanted, MPI_AUTO) == 0 ? NULL : wanted;
	char file[64];

	for (char *const *word = argv; *word && !mpi; word++)
		mpi = mpi_of_program(*word);
	if (!mpi)
		mpi = mpi_of_launcher(argv[0]);
	if (!mpi)
		return error_set(error, FLEXTRACE_E_USAGE,
		                 "No program of the command needs an MPI that is known; say which "
		                 "it is with --mpi=openmpi or --mpi=mpich");
	if (strcmp(mpi, "openmpi") != 0 && strcmp(mpi, "mpich") != 0)
		return error_set(error, FLEXTRACE_E_USAGE,
		                 "Option `mpi` takes openmpi or mpich: value=%s", wanted);
	snprintf(file, sizeof(file), "libflextrace-mpi-%s.so", mpi);
	if (library_find("mpi/", file, ret_path))
		return FLEXTRACE_OK;
	return error_set(error, FLEXTRACE_E_USAGE,
	                 "There is no %s beside this command: flextrace was built where the "
	                 "compiler wrapper of that MPI (mpicc) was not found",
	                 file);
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
