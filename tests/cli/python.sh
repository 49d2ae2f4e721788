# SPDX-License-Identifier: MIT
# The module gtu for Python: its own tests, its annotations, and that it can be installed.
. "${0%/*}/tap.bash"

python=
for candidate in "${PYTHON:-}" /usr/bin/python3 python3; do
	[ -n "$candidate" ] && "$candidate" -c 'import numpy' 2>/dev/null && python=$candidate && break
done
if [ -z "$python" ]; then
	echo "1..0 # SKIP no Python with NumPy (apt-get install python3-numpy python3-scipy python3-networkx)"
	exit
fi
module=$root/libruntime/python
export PYTHONPATH=$module PYTHONDONTWRITEBYTECODE=1 GTU_ROOT=$root
unset GTU_LIBRARY GTU_TOOL
sanitized=()
if [[ $bin == */san ]]; then
	# the sanitizers come before everything else of a process; what Python itself never frees is not looked at
	sanitized=(env GTU_LIBRARY="$bin/libgtu.so.1" ASAN_OPTIONS=detect_leaks=0 \
		LD_PRELOAD="$(gcc -print-file-name=libasan.so) $(gcc -print-file-name=libubsan.so)")
fi

# its own tests, each as one of these
"${sanitized[@]}" "$python" "$module/tests/run_tests.py" >results 2>errors
code=$?
while IFS= read -r line; do
	case $line in
	"ok "*) report ok "${line#ok }" ;;
	"not ok "*) report "not ok" "${line#not ok }" ;;
	"skip "*) line=${line#skip } && skip "${line%%: *}" "${line#*: }" ;;
	*) echo "$line" ;;
	esac
done <results
sed 's/^/# /' errors
check "they ran to their end" test $code -eq 0 -a "$(grep -c '^ok ' results)" -ge 50
[ ${#sanitized[@]} -eq 0 ] || finish

# the annotations
mypy=
"$python" -c 'import mypy' 2>/dev/null && mypy="$python -m mypy"
if [ -n "$mypy" ]; then
	(cd "$module" && MYPYPATH=$module $mypy --cache-dir="$work/mypy") >"$out" 2>"$err"
	code=$?
	[ $code -eq 0 ] || show
	check "mypy --strict has nothing to say" test $code -eq 0
	printf 'import gtu\ngraph = gtu.generate("road", scale=4)\nn: str = gtu.run(graph, "bfs").stats.edges\n' >use.py
	exits 1 "and a user's mistake is seen" env MYPYPATH="$module" $mypy --cache-dir="$work/mypy" use.py
	says "as what it is" "expression has type .int., variable has type .str." "$out"
else
	skip "mypy --strict has nothing to say" "no mypy (apt-get install mypy)"
fi

# installed: without a compiler and without a network
cp -r "$module" source
if "$python" -c 'import pip, setuptools' 2>/dev/null; then
	check "pip install" "$python" -m pip install --no-index --no-build-isolation --no-deps --target there ./source
	check "brings the module and its mark" test -f there/gtu/__init__.py -a -f there/gtu/py.typed
	check "which works" env -u PYTHONPATH GTU_LIBRARY="$bin/libgtu.so.1" PYTHONPATH="$work/there" "$python" -c '
import gtu
assert "there" in gtu.__file__
print(gtu.run(gtu.generate("road", scale=6), "cc").values.max())'
	same "and is right" "$out" <(echo 0)
else
	skip "pip install" "no pip or no setuptools (apt-get install python3-pip)"
fi
exits 1 "a library that is not there" env GTU_LIBRARY=none.so.1 "$python" -c 'import gtu'
says "is said to be so" "ImportError: gtu: none.so.1: .*check .GTU_LIBRARY"
libc=$(ldd "$bin/gtu" | sed -n 's|.*=> \(/[^ ]*libm\.so[^ ]*\).*|\1|p')
exits 1 "a library that is another" env GTU_LIBRARY="$libc" "$python" -c 'import gtu'
says "is said to be older" "ImportError: gtu: .* has no gtu_status_name: it is older than this module"
finish
