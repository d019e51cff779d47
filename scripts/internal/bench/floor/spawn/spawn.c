/* Runs a program N times: spawn N PROGRAM [ARG...] */
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>

extern char **environ;

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	for (int n = atoi(argv[1]); n > 0; n--) {
		pid_t pid;
		if (posix_spawnp(&pid, argv[2], NULL, NULL, argv + 2, environ))
			return 1;
		waitpid(pid, NULL, 0);
	}
	return 0;
}
