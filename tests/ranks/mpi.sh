# SPDX-License-Identifier: MIT
# Tests gtu run over processes that mpirun starts, and over lists of devices in one process.
. "${0%/*}/../cli/tap.bash"

exits 0 "generate makes a graph" gtu --quiet generate kronecker --scale 10 --weights 50 k.gtu

# lists, without MPI
for device in model,model model,model,model none,none; do
	unit=$([ $device = none,none ] && echo none || echo scu)
	for algorithm in bfs sssp pr cc bc kc cdlp gc gcn; do
		verified "$algorithm over $device gives the right values" gtu run $algorithm k.gtu --device $device --unit $unit --verify
		says "$algorithm over $device says how many ranks there are" "^ranks     $(tr ',' '\n' <<<$device | wc -l); all sent [0-9,]+ bytes" "$out"
	done
done
verified "--unit none runs over a list of models, too" gtu run bfs k.gtu --device model,model --unit none --verify
exits 1 "an algorithm that cannot run over a list is refused" gtu run lcc k.gtu --device model,model
says "gtu run names the algorithms that run over ranks" "clustering.* does not run over several devices: only bfs, sssp"
exits 2 "gtu info describes one device, not a list" gtu info --device model,none
exits 2 "--output-parts is refused without mpirun" gtu run bfs k.gtu --output-parts parts
says "gtu run says how ranks are started" "start them by mpirun"
verified "stcon over model,model gives the right value" gtu run stcon k.gtu --target 1 --device model,model --verify
exits 0 "--json has the traffic of a list" gtu --quiet run pr k.gtu --iterations 1 --device model,model --json list.json
json "8 bytes for each vertex of the other rank go over, from both" list.json 'd["ranks"]["ranks"] == 2' \
	'd["ranks"]["value_bytes"] == 8 * d["vertices"]' 'd["ranks"]["edge_bytes"] == 0' \
	'0 <= d["ranks"]["hidden"] <= 1' 'd["ranks"]["exchange_seconds"] > 0'

exits 2 "the scale of a generated graph has a limit" gtu run bfs kronecker:99
says "gtu run names the graph's rule that is out of range" "kronecker:99 is out of range: it must be 1 to 40"
exits 2 "options for files do not apply to generated graphs" gtu run bfs uniform:4 --directed
verified "one process generates a graph" gtu run bfs kronecker:8 --unit none --verify

# the library that is missing
exits 1 "without libgtu-mpi.so a process of mpirun fails" env OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=2 \
	bash -c 'mkdir alone && cp "$0/gtu" alone && exec alone/gtu run bfs k.gtu' "$bin"
says "gtu run names the package of MPI" "libgtu-mpi.so.1 cannot be loaded .*: install the package libgtu-mpi1"

for variables in "OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=1" "PMIX_RANK=0" "PMI_RANK=0 PMI_SIZE=1"; do
	verified "one process of a launcher is an ordinary run ($variables)" env $variables gtu run bfs k.gtu --verify
done

needs mpirun
given "this build lacks libgtu-mpi.so (apt-get install libopenmpi-dev, then make)" test -e "$bin/libgtu-mpi.so.1"
given "this mpirun is not Open MPI's, whose options the test uses" eval 'mpirun --version | grep -q "Open MPI"'
export "${many_ranks[@]}"
export OMPI_MCA_btl_base_warn_component_unused=0 OMPI_MCA_btl_vader_single_copy_mechanism=none
ranks() { # NUMBER COMMAND...
	timeout 600 mpirun -n "$@"
}

for algorithm in bfs sssp pr cc bc kc cdlp gc gcn; do
	exits 0 "gtu run $algorithm writes the values of one process" gtu --quiet run $algorithm k.gtu --unit none --sources 4 --output one.txt
	for n in 2 3 5; do
		verified "$algorithm over $n processes gives the right values" ranks $n gtu run $algorithm k.gtu --unit none --sources 4 --verify
		rm -f many.txt
		exits 0 "$algorithm over $n processes opens the graph in parts" \
			ranks $n gtu --quiet run $algorithm k.gtu --unit none --sources 4 --output many.txt
		case $algorithm in
		pr | bc) python "$algorithm over $n processes writes the same values" <<-'END'
			for one, many in zip(open("one.txt"), open("many.txt"), strict=True):
			    (v, x), (w, y) = one.split(), many.split()
			    assert v == w and abs(float(x) - float(y)) <= 1e-9 * abs(float(x)), (one, many)
			END
			;;
		*) same "$algorithm over $n processes writes the same values" one.txt many.txt ;;
		esac
	done
done
exits 0 "random weights are those of one process" gtu --quiet run sssp k.gtu --weights random:3 --unit none --output random.one
exits 0 "random weights are drawn for the edges of each part" ranks 4 gtu --quiet run sssp k.gtu --weights random:3 --unit scu --output random.many
same "the distances are the same" random.one random.many
exits 0 "convert writes a text file" gtu --quiet convert k.gtu k.mtx --adapt
exits 0 "a text file is read whole by each process" ranks 3 gtu --quiet run sssp k.mtx --unit none --output text.many
exits 0 "gtu run reads the text file" gtu --quiet run sssp k.mtx --unit none --output text.one
same "the distances of the text file are the same" text.one text.many
exits 0 "a generated graph is that of one process" gtu --quiet run sssp powerlaw:9 --unit none --output powerlaw.one
exits 0 "each rank makes its part of a generated graph" ranks 3 gtu --quiet run sssp powerlaw:9 --unit none --output powerlaw.many
same "the distances of the generated graph are the same" powerlaw.one powerlaw.many
exits 0 "rank 0 prints, and no other" ranks 4 gtu run bfs k.gtu --device model
holds "the result is there once" test "$(grep -c '^reached' "$out")" = 1
says "the line of ranks is there" "^ranks     4; rank 0 sent" "$out"

exits 0 "--output-parts writes a file for each rank" ranks 3 gtu --quiet run cc k.gtu --unit none --output-parts parts
exits 0 "gtu run cc writes one file" gtu --quiet run cc k.gtu --unit none --output one.txt
same "the parts are the whole" one.txt <(cat parts/*)
same "there are as many as ranks, and nothing else" <(ls -A parts) <(printf 'part-%05d\n' 0 1 2)
exits 2 "--output and --output-parts exclude each other" ranks 2 gtu run cc k.gtu --unit none --output-parts p --output f
exits 2 "a mistake in the command line ends all" ranks 3 gtu run nonsense k.gtu
holds "the mistake in the command line is reported once" test "$(grep -c "algorithm 'nonsense'" "$err")" = 1
# mpirun ends those that are still starting as soon as one has failed, and sometimes itself
exits 2 "a mistake ends all when rank 0 starts last" \
	ranks 3 sh -c '[ "$OMPI_COMM_WORLD_RANK" != 0 ] || sleep 1; exec gtu run nonsense k.gtu'
holds "the mistake is reported once when rank 0 starts last" test "$(grep -c "algorithm 'nonsense'" "$err")" = 1
exits 2 "a mistake of one process ends all" \
	ranks 3 sh -c 'a=bfs; [ "$OMPI_COMM_WORLD_RANK" != 1 ] || a=nonsense; exec gtu run $a k.gtu --unit none'
says "the sentence names the rank with the mistake" "rank 1 of 3: its command line has a mistake"
exits 1 "a graph that is missing ends all" ranks 3 gtu run bfs no-such.gtu
holds "the missing graph is reported once" test "$(grep -c "no-such.gtu" "$err")" = 1

verified "stcon over 3 processes gives the right value" ranks 3 gtu run stcon k.gtu --target 1 --unit none --verify
exits 2 "one value is not written in parts" ranks 2 gtu run stcon k.gtu --target 1 --unit none --output-parts p
says "gtu run names the algorithm with one value" "stcon has one value"

# ranks that differ (not by mpirun's colon, with which Open MPI 5.0.7 crashes)
exits 0 "generate makes another graph" gtu --quiet generate kronecker --scale 9 small.gtu
exits 2 "processes with two graphs end" ranks 2 sh -c 'g=k; [ "$OMPI_COMM_WORLD_RANK" = 0 ] || g=small; exec gtu run bfs $g.gtu --unit none'
says "the sentence names the rank with another graph" "rank 1.*(graph|vertices)"
exits 2 "processes with two options end" ranks 2 sh -c 'd=0.85; [ "$OMPI_COMM_WORLD_RANK" = 0 ] || d=0.5; exec gtu run pr k.gtu --unit none --damping $d'
says "the sentence names the rank with another option" "rank 1 has other options than rank 0"

# A run that takes long, with a process that is interrupted; $1: command with the process id of rank 1.
long_run() {
	local started=$SECONDS pid status

	rm -f late.txt
	timeout 90 mpirun -n 3 gtu run pr k.gtu --unit none --iterations 100000000 --output late.txt >long.out 2>long.err &
	launcher=$!
	for _ in {1..300}; do
		pid=$(pgrep -P "$(pgrep -P $launcher)" -x gtu 2>/dev/null | sed -n 2p)
		[ -n "$pid" ] && break
		sleep 0.1
	done
	sleep 2
	if [ -z "$pid" ] || ! kill -0 $launcher; then
		kill $launcher
		wait $launcher
		return 1
	fi
	eval "$1"
	started=$SECONDS
	wait $launcher
	status=$?
	# 10 s, as promised, and what a loaded machine adds
	echo "status $status after $((SECONDS - started)) s" >long.end
	[ $status != 0 ] && [ $((SECONDS - started)) -le $((10 + ${SLACK:-15})) ] && [ ! -e late.txt ]
}
needs pgrep
# mpirun kills the processes a second later, so there may be no message
check "an interrupt of mpirun ends all within seconds" long_run 'kill -INT $(pgrep -P $launcher)'
check "an interrupt of one process ends all within seconds" long_run 'kill -INT $pid'
# or still reads the graph, where mpirun takes seconds to start
says "a sentence names what the interrupt of one process stopped" "interrupted|was stopped" long.err
same "no temporary file is left" <(ls -A | grep -c 'late') <(echo 0)
always
needs mpirun
given "this build lacks libgtu-mpi.so (apt-get install libopenmpi-dev, then make)" test -e "$bin/libgtu-mpi.so.1"

needs python3
exits 0 "rank-compare measures" "$root/tools/bench/rank-compare" d --gtu "$bin/gtu" --scale 8 --rounds 1 --ranks 1,2 --only bfs
says "rank-compare prints a row for each number of ranks" \
	"^\| bfs \| 2 \| [0-9.]+ \| [0-9.]+ \| ([0-9.]+) \| \1 to \1 \| 0 \| [0-9,]+ \|" "$out"
always
needs python3
exits 0 "rank-compare prints the model" "$root/tools/bench/rank-compare" --model
at_least 5 "$(wc -l <"$out")" "lines of the model"
while IFS= read -r line; do
	holds "scale.md has the model's line ${line:0:20}" grep -qxF -- "$line" "$root/Documentation/scale.md"
done <"$out"
printf '{ "algorithm": "pr", "edges_traversed": 4e9, "seconds": { "pull": 2 },
	"ranks": { "ranks": 4, "bytes": 6e9, "exchange_seconds": 2 } }' >measured.json
printf '{ "step_seconds": { "value": 1e-6, "measured": "elsewhere" }, "vertices": 1000 }' >constants.json
exits 0 "the model takes constants of a run, of a file and of the command line" "$root/tools/bench/rank-compare" --model \
	--constants constants.json --run measured.json --set edges=1e6
says "a run's rate is that of a rank" "pr_edges_per_second \| 5e\+08 \| measured: pr over 4 ranks, measured.json" "$out"
says "a run's exchanges give the bandwidth" "host_bytes_per_second \| 3e\+09 \| measured" "$out"
says "a file says what is measured" "step_seconds \| 1e-06 \| measured: elsewhere" "$out"
says "a number alone is assumed" "vertices \| 1000 \| assumed" "$out"
says "an option is assumed" "edges \| 1e\+06 \| assumed" "$out"
says "the table follows from them" "^\| pr \| 1 \| 8 \| 4 x 2 \| 0.00 GiB \| 2.0 \|" "$out"
exits 2 "a constant that the model lacks is refused" "$root/tools/bench/rank-compare" --model --set colour=1
says "rank-compare names its constants" "colour is not a constant of the model: pr_edges_per_second" "$err"
exits 2 "a constant of 0 is refused" "$root/tools/bench/rank-compare" --model --set edges=0
exits 2 "rank-compare without a folder is refused" "$root/tools/bench/rank-compare"
always
finish
