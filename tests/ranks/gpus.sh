# SPDX-License-Identifier: MIT
# Tests gtu over several GPUs: fake ones, whose kernels run on the CPU (tests/fake).
. "${0%/*}/../cli/tap.bash"

fake=$root/build/tests/fake
exits 0 "generate makes a graph" gtu --quiet generate kronecker --scale 7 --weights 50 k.gtu
holds "the graph exists" test -s k.gtu
given "there is no $fake/libcuda-cpu.so.1: make unit-tests builds it" test -e "$fake/libcuda-cpu.so.1"
export GTU_CUDA_LIBRARY=$fake/libcuda-cpu.so.1 GTU_NCCL_LIBRARY=$fake/libnccl.so.2 FAKE_CUDA_DEVICES=3 FAKE_CUDA_PEER_LOADS=1
export ASAN_OPTIONS=detect_leaks=0
given "gtu was built without nvcc" eval '! gtu run bfs k.gtu --device cuda:0 2>&1 | grep -q "without nvcc"'

for algorithm in bfs sssp pr cc bc kc cdlp gc gcn "stcon --target 1"; do
	verified "$algorithm over three cards gives the right values" gtu run $algorithm k.gtu --device cuda:all --verify
	says "$algorithm says how many ranks there are" "^ranks     3; all sent [0-9,]+ bytes" "$out"
	says "$algorithm says how they exchange data" "^exchange  by loads from the other cards" "$out"
done
verified "cards of a list are named by numbers" gtu run bfs k.gtu --device cuda:2,0 --verify --json run.json
json "--json has the way of the exchange" run.json 'd["ranks"]["ranks"] == 2' 'd["ranks"]["link"] == "loads from the other cards"'
verified "two ranks on one card copy" gtu run bfs k.gtu --device cuda:0,0 --verify
says "gtu run prints why ranks on one card copy" "copies between the cards, without NCCL: ranks 0 and 1 share one card" "$out"
for way in nccl:"NCCL 2.28.9" copies:"copies between the cards" loads:"loads" host:"host memory"; do
	# only loads may use another card's memory in a kernel
	[ "${way%%:*}" = loads ] || unset FAKE_CUDA_PEER_LOADS
	verified "--exchange ${way%%:*} gives the right values" gtu run bfs k.gtu --device cuda:all --exchange "${way%%:*}" --verify
	export FAKE_CUDA_PEER_LOADS=1
	says "gtu run --exchange ${way%%:*} exchanges by ${way#*:}" "^exchange  by ${way#*:}" "$out"
done
exits 1 "--exchange nccl needs NCCL" env GTU_NCCL_LIBRARY=/nonexistent gtu run bfs k.gtu --device cuda:0,1 --exchange nccl
says "gtu run prints why it cannot use NCCL" "the GPUs cannot exchange data by NCCL: there is no NCCL: /nonexistent"
exits 2 "--exchange has known ways for gtu run" gtu run bfs k.gtu --device cuda:0,1 --exchange pigeons
says "gtu run lists the ways of --exchange" "auto, nccl, copies, loads, host"
exits 2 "--exchange is for GPUs" gtu run bfs k.gtu --device model,model --exchange host
says "gtu run names the devices that --exchange is for" "--exchange is for --device cuda:N"
exits 1 "--exchange is for several GPUs" gtu run bfs k.gtu --device cuda:0 --exchange host
says "gtu run names the device that has no ranks" "cuda:0 is not a device of GPUs as ranks"
exits 1 "an algorithm that cannot run over cards is refused" gtu run lcc k.gtu --device cuda:0,1
says "gtu run names the algorithms that run over cards" "clustering does not run over several GPUs: only bfs, sssp, pagerank, components, betweenness, cores, label propagation, coloring, stcon and gcn do"
exits 0 "gtu info prints all cards" gtu info --device cuda:all
says "gtu info prints the third card" "^device        cuda:2 " "$out"
exits 2 "gtu info --json describes one device" gtu info --device cuda:0,1 --json -
exits 0 "gtu bench gpu compares one, two and three cards" gtu --quiet bench gpu --device cuda:all --graph k.gtu --sources 1 \
	--sssp-sources 1 --iterations 2 --verify --json bench.json
json "gtu bench gpu has four algorithms over each, with the formula's bytes" bench.json '[r["cards"] for r in d["cards"][::4]] == [1, 2, 3]' \
	'all(r["formula_bytes"] == 0 or r["bytes"] <= r["formula_bytes"] for r in d["cards"])' \
	'all(r["bytes"] > 0 for r in d["cards"] if r["cards"] > 1)' \
	'[r["bytes"] for r in d["cards"] if r["algorithm"] == "pr"] == [0, 2 * 8 * 128, 2 * 2 * 8 * 128]' \
	'all(0 < r["seconds"] < r["whole_seconds"] and r["exchange_seconds"] < r["seconds"] for r in d["cards"])' \
	'all((r["exchange_seconds"] > 0) == (r["cards"] > 1) for r in d["cards"] if r["algorithm"] != "cc")' \
	'all(r["exchange_seconds"] == 0 and r["bytes"] > 0 for r in d["cards"] if r["algorithm"] == "cc" and r["cards"] > 1)'
exits 0 "gtu bench gpu compares ways and growing graphs" gtu --quiet bench gpu --device cuda:0,1 --weak rule:6:6 --exchange host,nccl \
	--sources 1 --iterations 2 --only bfs,pr,bc,kc --json weak.json
says "results of two cards alone are validated" "pr   valid: 100.0% of the vertices" "$out"
json "gtu bench gpu has the graph of two cards by both ways" weak.json \
	'[(r["graph"], r["cards"], r["link"]) for r in d["cards"][4::4]] == [("rule:7:6", 2, "host memory"), ("rule:7:6", 2, "NCCL 2.28.9")]' \
	'all(r["scaling"] == "weak" and r["base_cards"] == 1 for r in d["cards"])' \
	'all(abs(r["efficiency"] * 2 - r["ratio"]) < 1e-9 for r in d["cards"][4:])' \
	'all(abs(r["ratio"] * b["edges_per_second"] / r["edges_per_second"] - 1) < 1e-6 for i in (4, 8) for b, r in zip(d["cards"][:4], d["cards"][i:i + 4]))' \
	'[r["algorithm"] for r in d["cards"][:4]] == ["bfs", "pr", "bc", "kc"]'
exits 2 "--exchange has known ways" gtu bench gpu --device cuda:0,1 --exchange pigeons
exits 2 "--weak is for several cards" gtu bench gpu --device cuda:0 --weak rule:6
exits 2 "a file does not grow" gtu --quiet bench gpu --device cuda:0,1 --weak k.gtu --only bfs

needs mpirun
given "this build lacks libgtu-mpi.so (apt-get install libopenmpi-dev, then make)" test -e "$bin/libgtu-mpi.so.1"
given "this mpirun is not Open MPI's, whose options the test uses" eval 'mpirun --version | grep -q "Open MPI"'
export "${many_ranks[@]}"
export OMPI_MCA_btl_base_warn_component_unused=0 OMPI_MCA_btl_vader_single_copy_mechanism=none
# the fake NCCL is for threads
for algorithm in bfs sssp pr cc; do
	verified "$algorithm over the cards of three processes" env GTU_NCCL_LIBRARY=/nonexistent \
		mpirun -n 3 gtu run $algorithm k.gtu --device cuda:local --verify
	says "$algorithm exchanges through host memory" "^exchange  by host memory, without NCCL: .*; the ranks are several processes" "$out"
done
always
finish
