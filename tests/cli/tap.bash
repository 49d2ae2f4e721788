# SPDX-License-Identifier: MIT
#
# Functions for tests of the tool. A script sources this file, calls them, and ends with finish. Each
# prints one TAP line; a failed check prints the command and its output first. A test name is a sentence
# that says what is expected. Scripts run in a folder of their own ($work), with gtu in PATH. One with
# the line "# Needs no build." reads only the source: make test TESTS=cli/NAME compiles nothing for it.
#
# Environment: GTU_BIN is the folder of gtu (build), GTU_HIDE names tools to hide from the script, as
# on a machine that lacks them, GTU_STOP=1 ends the script at its first failure.
set -u
root=${GTU_ROOT:-$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)}
bin=${GTU_BIN:-$root/build}
script=$(realpath "$0")
# the functions of this file, read before cd: BASH_SOURCE may be a relative path
own=$(sed -n 's/^\([a-z_]*\)() {$/\1/p' "${BASH_SOURCE[0]}")
export PATH=$bin:$PATH
if [ ! -x "$bin/gtu" ] && ! grep -qx "# Needs no build." "$script"; then
	echo "not ok 1 there is no $bin/gtu: make"
	exit 1
fi
work=$(mktemp -d "${TMPDIR:-/tmp}/gtu-cli-XXXXXX") || exit 1
if [ -n "${GTU_HIDE:-}" ]; then
	mkdir "$work/.path"
	# the first of a name wins, as in PATH
	IFS=: read -ra folders <<<"$PATH"
	find -L "${folders[@]}" -maxdepth 1 -type f -perm /111 -exec ln -st "$work/.path" {} + 2>/dev/null
	for tool in $GTU_HIDE; do rm -f "$work/.path/$tool"; done
	PATH=$work/.path
	unset GTU_HIDE
fi
# no check reads what the caller of the script has on standard input
exec </dev/null
cd "$work" || exit 1
# the environment of mpirun: as root, and more processes than processors (Open MPI 4, and 5)
# shellcheck disable=SC2034 # for scripts
many_ranks=(OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
	PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe)
count=0 failed=0 finished= missing= cleanup=()
out=$work/.out err=$work/.err turn=0 running=
declare -A reached=() makes_checks=([exits]= [check]= [holds]= [python]= [verified]= [says]= [lacks]= [empty]= [same]= [at_least]=
	[fails_with]= [prints]= [json]= [drawings]=)

# The script ends: clean up, and fail if it has not come to finish.
ended() {
	local status=$? command

	builtin trap - EXIT
	for command in "${cleanup[@]}"; do $command; done
	if [ -e "$work/.broken" ] || [ -z "$finished" ]; then
		[ -e "$work/.broken" ] || echo "not ok $((count + 1)) the script ends with finish (it ended before, with exit status $status)"
		status=1
	fi
	rm -rf "$work"
	exit "$status"
}
builtin trap ended EXIT
trap() {
	[[ " $* " != *" EXIT "* ]] || broken "a script cleans up with at_exit, the trap on EXIT is the harness's"
	builtin trap "$@"
}
# at_exit COMMAND: called when the script ends, however it ends
at_exit() {
	cleanup=("$*" "${cleanup[@]}")
}

# broken TEXT: the script itself is wrong; nothing after this counts
broken() {
	echo "not ok $((count + 1)) the script is right (line ${BASH_LINENO[*]: -2:1}: $*)"
	: >"$work/.broken"
	exit 1
}

# report VERDICT NAME [REASON]: with a reason, the check was skipped
report() {
	local verdict=$1 i
	[ "$BASH_SUBSHELL" -eq 0 ] || broken "a check in a subshell or in a pipe is not counted"
	[ -z "$finished" ] || broken "a check after finish is not counted"
	for ((i = 1; i < ${#BASH_SOURCE[@]}; i++)); do
		[ "${BASH_SOURCE[i]}" = "$0" ] || continue
		reached[${BASH_LINENO[i - 1]}]=1
		makes_checks[${FUNCNAME[i - 1]}]=1
	done
	count=$((count + 1))
	[ "$verdict" = "not ok" ] && failed=$((failed + 1))
	echo "$verdict $count ${2//# SKIP/SKIP}${3:+ # SKIP $3}"
	if [ "$verdict" = "not ok" ] && [ -n "${GTU_STOP:-}" ]; then
		finished=1
		echo "1..$count"
		exit 1
	fi
}

# skip NAME REASON
skip() {
	report ok "$1" "$2"
}

# skip_all REASON: nothing in this script can run here
skip_all() {
	echo "1..0 # SKIP $1"
	finished=1
	exit 0
}

# package TOOL: Debian's name of the package that has it
package() {
	case $1 in
	dtc | fdtoverlay) echo device-tree-compiler ;;
	dt-validate | dt-doc-validate | dt-extract-example | dt-mk-schema) echo dt-schema ;;
	man) echo man-db ;;
	script) echo bsdutils ;;
	flock | setpriv | unshare) echo util-linux ;;
	xz) echo xz-utils ;;
	*) echo "$1" ;;
	esac
}

# needs TOOL...: checks from here to "always" are skipped, each by its name, where a tool is missing
needs() {
	local tool

	for tool; do
		[ -n "$missing" ] || command -v "$tool" >/dev/null ||
			missing="$tool is missing (apt-get install $(package "$tool"))"
	done
}

# given REASON COMMAND...: the same where COMMAND fails
given() {
	[ -n "$missing" ] || "${@:2}" >/dev/null 2>&1 || missing=$1
}

always() {
	missing=
}

# nobody COMMAND...: runs the command as the user of that name, which only root can do
nobody() {
	setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all "$@"
}
export -f nobody
needs_root() {
	given "only root with setpriv can run a command as another user" eval '[ "$(id -u)" = 0 ] && nobody true'
}

# needs_kernels: gtu has the kernels of a GPU
needs_kernels() {
	given "gtu was built without nvcc" eval '! gtu info --device cuda:0 2>&1 | grep -q "without nvcc"'
}

# with_sys FOLDER COMMAND...: runs the command as the same user with FOLDER in place of /sys
with_sys() {
	local mount='mount --bind "$1" /sys && shift && "$@"'

	if [ "$(id -u)" = 0 ]; then
		unshare --mount bash -c "$mount" bash "$@"
	else
		unshare --map-root-user --mount bash -c "$mount" bash "$1" unshare --user --map-user="$(id -u)" --map-group="$(id -g)" "${@:2}"
	fi
}
needs_sys() {
	given "a folder in place of /sys needs root or unprivileged user namespaces" with_sys "$work" true
}
# pci_files FOLDER VENDOR DEVICE CLASS: makes the files of a function with all BARs, as the kernel has them in sysfs
pci_files() {
	local v=${2#0x} d=${3#0x} c=${4#0x} bar

	mkdir -p "$1"
	printf '%s\n' "$2" >"$1/vendor"
	printf '%s\n' "$3" >"$1/device"
	printf '%s\n' "$4" >"$1/class"
	for bar in revision subsystem_vendor subsystem_device; do echo 0x00 >"$1/$bar"; done
	for bar in 1 2 3 0 4 0; do
		[ $bar = 0 ] && echo "0x0000000000000000 0x0000000000000000 0x0000000000000000" ||
			echo "0x00000000fe${bar}00000 0x00000000fe${bar}0ffff 0x0000000000040200"
	done >"$1/resource"
	{
		printf "\\x${v:2}\\x${v:0:2}\\x${d:2}\\x${d:0:2}\\x06\\x04\\x00\\x00\\x00\\x${c:4}\\x${c:2:2}\\x${c:0:2}"
		head -c 244 /dev/zero
	} >"$1/config"
}
needs_pciaccess() {
	given "this build of gtu lacks libpciaccess (apt-get install libpciaccess-dev)" eval 'ldd "$bin/gtu" | grep -q libpciaccess'
}

# make install writes build/gtu.pc for its PREFIX before it installs it: no two tests at once
needs_install() {
	needs make gcc flock
	given "the folder $root/build is not writable" test -w "$root/build"
}
in_turn() {
	flock "$root/build/.in-turn" "$@"
}

skipped() {
	[ -n "$missing" ] && skip "$1" "$missing"
}

# Runs the rest with its output in FILE.out and FILE.err, or, without FILE, in $out and $err; its exit status is the answer.
# These are two pairs of files in turn, so the command may read what an earlier one has written into them.
run_into() {
	local file=$1 status
	shift
	# a check reads nothing: it would take the lines of a loop around it
	if [ -p /dev/stdin ] || { [ -f /dev/stdin ] && [ "$(stat -Lc %h /dev/stdin)" = 0 ]; }; then
		broken "a here-document or a pipe, which '$1' does not read: use python, or a file"
	fi
	running=${file:-$work/.run-$((turn = 1 - turn))}
	"$@" >"$running.out" 2>"$running.err" </dev/null
	status=$?
	[ -n "$file" ] || { out=$running.out; err=$running.err; }
	return $status
}

# Runs the rest; its standard output and error are in $out and $err, its exit status is the answer.
quietly() {
	run_into "" "$@"
}

judge() {
	local file=$1 want=$2 name=$3 got
	shift 3
	run_into "$file" "$@"
	got=$?
	if [ $got -eq "$want" ]; then
		report "ok" "$name"
	else
		echo "# '$*' exited with $got, not $want"
		sed 's/^/# stdout: /' "$running.out" | head -12
		sed 's/^/# stderr: /' "$running.err" | head -12
		report "not ok" "$name"
	fi
}

# exits CODE NAME COMMAND...: the command's exit status is CODE; $out and $err have what it printed
exits() {
	skipped "$2" || judge "" "$@"
}

# check NAME COMMAND...: the command succeeds; $out and $err have what it printed
check() {
	skipped "$1" || judge "" 0 "$@"
}

# verified NAME COMMAND...: gtu run --verify succeeds and says that it has compared its result
verified() {
	skipped "$1" || judge "" 0 "$1" verifying "${@:2}"
}
verifying() {
	local line

	"$@" || return
	while IFS= read -r line; do
		[[ $line != "verified  equal to the reference code's result"* ]] || return 0
	done <"$running.out"
	return 1
}

# holds NAME COMMAND...: the command succeeds; $out and $err stay those of the command before
holds() {
	skipped "$1" || judge "$work/.holds" 0 "$@"
}

# python NAME [ARGUMENT...] <<END: the program on standard input succeeds; $out and $err stay
# python NAME FILE.py [ARGUMENT...]: the same, with the program in a file
python() {
	local name=$1 program=$work/.program.py
	shift
	if [[ ${1-} == *.py ]]; then
		program=$1
		shift
	else
		cat >"$program"
		[ -s "$program" ] || broken "python needs a program: a here-document, or a file that ends in .py"
	fi
	local before=$missing
	needs python3
	holds "$name" python3 "$program" "$@" </dev/null
	missing=$before
}

# json NAME FILE EXPRESSION...: each Python expression over the document d in FILE is true; $out and $err stay
json() {
	{
		echo "import json; d = json.load(open('$2'))"
		printf 'assert %s, d\n' "${@:3}"
	} >"$work/.json.py"
	[ $# -ge 3 ] || broken "json needs an expression"
	python "$1" "$work/.json.py"
}

# drawings NAME FILE...: each file is XML, or has SVG drawings that are, at least one
drawings() {
	cat >"$work/.drawings.py" <<-'END'
		import re, sys, xml.dom.minidom
		for name in sys.argv[1:]:
		    text = open(name, encoding="utf-8").read()
		    drawings = [text] if name.endswith(".svg") else re.findall(r"<svg.*?</svg>", text, re.S)
		    assert drawings, name
		    for svg in drawings:
		        xml.dom.minidom.parseString(svg.encode())
	END
	python "$1" "$work/.drawings.py" "${@:2}"
}

# readable FILE: there is something to judge
readable() {
	[ -e "$1" ] && return
	case $1 in
	"$out" | "$err") echo "# no command has run" ;;
	*) echo "# there is no file $1" ;;
	esac
	return 1
}

# says NAME REGEX [FILE]: a line of FILE (default: standard error of the last command) matches
says() {
	local file=${3:-$err}

	skipped "$1" && return
	[[ ! "" =~ $2 ]] || broken "every line matches '$2'"
	if readable "$file" && grep -Eq -- "$2" "$file"; then
		report "ok" "$1"
	else
		echo "# no line matches: $2"
		[ ! -r "$file" ] || sed 's/^/# /' "$file" | head -12
		report "not ok" "$1"
	fi
}

# lacks NAME REGEX [FILE]: FILE (default: standard error of the last command) has lines, and none matches
lacks() {
	local file=${3:-$err} status

	skipped "$1" && return
	[ ! -e "$file" ] || [ -s "$file" ] || echo "# $file is empty"
	if readable "$file" && [ -s "$file" ] && { grep -E -- "$2" "$file" >"$work/.found"; [ $? -eq 1 ]; }; then
		report "ok" "$1"
	else
		[ ! -s "$work/.found" ] || sed 's/^/# matches: /' "$work/.found" | head -12
		report "not ok" "$1"
	fi
}

# fails_with CODE NAME REGEX COMMAND...: the exit status is CODE, and a line of standard error matches
fails_with() {
	exits "$1" "$2" "${@:4}"
	says "$2, and says '$3'" "$3"
}

# prints [CODE] NAME REGEX COMMAND...: the exit status is CODE [0], and a line of standard output matches
prints() {
	local code=0

	[[ $1 != [0-9]* ]] || { code=$1; shift; }
	exits $code "$1" "${@:3}"
	says "$1, and prints '$2'" "$2" "$out"
}

# empty NAME [FILE]: FILE (default: standard error of the last command) exists and has no byte
empty() {
	local file=${2:-$err}

	skipped "$1" && return
	if readable "$file" && [ ! -s "$file" ]; then
		report "ok" "$1"
	else
		[ ! -r "$file" ] || sed 's/^/# /' "$file" | head -12
		report "not ok" "$1"
	fi
}

# same NAME A B: two files are equal, and not both empty
same() {
	local a=$2 b=$3

	skipped "$1" && return
	[ ! -p "$a" ] || { cat "$a" >"$work/.a"; a=$work/.a; }
	[ ! -p "$b" ] || { cat "$b" >"$work/.b"; b=$work/.b; }
	if cmp -s "$a" "$b" && [ -s "$a" ]; then
		report "ok" "$1"
	else
		diff "$a" "$b" 2>&1 | head -20 | sed 's/^/# /'
		[ -s "$a" ] || echo "# $2 is empty"
		report "not ok" "$1"
	fi
}

# at_least N COUNT WHAT: a loop over WHAT, of which there are COUNT, is worth something
at_least() {
	skipped "there are at least $1 $3" && return
	echo "# $2 $3"
	[ "$2" -ge "$1" ] && report ok "there are at least $1 $3" || report "not ok" "there are at least $1 $3"
}

# wait_until PID COMMAND...: polls until COMMAND succeeds; gives up when the process has ended, and after a minute
wait_until() {
	local pid=$1 i
	shift
	for ((i = 0; i < 3000; i++)); do
		! "$@" >/dev/null 2>&1 && kill -0 "$pid" 2>/dev/null || break
		sleep 0.02
	done
}
# has_open PID NAME: the process has a file of that name open
has_open() {
	readlink /proc/"$1"/fd/* | grep -q "/$2$"
}

# lines of the script that make a check and were not reached, but for those marked '# not everywhere'
unreached() {
	printf '%s\n' "${!reached[@]}" >"$work/.reached"
	awk -v functions="$(IFS='|'; echo "${!makes_checks[*]}")" '
	NR == FNR { reached[$1]; next }
	# here-documents are not the script
	inside { if ($0 ~ "^\t*" inside "$") inside = ""; next }
	match($0, /<<-?\047?[A-Z]+\047?/) { inside = substr($0, RSTART, RLENGTH); gsub(/[^A-Z]/, "", inside) }
	/# not everywhere/ || /report "?(not )?ok/ { next }
	$0 ~ "(^|[;&|){]|do |then |else |if |elif |! )[ \t]*(" functions ")[ \t]+[^ \t=(]" && !/^[ \t]*#/ && !(FNR in reached) { print FNR ": " $0 }' \
		"$work/.reached" "$script" >"$work/.unreached"
	[ -s "$work/.unreached" ]
}

finish() {
	if [ $count -eq 0 ]; then
		report "not ok" "the script makes a check"
	elif unreached; then
		sed 's/^/# line /' "$work/.unreached"
		report "not ok" "every check of the script is reached"
	fi
	finished=1
	echo "1..$count"
	exit $((failed != 0))
}

# a script's own function of the same name would take what its checks report
[ -n "$own" ] || broken "the functions of the harness are not found"
# shellcheck disable=SC2086 # names
readonly -f $own
own=$(grep -oE "^[ \t]*(${own//$'\n'/|}) ?\(\)" "$script") && broken "it defines $own, which is the harness's"
unset own
