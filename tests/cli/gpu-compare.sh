# SPDX-License-Identifier: MIT
# Tests the comparison on a GPU with stubs of gtu and the other codes: stages, resuming, failures, table. Then
# gtu bench gpu on a simulated GPU: all algorithms, graphs by rule, validation.
. "${0%/*}/tap.bash"

needs python3
compare=$root/tools/bench/gpu-compare
cat >gtu <<'END'
#!/bin/sh
echo "$*" >>calls
out=; kind=device; for x; do last=$x; done
case $1 in
generate|convert) echo graph >"$last"; exit ;;
esac
[ -e no-gpu ] && { echo "gtu: no CUDA driver on this computer"; exit 1; }
row() { echo "{\"algorithm\":\"$1\",\"teps\":2.5e9,\"kernel\":\"auto\",\"gpu_memory\":$4,\"seconds\":$2,\"placement\":{\"edges\":\"$3\",\"edge_bytes\":4,\"compressed\":false,\"cache_bytes\":$4}}"; }
case "$*" in
*"--only link"*) body='"link_gbps":{"pinned":{"sequential":51.5},"device":{"sequential":900}}' ;;
*--ranks*) body='"ranks":[{"name":"EMOGI","error":0.001,"iterations":3,"own_error":0.0009,"seconds":0.0061}],"results":[]' ;;
*--gpu-memory*) body="\"results\":[$(row bfs 0.004 managed 67108864),$(row bfs 0.002 managed 1073741824)]" ;;
*) body="\"graphs\":[{\"edges\":8192,\"sources\":[5,7,11,13]}],\"results\":[$(for x in bfs cc sssp pr; do row $x 0.010 managed 1; echo ,; done)$(row bfs 0.001 device 0)]" ;;
esac
echo "{$body}" >"$last"
END
mkdir -p gap
printf '#!/bin/sh\necho "$0 $GTU_SOURCES $*" >>gap.calls\necho "Trial Time: 0.02"; echo "Average Time: 0.04"\n' >gap/bfs
for x in sssp cc bc tc; do cp gap/bfs gap/$x; done
printf '#!/bin/sh\necho crashed; exit 139\n' >gap/pr
cat >other <<'END'
#!/bin/sh
[ $1 = cc ] && exit 77
[ $1 = pr ] && echo ranks >"$4"
[ -s "$2" ] || exit 1
echo "$* is done, from $(wc -l <"$3") sources"; echo 30.5
END
chmod +x gtu gap/* other
all() { "$compare" d --gtu ./gtu --gap gap --other EMOGI=./other --scale 10 --sources 4 --sssp-sources 3 "$@"; }
check "gpu-compare --help exits with 0" "$compare" --help
exits 2 "gpu-compare refuses to run without a folder" "$compare"
prints "gpu-compare --list lists the stages" "^left +EMOGI bfs kronecker" all --list
prints "gpu-compare --stages 3 runs" "stages are left" all --stages 3
prints "gpu-compare --list lists the stages after three of them" "^done +link" all --list
cp calls before
fails_with 1 "gpu-compare fails where another code crashes" "gap/pr" all
holds "there is a table for each graph" grep -q "^| uniform 2^10, ms | bfs | cc | sssp | pr |$" d/table.md
holds "the table has the time of the GAP reference after a crash of another program" grep -q "^| GAP reference, all cores | 40.0 |" d/table.md
holds "the table has the time of the other code" grep -q "^| EMOGI | 30.5 | - |" d/table.md
holds "the table has the time with edges on the card" grep -q "edges on the card | 1.00 |" d/table.md
holds "the table has the speed-up over the best other code" \
	grep -q "^| GTU auto, 4 bytes, edges in host memory, over the best other | 3.05x |" d/table.md
holds "the table has the speed-up on the card" grep -q "edges on the card, over the best other | 30.5x |" d/table.md
holds "the table has the time to reach EMOGI's error" grep -q "as close as EMOGI | - | - | - | 6.10 |" d/table.md
holds "the table compares PageRank at equal error" grep -q "as close as EMOGI, over the best other | .* 5.00x |" d/table.md
holds "the table compares no PageRank of another error" grep -q "edges in host memory, over the best other | .* - |$" d/table.md
holds "the table has the errors and iterations of PageRank" grep -q "pr uniform: EMOGI has a total distance of 0.001 .* 3 iterations 0.0009" d/table.md
holds "the table has Graph500's rates" grep -q "^| GTU auto, 4 bytes, edges on the card, GTEPS | 2.50 |" d/table.md
holds "all codes run from the same sources" test "$(tr '\n' ' ' <d/sources-bfs-uniform.txt)" = "5 7 11 13 "
holds "sssp runs from three sources" test "$(tr '\n' ' ' <d/sources-sssp-uniform.txt)" = "5 7 11 "
holds "gpu-compare runs with an eighth of the card's memory" grep -q -- "--gpu-memory 4096 .*--ranks EMOGI=d/ranks-EMOGI-uniform.f32" calls
holds "GAP has the same sources" grep -q "^gap/bfs d/sources-bfs-uniform.txt -f d/uniform-10.sg -n 4" gap.calls
holds "gpu-compare tries delta steps for GAP" test -e d/gap-sssp-32-uniform.json
holds "gpu-compare gives GAP a converted graph" grep -q "convert --weights none --quiet d/uniform-10.gtu" calls
holds "gpu-compare draws the curve" grep -q "<polyline" d/curve.svg
holds "gpu-compare does not repeat stages that are done" test "$(grep -cxFf before calls)" = 3
printf '#!/bin/sh\necho ranks >"$GTU_RANKS"; echo "Average Time: 0.5"\n' >gap/pr
wc -l <calls >before
prints "gpu-compare goes on after the crash is repaired" "all stages are done" all
wc -l <calls >after
same "gpu-compare does not run gtu again after the repair" before after
check "gpu-compare --tidy runs" all --tidy
holds "gpu-compare --tidy removes the graphs and keeps the results" test ! -e d/uniform-10.gtu -a ! -e d/uniform-10.wsg -a -s d/gtu-uniform.json
rm -r d; touch no-gpu
fails_with 1 "gpu-compare fails without a GPU" "no CUDA driver" all
cat "$out" "$err" >said
holds "gpu-compare prints the message once" test "$(grep -c "no CUDA driver" said)" = 1
rm no-gpu
check "gpu-compare runs the whole GAP suite on other graphs" all --graphs road,powerlaw --algorithms bfs,bc,lcc --plain --memory "" \
	--weights 1:255
holds "the table has betweenness and triangles" grep -q "^| powerlaw 2^10, ms | bfs | bc | lcc |$" d/table.md
holds "gpu-compare compares lcc with GAP's tc" grep -q "GAP reference.* | 40.0 | 40.0 |$" d/table.md
holds "gpu-compare gives weights to a power-law graph and not to roads" \
	test "$(grep -c -- "--weights 1:255" calls)$(grep "generate road" calls | grep -c weights)" = 10
check "gpu-compare takes a directed graph and a file" all --graphs directed --file web=web.graph --algorithms bfs,sssp,pr,lcc --plain --memory ""
holds "gpu-compare places the transposed lists of a directed graph" grep -q "bench gpu .*directed-10.gtu --only bfs,sssp,pr,auto.*--transpose" calls
holds "gpu-compare converts the file" grep -q "convert --quiet web.graph d/web" calls
holds "the table of the file has no sssp" grep -q "^| web, ms | bfs | pr | lcc |$" d/table.md
holds "PageRank is compared with GAP's ranks" grep -q -- "--ranks GAP reference, all cores=d/ranks-GAP-web.f32" calls
exits 1 "gpu-compare refuses an unknown algorithm" all --algorithms bfs,tc
touch no-gpu
exits 1 "gpu-compare refuses an unknown graph" all --graphs lattice
cat "$out" "$err" >said
says "gpu-compare names the unknown graph" lattice said
always

# run-emogi with programs of EMOGI's form
mkdir emogi
for x in bfs cc sssp pagerank; do
	printf '#!/bin/sh\necho "$0 $*" >>emogi.calls\n[ -e "$2" ] || exit 1\necho "run   0: time     %s ms"\n' 12.5 >emogi/$x
	sed 's/12.5/7.5/' emogi/$x >emogi/${x}_32
done
printf '#!/bin/sh\necho "total time: 3.25 ms"\n' >emogi/cc_32
chmod +x emogi/*
printf '#!/bin/sh\necho "$*" >>calls; for last; do :; done; echo graph >"$last"; echo graph >"$last.col"\n' >convert
chmod +x convert
printf '5\n7\n11\n' >list
emogi() { env GTU=./convert EMOGI=emogi EMOGI_SOURCES=2 "$root/tools/bench/run-emogi" "$@"; }
prints "run-emogi prints the mean time" "^7.500000$" emogi bfs k.gtu list ranks
holds "EMOGI runs from two sources, merged and aligned, in managed memory" \
	test "$(grep -c -- "emogi/bfs_32 -f k.bel -r [57] -t 1 -m 2" emogi.calls)" = 2
holds "the graph is converted" grep -q "^convert --quiet --adapt k.gtu k.bel$" calls
prints "run-emogi runs components once" "^3.250000$" emogi cc k.gtu list ranks
prints "run-emogi takes 8 bytes an edge" "^12.500000$" env EMOGI_BYTES=8 GTU=./convert EMOGI=emogi "$root/tools/bench/run-emogi" pr k.gtu list
exits 77 "run-emogi does not have betweenness" emogi bc k.gtu list ranks
exits 2 "run-emogi needs EMOGI's folder" "$root/tools/bench/run-emogi" bfs k.gtu list
printf '#!/bin/sh\necho nothing\n' >emogi/sssp_32
fails_with 1 "run-emogi fails where a program prints no time" "sssp_32 printed no time" emogi sssp k.gtu list ranks

# gap-sources.h before a program of GAP's form
given "there is no C++ compiler" command -v g++
mkdir -p src
cat >src/benchmark.h <<'END'
#pragma once
#include <cstdio>
typedef int NodeID;
struct CLApp {};
template<typename T_> struct pvector {
  T_ values[2];
  const T_ *begin() const { return values; }
  size_t size() const { return 2; }
};
template<typename GraphT_> class SourcePicker {
 public:
  explicit SourcePicker(const GraphT_ &, NodeID given = -1) : given_(given) {}
  NodeID PickNext() { return given_ == -1 ? 99 : given_; }
 private:
  NodeID given_;
};
template<typename GraphT_, typename Kernel_, typename Stats_, typename Verify_>
void BenchmarkKernel(const CLApp &, const GraphT_ &g, Kernel_ kernel, Stats_, Verify_) { kernel(g); puts("timed"); }
END
cat >src/bfs.cc <<'END'
#include "benchmark.h"
struct Graph { long num_nodes() const { return 10; } };
int main(int argc, char **argv) {
  Graph g;
  SourcePicker<Graph> sources(g, argc > 1 ? atoi(argv[1]) : -1), sample(g);
  for (int i = 0; i < 3; i++)
    printf("%d ", sources.PickNext());
  printf("%d\n", sample.PickNext());
  BenchmarkKernel(CLApp(), g, [](const Graph &) { puts("kernel"); return pvector<float>{{1, 2}}; }, 0, 0);
}
END
check "gap-sources.h compiles" g++ -Wall -Wextra -Werror -Isrc -include "$root/tools/bench/gap-sources.h" -std=c++11 -o form src/bfs.cc
printf '5\n7\n' >list
prints "the sources are those of the file, a sample is not" "^5 7 5 99$" env GTU_SOURCES=list ./form
prints "-r goes before the file" "^3 3 3 99$" env GTU_SOURCES=list ./form 3
prints "without a file the sources are GAP's own" "^99 99 99 99$" ./form
echo 12 >list
fails_with 1 "a source outside of the graph is refused" "not a list of the graph's vertices" env GTU_SOURCES=list ./form
check "the ranks are written" env GTU_RANKS=ranks ./form
holds "the ranks are those of a run that is not timed" test "$(tail -1 "$out")$(od -An -tf4 ranks | tr -s ' ')" = "kernel 1 2"
always

# gtu bench gpu, with the GPU's kernels as CPU code
export GTU_CUDA_LIBRARY=$root/build/tests/fake/libcuda-cpu.so.1
given "there is no libcuda-cpu.so.1: make unit-tests builds it with a C++ compiler" test -e "$GTU_CUDA_LIBRARY"
needs_kernels
bench_gpu() { gtu bench gpu --sources 1 --sssp-sources 1 --iterations 2 "$@"; }
check "gtu bench gpu runs on a graph by rule" bench_gpu --graph rule:8:6 --only bfs,sssp,cc,pr,auto --validate --verify --gpu-memory 0
for x in bfs sssp cc pr; do
	holds "gtu bench gpu validates $x" grep -q "^$x *valid: 100.0% of the vertices" "$out"
done
holds "a graph by rule is registered in place" grep -q "^bfs *registered 4" "$out"
check "gtu bench gpu runs the other algorithms" bench_gpu --graph kronecker:5 --only bc,lcc,kc,cdlp,gc,stcon,gcn,auto,host --verify \
	--gpu-memory 0
for x in bc lcc kc cdlp gc stcon gcn; do
	holds "gtu bench gpu has a row of $x" grep -q "^$x .* auto " "$out"
done
holds "gtu bench gpu runs none but the named algorithms" test "$(grep -cE '^(bfs|pr|cc|sssp) ' "$out")" = 0
check "gtu bench gpu places edges in pinned memory" bench_gpu --graph uniform:5 --only bfs,auto,host --edges pinned --gpu-memory 0
holds "the edges are in pinned memory" grep -q "^bfs *pinned 4" "$out"
gtu generate uniform --scale 5 --directed --quiet d.gtu
check "gtu bench gpu places transposed lists" bench_gpu --graph d.gtu --only bfs,pr,auto,host --transpose --verify --gpu-memory 0
# 10^320 shortest paths, through layers of ten vertices, are more than a double holds
awk 'BEGIN { for (i = 0; i < 6400; i++) for (k = 0; k < 10; k++) print i, 10 * int(i / 10 + 1) + k }' >layers.el
gtu convert --undirected --quiet layers.el layers.gtu
check "gtu bench gpu runs betweenness with them" bench_gpu --graph layers.gtu --only bc,auto --edges device --verify
holds "gtu bench gpu has their row" grep -q "^bc *device" "$out"
printf '0 1 1\n1 2 inf\n' >inf.el
gtu convert --undirected --quiet inf.el inf.gtu
check "gtu bench gpu goes on after a row that fails" bench_gpu --graph inf.gtu --only cc,gcn,auto,host --gpu-memory 0
says "gtu bench gpu reports the row that it leaves out" "gcn on inf.gtu.* left out: .* has the weight inf" "$err"
holds "gtu bench gpu has the other rows" grep -q "^cc *device" "$out"
exits 2 "gtu bench gpu refuses to validate a directed graph" bench_gpu --graph d.gtu --only bfs,auto,host --validate --gpu-memory 0
says "gpu-compare names the directed graph" "is directed" "$err"
fails_with 1 "gtu bench gpu says that the time was too short for a row" "0.001 seconds were over before the first row" bench_gpu \
	--graph uniform:5 --only bfs,auto,host --gpu-memory 0 --seconds 0.001
exits 2 "gtu bench gpu refuses another degree" bench_gpu --graph rule:8:7 --only bfs
exits 2 "gtu bench gpu refuses weights without a range" bench_gpu --graph rule:8:6 --weights 7
exits 2 "gtu bench gpu refuses another kind of edges" bench_gpu --graph rule:8:6 --edges uvm
check "gtu bench gpu runs with the edges on the card only" bench_gpu --graph uniform:5 --only bfs,auto --edges device
holds "gtu bench gpu has a row of the card" grep -q "^bfs *device" "$out"
lacks "gtu bench gpu has no row of host memory" "bfs *(pinned|managed)" "$out"
always
finish
