# SPDX-License-Identifier: MIT
#
# Plans of guest-test about a kernel's life with the device: sleep, slots, errors of the bus, fuzzing. Sourced by plans.sh.

# life_guest: one boot. Sleep by /sys/power/pm_test on a device as it is and on one whose queues begin at 0 alone; a device
# that comes into its slot; errors that its port reports; then S3, in which a third loses what only power keeps.
life_guest() {
	local arguments=(--ports --absent gtu2 --monitor --word guest.end=reboot)

	mkdir -p "$work" && "$gtu" --quiet generate kronecker --scale 12 "$graph" >&2 || die "cannot make a graph"
	arguments+=(--also "--without seek" --also "" --serve --fault --serve power-loss=1)
	arguments+=(--file "$here/slots:/usr/bin/slots" --file "$kselftests/sleep_test")
	arguments+=(--test "sleep=GTU_SLEEP=devices sleep_test" --test "sleep-under-bfs=slots sleep /graph.gtu")
	arguments+=(--test "sleep-without-seek=GTU_DEVICE=/dev/gtu1 GTU_SLEEP=devices sleep_test told_where_it_cannot_be_kept")
	arguments+=(--test "held=slots held" --test "errors=slots errors UNSUP MALF_TLP" --test "plug=slots plug")
	arguments+=(--test "S3=GTU_SLEEP=mem sleep_test")
	boot life distribution --limit 400 --test-limit 180 "${arguments[@]}"
}
