/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz.h: what the targets of the fuzzers share.
 *
 * A target is one LLVMFuzzerTestOneInput(). With clang's libFuzzer (preset `fuzz`) it is a fuzzer;
 * with replay.c it runs the files it is given, as the tests do with the corpus, and AFL++, too.
 */
#ifndef FLEXTRACE_TESTS_FUZZ_H
#define FLEXTRACE_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* The path of a file with this content, which is there until the next call. */
const char *fuzz_file(const uint8_t *data, size_t n);

/* A directory of this process that is removed when it ends. */
const char *fuzz_dir(void);

/* Writes a file into that directory and returns its path, static: until the next call. */
const char *fuzz_file_in_dir(const char *name, const uint8_t *data, size_t n);

/* Where the n-th part of an input begins: parts stand apart by FUZZ_SEPARATOR. Stores its size;
 * NULL: there are less. */
#define FUZZ_SEPARATOR "\n%%%%\n"
const uint8_t *fuzz_part(const uint8_t *data, size_t n, uint32_t part, size_t *ret_n);

/* Ends the process as a crash does. */
_Noreturn void fuzz_fail(const char *what);

/* Bytes that are taken one after the other; behind the last there are zeros. */
struct fuzz_bytes {
	const uint8_t *at, *end;
};

uint8_t fuzz_u8(struct fuzz_bytes *bytes);
uint32_t fuzz_u32(struct fuzz_bytes *bytes);
uint64_t fuzz_u64(struct fuzz_bytes *bytes);

#endif
