# SPDX-License-Identifier: MIT
#
# For the scripts of this folder: source it. Everything they make lies under build/guest; messages go to
# stderr, since standard output is for test results.
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
here=$root/tests/guest
cache=$root/build/guest
mkdir -p "$cache" || exit 1

say() { echo "guest: $*" >&2; }
die() { say "$*"; exit 1; }

# timed WHAT COMMAND...: run it and say how long it took
timed() {
	local what=$1 start=$EPOCHREALTIME rc
	shift
	"$@"
	rc=$?
	say "$what: $(awk -v a="$start" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.1f s", b - a }')"
	return $rc
}
