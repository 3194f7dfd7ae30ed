/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "counter.h"
#include "machine.h"

#define MAX_ARGUMENTS 32
#define LOST_IRQ_NS   UINT64_C(50000000) /* look at least this often */

int machine_init(struct machine *machine, size_t ram_bytes)
{
	pthread_condattr_t monotonic;

	*machine = (struct machine){.ram_bytes = ram_bytes, .ram_fd = -1, .uart_fd = -1};
	(void)pthread_mutex_init(&machine->lock, NULL);
	(void)pthread_condattr_init(&monotonic);
	(void)pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	(void)pthread_cond_init(&machine->changed, &monotonic);
	(void)pthread_condattr_destroy(&monotonic);
	machine->ram_fd = memfd_create("flextrace-device", MFD_CLOEXEC);
	if (machine->ram_fd < 0 || ftruncate(machine->ram_fd, (off_t)ram_bytes) < 0)
		return -errno;
	machine->ram = mmap(NULL, ram_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, machine->ram_fd,
	                    0);
	if (machine->ram == MAP_FAILED) {
		machine->ram = NULL;
		return -errno;
	}
	return 0;
}

/* -- the child, until exec --------------------------------------------------------------------- */

static void keep_open(int fd)
{
	(void)fcntl(fd, F_SETFD, 0);
}

/* A process group of its own: what ends the program at a terminal must not end QEMU before it. */
static void become_qemu(const struct machine *machine, int uart_fd, pid_t parent,
                        char *const *arguments, char *const *environment)
{
	int null_fd = open("/dev/null", O_RDWR);
	sigset_t none;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	(void)setpgid(0, 0);
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	(void)dup2(null_fd, STDIN_FILENO);
	(void)dup2(null_fd, STDOUT_FILENO);
	(void)close_range(STDERR_FILENO + 1, ~0u, CLOSE_RANGE_CLOEXEC);
	keep_open(machine->ram_fd);
	keep_open(uart_fd);
	(void)execve(arguments[0], arguments, environment);
	_exit(127);
}

struct command_line {
	char words[512];
	char *arguments[MAX_ARGUMENTS];
};

/* Only the program's path may have blanks in it. */
static void write_command_line(struct command_line *line, const struct machine *machine,
                               int uart_fd)
{
	const struct machine_setup *setup = machine->setup;
	size_t ram_mib = machine->ram_bytes >> 20, n = 0;
	char *word, *rest;

	(void)snprintf(line->words, sizeof(line->words),
	               "-M virt,memory-backend=ram -m %zuM -object "
	               "memory-backend-file,id=ram,size=%zuM,mem-path=/proc/self/fd/%d,share=on "
	               "-smp %u -bios none -nodefaults -no-user-config -display none "
	               "-chardev socket,id=uart,fd=%d -serial chardev:uart%s%s",
	               ram_mib, ram_mib, machine->ram_fd, setup->n_harts, uart_fd,
	               setup->cpu ? " -cpu " : "", setup->cpu ? setup->cpu : "");
	line->arguments[n++] = (char *)setup->program;
	for (word = strtok_r(line->words, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
		line->arguments[n++] = word;
	line->arguments[n] = NULL;
}

/* What is preloaded into this program is not meant for QEMU. */
static void copy_environment(char **to, size_t n_max)
{
	size_t n = 0;
	char **entry;

	for (entry = environ; *entry && n + 1 < n_max; entry++)
		if (strncmp(*entry, "LD_PRELOAD=", 11) != 0)
			to[n++] = *entry;
	to[n] = NULL;
}

/* _Fork runs no fork handlers: a tracer's would make QEMU a traced process of its own. */
static pid_t spawn(const struct machine *machine, int uart_fd)
{
	struct command_line line = {0};
	char *environment[1024];
	pid_t parent = getpid();
	pid_t pid;

	write_command_line(&line, machine, uart_fd);
	copy_environment(environment, sizeof(environment) / sizeof(environment[0]));
	pid = _Fork();
	if (pid == 0)
		become_qemu(machine, uart_fd, parent, line.arguments, environment);
	return pid < 0 ? -errno : pid;
}

/* -- the machine's thread ---------------------------------------------------------------------- */

static void set_alive(struct machine *machine, pid_t pid)
{
	(void)pthread_mutex_lock(&machine->lock);
	machine->is_alive = pid > 0;
	if (pid)
		machine->pid = pid;
	(void)pthread_cond_broadcast(&machine->changed);
	(void)pthread_mutex_unlock(&machine->lock);
}

static void pass_text_on(const struct machine *machine, const char *bytes, size_t n)
{
	size_t from = 0, to;

	for (to = 0; machine->console && to <= n; to++) {
		if (to < n && bytes[to])
			continue;
		if (to > from)
			machine->console(machine->console_context, bytes + from, to - from);
		from = to + 1;
	}
}

static void listen_to_uart(struct machine *machine)
{
	char bytes[256];
	ssize_t n;

	while ((n = read(machine->uart_fd, bytes, sizeof(bytes))) > 0 ||
	       (n < 0 && errno == EINTR)) {
		(void)pthread_mutex_lock(&machine->lock);
		(void)pthread_cond_broadcast(&machine->changed);
		(void)pthread_mutex_unlock(&machine->lock);
		pass_text_on(machine, bytes, n > 0 ? (size_t)n : 0);
	}
}

static void *machine_main(void *context)
{
	struct machine *machine = context;
	int ends[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0) {
		set_alive(machine, -errno);
		return NULL;
	}
	machine->uart_fd = ends[0];
	pid = spawn(machine, ends[1]);
	(void)close(ends[1]);
	set_alive(machine, pid);
	if (pid < 0)
		return NULL;
	listen_to_uart(machine);
	set_alive(machine, 0);
	(void)kill(pid, SIGKILL);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	return NULL;
}

int machine_start(struct machine *machine, const struct machine_setup *setup)
{
	sigset_t all, kept;
	int ret;

	machine->setup = setup;
	(void)sigfillset(&all); /* signals of the program are for its own threads */
	(void)pthread_sigmask(SIG_SETMASK, &all, &kept);
	ret = -pthread_create(&machine->thread, NULL, machine_main, machine);
	(void)pthread_sigmask(SIG_SETMASK, &kept, NULL);
	if (ret < 0)
		return ret;
	(void)pthread_mutex_lock(&machine->lock);
	while (machine->pid == 0)
		(void)pthread_cond_wait(&machine->changed, &machine->lock);
	ret = machine->pid > 0 ? 0 : machine->pid;
	(void)pthread_mutex_unlock(&machine->lock);
	return ret;
}

void machine_release(struct machine *machine)
{
	(void)pthread_mutex_lock(&machine->lock);
	if (machine->is_alive)
		(void)kill(machine->pid, SIGKILL);
	(void)pthread_mutex_unlock(&machine->lock);
	if (machine->pid != 0)
		(void)pthread_join(machine->thread, NULL);
	if (machine->uart_fd >= 0)
		(void)close(machine->uart_fd);
	if (machine->ram)
		(void)munmap(machine->ram, machine->ram_bytes);
	if (machine->ram_fd >= 0)
		(void)close(machine->ram_fd);
	(void)pthread_cond_destroy(&machine->changed);
	(void)pthread_mutex_destroy(&machine->lock);
}

int machine_wait(struct machine *machine, const uint32_t *word, uint32_t count,
                 uint64_t deadline_ns)
{
	int ret = 0;

	(void)pthread_mutex_lock(&machine->lock);
	while (ret == 0 && (int32_t)(__atomic_load_n(word, __ATOMIC_ACQUIRE) - count) < 0) {
		uint64_t now_ns = counter_host_ns();
		uint64_t until_ns = now_ns + LOST_IRQ_NS;
		struct timespec until;

		if (!machine->is_alive)
			ret = -EIO;
		else if (now_ns >= deadline_ns)
			ret = -ETIMEDOUT;
		if (until_ns > deadline_ns)
			until_ns = deadline_ns;
		until.tv_sec = (time_t)(until_ns / UINT64_C(1000000000));
		until.tv_nsec = (long)(until_ns % UINT64_C(1000000000));
		if (ret == 0)
			(void)pthread_cond_timedwait(&machine->changed, &machine->lock, &until);
	}
	(void)pthread_mutex_unlock(&machine->lock);
	return ret;
}
