# SPDX-License-Identifier: MIT
# Every test of the tool fails when gtu prints nonsense and exits with 0.
. "${0%/*}/tap.bash"

# scripts that do not test the program gtu in GTU_BIN, and what they test
exempt() {
	case $1 in
	architecture | prose) echo "it reads the source" ;;
	build-qemu) echo "it runs build-qemu" ;;
	debian) echo "it runs the gtu of its packages" ;;
	debian-graph) echo "it runs debian-graph" ;;
	cpu-compare | gpu-compare) echo "it has a stub of its own" ;;
	harness | guest-harness | run-harness) echo "it tests the harness" ;;
	kernel-tree) echo "it runs packaging/kernel-tree" ;;
	library) echo "it compiles programs with the library" ;;
	recipes) echo "it builds a gtu of its own" ;;
	python) echo "it imports the library" ;;
	stub) echo "it is this script" ;;
	syzkaller) echo "it compiles the headers" ;;
	*) return 1 ;;
	esac
}

mkdir stub
find "$(realpath "$bin")" -maxdepth 1 -type f ! -name gtu -exec ln -st stub {} +
for library in "$bin"/libgtu.so*; do cp -P "$library" stub 2>/dev/null; done
cat >stub/gtu <<'END'
#!/bin/sh
echo "the quick brown fox"
echo "jumps over the lazy dog" >&2
END
chmod +x stub/gtu

judged=()
declare -A path_of
for file in "$root"/tests/{cli,ranks}/*.sh; do
	name=$(basename "$file" .sh)
	if why=$(exempt "$name"); then
		echo "# $name is left out: $why"
		continue
	fi
	judged+=("$name")
	path_of[$name]=$file
done
at_least 15 ${#judged[@]} "scripts to run against the stub"
for name in "${judged[@]}"; do
	while [ "$(jobs -rp | wc -l)" -ge 2 ]; do wait -n; done
	{ GTU_BIN=$work/stub GTU_STOP=1 timeout 300 bash "${path_of[$name]}" >"$name.tap" 2>&1; echo $? >"$name.status"; } &
done
wait
for name in "${judged[@]}"; do
	# a script that finds no input tests nothing
	given "$name.sh is skipped here" eval '! grep -q "^1\.\.0 # SKIP" "$name.tap"'
	same "$name.sh exits with 1 against a stub of gtu" "$name.status" <(echo 1)
	says "$name.sh reports a failed check against a stub of gtu" "^not ok [0-9]+ " "$name.tap"
	lacks "$name.sh reports no mistake of its own against a stub of gtu" "^not ok [0-9]+ the script " "$name.tap"
	always
done
finish
