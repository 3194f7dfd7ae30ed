/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process.h: what tells a process from a later one of the same pid, and waiting for its end.
 */
#ifndef FLEXTRACE_PROCESS_H
#define FLEXTRACE_PROCESS_H

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

/* Reads /proc/PID/`name` into `text`, ended by NUL; returns its length, 0 where it is gone. */
size_t process_read(pid_t pid, const char *name, char *text, size_t size);

/* Opens what /proc/PID has under that name; NULL: with errno. */
FILE *process_fopen(pid_t pid, const char *name);
DIR *process_opendir(pid_t pid, const char *name);

/* How many entries such a directory has. */
unsigned process_count(pid_t pid, const char *name);

/* Start time of a process in clock ticks since boot; 0 = there is no such process. */
uint64_t process_start_ticks(pid_t pid);

/* True if a signal or a debugger stopped it. */
bool process_is_stopped(pid_t pid);

/* A pidfd of a process, child or not; -1 = there is no such process. */
int process_open(pid_t pid);

/* Sends SIGTERM to the process behind a pidfd, and to no later one of its pid. */
void process_end(int pidfd);

/* Waits for the end of the process behind a pidfd, so long at most. */
bool process_await_end(int pidfd, int timeout_ms);

/* In a child that is to outlive us: nobody's terminal, group, input, output, files, or blocked
 * signals. Descriptors below `first` stay open. */
void process_stand_alone(unsigned first);

/* Closes a descriptor; -1 is none. */
void descriptor_close(int fd);

/* What tells namespaces apart, of such a file as /proc/self/ns/pid; 0 = not known. */
uint64_t process_inode_of(const char *path);

/* What /proc/meminfo says under that name, as "MemAvailable:"; 0 = not known. */
uint64_t process_memory_bytes(const char *name);

#endif
