# SPDX-License-Identifier: MIT
# Tests gtu bench gpu with the GPU's kernels as CPU code: all algorithms, graphs by rule, validation.
. "${0%/*}/tap.bash"

export GTU_CUDA_LIBRARY=$root/build/tests/fake/libcuda-cpu.so.1
given "there is no libcuda-cpu.so.1: make unit-tests builds it with a C++ compiler" test -e "$GTU_CUDA_LIBRARY"
bench() { gtu bench gpu --sources 1 --sssp-sources 1 --iterations 2 "$@"; }
check "gtu bench gpu runs on a graph by rule" bench --graph rule:8:6 --only bfs,sssp,cc,pr,auto --validate --verify --gpu-memory 0
for x in bfs sssp cc pr; do
	holds "gtu bench gpu validates $x" grep -q "^$x *valid: 100.0% of the vertices" "$out"
done
holds "a graph by rule is registered in place" grep -q "^bfs *registered 4" "$out"
check "gtu bench gpu runs the other algorithms" bench --graph kronecker:5 --only bc,lcc,kc,cdlp,gc,stcon,gcn,auto,host --verify \
	--gpu-memory 0
for x in bc lcc kc cdlp gc stcon gcn; do
	holds "gtu bench gpu has a row of $x" grep -q "^$x .* auto " "$out"
done
holds "gtu bench gpu runs none but the named algorithms" test "$(grep -cE '^(bfs|pr|cc|sssp) ' "$out")" = 0
check "gtu bench gpu places edges in pinned memory" bench --graph uniform:5 --only bfs,auto,host --edges pinned --gpu-memory 0
holds "the edges are in pinned memory" grep -q "^bfs *pinned 4" "$out"
gtu generate uniform --scale 5 --directed --quiet d.gtu
check "gtu bench gpu places transposed lists" bench --graph d.gtu --only bfs,pr,auto,host --transpose --verify --gpu-memory 0
exits 2 "gtu bench gpu refuses to validate a directed graph" bench --graph d.gtu --only bfs,auto,host --validate --gpu-memory 0
says "the message names the graph" "is directed" "$err"
exits 2 "gtu bench gpu refuses another degree" bench --graph rule:8:7 --only bfs
exits 2 "gtu bench gpu refuses weights without a range" bench --graph rule:8:6 --weights 7
exits 2 "gtu bench gpu refuses another kind of edges" bench --graph rule:8:6 --edges device
finish
