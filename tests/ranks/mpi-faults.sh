# SPDX-License-Identifier: MIT
# Tests that a process of mpirun that dies, stops or loops ends all within 10 s, with a sentence that names it.
. "${0%/*}/../cli/tap.bash"

exits 0 "generate makes a graph" gtu --quiet generate kronecker --scale 10 k.gtu
holds "the graph exists" test -s k.gtu
needs mpirun
given "this build lacks libgtu-mpi.so (apt-get install libopenmpi-dev, then make)" test -e "$bin/libgtu-mpi.so.1"
given "this mpirun is not Open MPI's, whose options the test uses" eval 'mpirun --version | grep -q "Open MPI"'
export "${many_ranks[@]}"
export OMPI_MCA_btl_base_warn_component_unused=0 OMPI_MCA_btl_vader_single_copy_mechanism=none
needs gcc

# A run without end, in which rank 1 sends itself the signal of its argument, if there is one; by SIGUSR1 it loops. The file
# `fault` has the time in ms.
cat >faulty.c <<-'END'
	#include <signal.h>
	#include <stdio.h>
	#include <stdlib.h>
	#include <time.h>
	#include <gtu/mpi.h>

	static int number;
	static uint64_t iterations;
	static struct gtu_ranks ranks;

	static void loop(int received)
	{
		while (received)
			;
	}

	static void fault(void *user, const struct gtu_iteration *it)
	{
		struct timespec t;
		FILE *f;

		(void)user, (void)it;
		if (++iterations != 100 || ranks.rank != 1)
			return;
		clock_gettime(CLOCK_REALTIME, &t);
		f = fopen("fault", "w");
		fprintf(f, "%lld\n", t.tv_sec * 1000ll + t.tv_nsec / 1000000);
		fclose(f);
		raise(number);
	}

	int main(int argc, char **argv)
	{
		struct gtu_algorithm_options opt = { .unit = GTU_WITH_NONE, .iterations = 1000000000, .iteration = fault };
		struct gtu_error err = { 0 };
		struct gtu_device *dev;
		struct gtu_graph *g;
		static double rank[1 << 10];
		int rc;

		number = argc > 1 ? atoi(argv[1]) : 0;
		signal(SIGUSR1, loop);
		if (gtu_mpi_open(&ranks, &err) || gtu_open_ranks("none", &ranks, &dev, &err) ||
		    gtu_graph_open_part(dev, "k.gtu", NULL, &g, &err))
			return fprintf(stderr, "%s\n", err.text), 2;
		rc = gtu_pagerank(dev, g, &opt, rank, NULL, &err);
		gtu_graph_close(g);
		gtu_close(dev);
		gtu_mpi_close(&ranks, rc ? 1 : 0);
		return rc ? 1 : 0;
	}
END
check "a program over gtu/mpi.h compiles" \
	gcc -Wall -I"$root/include" faulty.c -o faulty "$bin/libgtu.so" "$bin/libgtu-mpi.so" -Wl,-rpath,"$bin"
scale=${GTU_TIME_SCALE:-1}

# ends_all SIGNAL: all end within 10 s after the fault
ends_all() {
	local after

	rm -f fault
	timeout $((60 * scale)) mpirun -n 3 ./faulty "$1" 2>faulty.err && return 1
	[ -e fault ] || return 1
	after=$((${EPOCHREALTIME/./} / 1000 - $(cat fault)))
	echo "ended after $after ms"
	# 10 s, as promised, and what a loaded machine adds
	[ $after -le $(((10 + ${SLACK:-15}) * 1000 * scale)) ]
}
check "a process that is killed ends all within 10 s" ends_all 9
# Open MPI 5 wraps its lines
says "a sentence names the process that was killed" "rank 1 .*exited on +signal 9" <(tr '\n' ' ' <faulty.err)
check "a process that is stopped ends all within 10 s" ends_all 19
says "a sentence names the process that was stopped" "gtu: rank 1 \(process [0-9]+ on .*\) has not answered for $((6 * scale)) s" faulty.err
check "a process in an endless loop ends all within 10 s" ends_all 10
says "a sentence names the process in an endless loop" \
	"gtu: rank 1 \(process [0-9]+ on .*\) has not made progress for $((6 * scale)) s: it is in an endless loop" faulty.err
# goes_on: a run without a fault goes on for longer than the time without progress that ends one
goes_on() {
	local run

	rm -f fault
	timeout $((120 * scale)) mpirun -n 2 ./faulty 2>faulty.err &
	run=$!
	wait_until $run test -e fault
	sleep $((8 * scale))
	kill $run && ! wait $run && [ -e fault ]
}
check "a run that makes progress may last longer" goes_on
same "and no process is named" <(grep -c "^gtu: rank" faulty.err) <(echo 0)
always
finish
