# SPDX-License-Identifier: MIT
#
# For tests of the tool: source it, call the functions, end with finish. Each prints one TAP line; what
# a failed command printed goes before it. Commands run in a folder of their own ($work), with gtu in PATH.
root=${GTU_ROOT:-$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)}
bin=${GTU_BIN:-$root/build}
export PATH=$bin:$PATH
if [ ! -x "$bin/gtu" ]; then
	echo "not ok 1 there is no $bin/gtu: make"
	exit 1
fi
work=$(mktemp -d "${TMPDIR:-/tmp}/gtu-cli-XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
count=0 failed=0
out=$work/.out err=$work/.err

report() {
	local verdict=$1
	shift
	count=$((count + 1))
	[ "$verdict" = "not ok" ] && failed=$((failed + 1))
	echo "$verdict $count $*"
}

# Runs the rest; its standard output and error are in $out and $err, its exit status is the answer.
quietly() {
	"$@" >"$out" 2>"$err" </dev/null
}

show() {
	sed 's/^/# stdout: /' "$out" | head -12
	sed 's/^/# stderr: /' "$err" | head -12
}

# exits CODE NAME COMMAND...: the command's exit status is CODE
exits() {
	local want=$1 name=$2 got
	shift 2
	quietly "$@"
	got=$?
	if [ $got -eq "$want" ]; then
		report "ok" "$name"
	else
		echo "# '$*' exited with $got, not $want"
		show
		report "not ok" "$name"
	fi
}

# says NAME REGEX [FILE]: a line of FILE (default: standard error of the last command) matches
says() {
	local file=${3:-$err}

	if grep -Eq -- "$2" "$file"; then
		report "ok" "$1"
	else
		echo "# no line matches: $2"
		sed 's/^/# /' "$file" | head -12
		report "not ok" "$1"
	fi
}

# check NAME COMMAND...: the command succeeds
check() {
	local name=$1
	shift
	exits 0 "$name" "$@"
}

# same NAME A B: two files are equal
same() {
	if cmp -s "$2" "$3"; then
		report "ok" "$1"
	else
		diff "$2" "$3" 2>&1 | head -20 | sed 's/^/# /'
		report "not ok" "$1"
	fi
}

skip() {
	count=$((count + 1))
	echo "ok $count $1 # SKIP $2"
}

finish() {
	echo "1..$count"
	exit $((failed != 0))
}
