# SPDX-License-Identifier: MIT
# Tests the Python module gtu: its own tests, its annotations and its installation.
. "${0%/*}/tap.bash"

python=
for candidate in "${PYTHON:-}" /usr/bin/python3 python3; do
	[ -n "$candidate" ] && "$candidate" -c 'import numpy' 2>/dev/null && python=$candidate && break
done
if [ -z "$python" ]; then
	skip_all "there is no Python with NumPy (apt-get install python3-numpy python3-scipy python3-networkx)"
fi
module=$root/libruntime/python
export PYTHONPATH=$module PYTHONDONTWRITEBYTECODE=1 GTU_ROOT=$root
unset GTU_LIBRARY GTU_TOOL
sanitized=()
if [[ $bin == */san ]]; then
	# the sanitizers must be loaded first; leak detection is off, because Python itself does not free all memory
	sanitized=(env GTU_LIBRARY="$bin/libgtu.so.1" ASAN_OPTIONS=detect_leaks=0:handle_sigill=1:handle_sigtrap=1 \
		LD_PRELOAD="$(gcc -print-file-name=libasan.so)")
fi

# the module's own tests, each reported as one test
"${sanitized[@]}" "$python" "$module/tests/run_tests.py" >results 2>errors
code=$?
while IFS= read -r line; do
	case $line in
	"ok "*) report ok "Python: ${line#ok }" ;;
	"not ok "*) report "not ok" "Python: ${line#not ok }" ;;
	"skip "*) line=${line#skip } && skip "Python: ${line%%: *}" "${line#*: }" ;;
	*) echo "$line" ;;
	esac
done <results
sed 's/^/# /' errors
holds "the module's own tests end with 0" test $code -eq 0
at_least 50 "$(grep -c '^ok ' results)" "tests of the module that pass"
# the annotations
given "mypy is missing (apt-get install mypy)" "$python" -c 'import mypy'
mypy=(env MYPYPATH="$module" "$python" -m mypy --cache-dir="$root/build/mypy")
check "mypy --strict finds nothing in the module" bash -c 'cd "$1" && shift && "$@"' - "$module" "${mypy[@]}"
printf 'import gtu\ngraph = gtu.generate("road", scale=4)\nn: str = gtu.run(graph, "bfs").stats.edges\n' >use.py
prints 1 "mypy finds a mistake in a program that uses the module" "expression has type .int., variable has type .str." "${mypy[@]}" use.py
always

# installation works without a compiler and without a network
cp -r "$module" source
given "pip or setuptools are missing (apt-get install python3-pip python3-setuptools)" "$python" -c 'import setuptools, pip'
check "pip installs the module" "$python" -m pip install --no-index --no-build-isolation --no-deps --target there ./source
holds "pip installs the module with py.typed" test -f there/gtu/__init__.py -a -f there/gtu/py.typed
check "the installed module runs an algorithm" "${sanitized[@]}" env -u PYTHONPATH GTU_LIBRARY="$bin/libgtu.so.1" PYTHONPATH="$work/there" "$python" -c '
import gtu
assert "there" in gtu.__file__
print(gtu.run(gtu.generate("road", scale=6), "cc").values.max())'
same "the installed module returns the right result" "$out" <(echo 0)
always
mkdir empty && printf 'raise ModuleNotFoundError("none", name="numpy")\n' >empty/numpy.py
exits 1 "importing the module fails without NumPy" env PYTHONPATH="$work/empty:$module" "$python" -c 'import gtu'
says "the error names the package that is missing" "ModuleNotFoundError: gtu needs NumPy: apt-get install python3-numpy"
fails_with 1 "importing the module fails without its library" "ImportError: gtu: none.so.1: .*check .GTU_LIBRARY" env GTU_LIBRARY=none.so.1 "$python" -c 'import gtu'
libc=$(ldd "$bin/gtu" | sed -n 's|.*=> \(/[^ ]*libm\.so[^ ]*\).*|\1|p')
exits 1 "importing the module fails with another library" env GTU_LIBRARY="$libc" "$python" -c 'import gtu'
says "the ImportError says that the library is older than the module" "ImportError: gtu: .* has no gtu_status_name: it is older than this module"
finish
