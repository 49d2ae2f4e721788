# SPDX-License-Identifier: MIT
# Tests the comparison with the GAP reference code with stubs of gtu and GAP: table, fastest runs, failures.
. "${0%/*}/tap.bash"

needs python3
needs taskset
compare=$root/tools/bench/cpu-compare
cat >gtu <<'END'
#!/bin/sh
echo "$*" >>calls
for x; do last=$x; done
case $1 in
generate|convert) echo graph >"$last"; exit ;;
esac
echo '{"vertices":1024,"seconds":{"total":0.5},"runs":[0.030,0.010],"result":{"reached":1000}}'
END
mkdir -p gap
for x in bfs sssp cc pr bc tc; do
	printf '#!/bin/sh\necho "$0 $OMP_NUM_THREADS $*" >>gap.calls\necho "Trial Time:      0.04000"; echo "Trial Time:      0.02000"; echo "Average Time: 0.03"\n' >gap/$x
done
chmod +x gtu gap/*
all() { "$compare" d --gtu ./gtu --gap gap --scales 10 --graphs kronecker,road --sources 2 --rounds 1 "$@"; }
check "cpu-compare --help exits with 0" "$compare" --help
exits 2 "cpu-compare refuses to run without GAP" "$compare" d
unset OMP_NUM_THREADS
check "cpu-compare runs" all
cp "$out" table
says "the table has the fastest runs and their ratio" "^\| kronecker 2\^10 \| bfs \| 10.0 ms \| 20.0 ms \| 0.50 \| 10.0 ms \| 20.0 ms \| 0.50 \|" table
holds "the table has each algorithm of each graph" test "$(grep -c "2^10" table)" = 12
same "cpu-compare writes the table" table d/table.md
holds "GAP runs on one thread" grep -q "gap/bfs 1 -f d/kronecker-10.sg" gap.calls
holds "GAP runs on all threads" grep -q "gap/bfs  -f d/kronecker-10.sg" gap.calls
holds "GAP has the same sources" test "$(grep -c "run bfs d/road-10.gtu.*--source $(sed -n 's|.*gap/bfs.*road-10.sg.*-r ||p' gap.calls | head -1) " calls)" -ge 1
holds "GAP tries each delta" grep -q "gap/sssp .*road-10.wsg.*-d 1024" gap.calls
holds "cpu-compare removes its graphs" test ! -e d/kronecker-10.gtu -a ! -e d/road-10.wsg
for x in bfs sssp cc; do
	sed -i '2s/^/touch running.$$; ls running.* | wc -l >>together; sleep 0.3; rm running.$$; /' gap/$x
done
check "cpu-compare runs with --jobs 3" all --threads 1 --jobs 3
holds "cpu-compare --jobs 3 measures together" grep -q '[23]' together
rm together
check "cpu-compare runs with one job" all --threads 1
lacks "cpu-compare measures one after the other" '[23]' together
exits 1 "cpu-compare refuses an unknown algorithm" all --only gc
printf '#!/bin/sh\necho crashed; exit 139\n' >gap/pr
fails_with 1 "cpu-compare fails where GAP crashes" "gap/pr .*failed" all
always
finish
