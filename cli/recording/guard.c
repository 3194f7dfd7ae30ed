/* SPDX-License-Identifier: Apache-2.0 */
#include "guard.h"

#include <dirent.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"

/* As the writer makes them, for their owner alone; what others write there is theirs. */
static bool is_unfinished(int dir, const char *name, const struct timespec *since)
{
	size_t length = strlen(name);
	struct stat status;

	if (length < 4 || strcmp(name + length - 4, ".tmp") != 0 ||
	    fstatat(dir, name, &status, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(status.st_mode) ||
	    (status.st_mode & 077) || status.st_uid != geteuid())
		return false;
	return status.st_mtim.tv_sec >= since->tv_sec;
}

static void remove_unfinished(const char *output_dir, const struct timespec *since)
{
	DIR *dir = opendir(output_dir);
	struct dirent *entry;

	if (!dir)
		return;
	while ((entry = readdir(dir)))
		if (is_unfinished(dirfd(dir), entry->d_name, since))
			unlinkat(dirfd(dir), entry->d_name, 0);
	closedir(dir);
}

void guard_clean(struct ctf_views *views, const char *output_dir, const struct timespec *since)
{
	ctf_views_remove(views);
	remove_unfinished(output_dir, since);
}

static void *guard_main(void *data)
{
	struct guard *guard = data;
	sigset_t set;
	int number;

	sem_post(&guard->waits);
	if (sigwait(&guard->signals, &number) != 0)
		return NULL;
	guard_clean(guard->views, guard->output_dir, &guard->since);
	cli_progress_end();
	signal(number, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, number);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	raise(number);
	return NULL;
}

static void add_signal(sigset_t *signals, int number)
{
	struct sigaction action;

	if (sigaction(number, NULL, &action) == 0 && action.sa_handler != SIG_IGN)
		sigaddset(signals, number);
}

void guard_begin(struct guard *guard, struct ctf_views *views, const char *output_dir)
{
	*guard = (struct guard){.views = views, .output_dir = output_dir};
	clock_gettime(CLOCK_REALTIME_COARSE, &guard->since);
	sigemptyset(&guard->signals);
	add_signal(&guard->signals, SIGINT);
	add_signal(&guard->signals, SIGTERM);
	add_signal(&guard->signals, SIGHUP);
	pthread_sigmask(SIG_BLOCK, &guard->signals, &guard->old_mask);
	sem_init(&guard->waits, 0, 0);
	guard->is_running = pthread_create(&guard->thread, NULL, guard_main, guard) == 0;
	if (!guard->is_running) {
		pthread_sigmask(SIG_SETMASK, &guard->old_mask, NULL);
		return;
	}
	while (sem_wait(&guard->waits) < 0)
		;
}

void guard_end(struct guard *guard)
{
	if (!guard->is_running)
		return;
	pthread_cancel(guard->thread);
	pthread_join(guard->thread, NULL);
	pthread_sigmask(SIG_SETMASK, &guard->old_mask, NULL);
	guard->is_running = false;
}
