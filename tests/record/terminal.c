/* SPDX-License-Identifier: Apache-2.0 */
/*
 * terminal TEXT COMMAND [ARGUMENT...]: runs a command on a terminal of its own, copies what it
 * prints, types Ctrl-C when it has printed TEXT ("-" = never), and ends with its exit code.
 */
#include <pty.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	char seen[65536] = "";
	size_t n_seen = 0;
	int fd, status, is_typed = 0;
	ssize_t n;
	pid_t pid;

	if (argc < 3)
		return 99;
	pid = forkpty(&fd, NULL, NULL, NULL);
	if (pid == 0) {
		execvp(argv[2], argv + 2);
		_exit(98);
	}
	while (pid > 0 && n_seen < sizeof(seen) - 1 &&
	       (n = read(fd, seen + n_seen, sizeof(seen) - 1 - n_seen)) > 0) {
		fwrite(seen + n_seen, 1, (size_t)n, stdout);
		n_seen += (size_t)n;
		seen[n_seen] = '\0';
		if (!is_typed && strcmp(argv[1], "-") != 0 && strstr(seen, argv[1]))
			is_typed = write(fd, "\003", 1) == 1;
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return 97;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
