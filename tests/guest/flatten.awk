# SPDX-License-Identifier: MIT
#
# Converts the output of init in a guest into one flat TAP stream. The results of a test that prints (K)TAP itself are
# renumbered under the test's name; any other test is one result. Exit status 1 if something failed.
#
# A failure is also: a plan that is missing, empty without a reason, or differs from the number of results; a skip
# without a reason; exit status 4 (KSFT_SKIP) of a test that did not report every result as skipped; a kernel log that
# could not be read; a guest that ran no test, or ended before its last test.

function line(ok, text) {
	n++
	if (!ok)
		failed++
	print (ok ? "ok " : "not ok ") n " - " text
	fflush()
}

function fail(text) {
	bad++
	line(0, name ": " text)
}

/^@up / { print "# kernel and init: " $2 " s"; fflush(); next }

/^@boot / {
	if ($2 !~ /^[0-9]+$/)
		line(0, "boot: the kernel's log could not be read")
	else
		line($2 == 0, "boot" ($2 ? ": complaints in the kernel's log: " $2 : ""))
	next
}

/^@test / {
	if (name != "")
		fail("reported no exit status")
	name = $2
	tests++
	tap = results = skipped = bad = 0
	planned = -1
	reason = ""
	next
}

/^@exit / {
	rc = $2
	if (rc !~ /^[0-9]+$/)
		fail("reported no exit status")
	else if (rc == 124 || rc == 137 || rc == 143)
		fail("stopped after its time limit")
	else if (!tap)
		line(rc == 0, name (rc + 0 ? ": exit status " rc : ""))
	else if (planned < 0)
		fail("printed results but no plan (1..N)")
	else if (planned != results)
		fail("planned " planned " tests, reported " results)
	else if (!planned && reason == "")
		fail("planned no test and gave no reason (1..0 # SKIP reason)")
	else if (rc == 4 ? skipped < results : rc + 0 && !bad)
		fail("exit status " rc)
	else if (!planned)
		line(1, name " # SKIP " reason)
	if ($4 !~ /^[0-9]+$/)
		fail("the kernel's log could not be read")
	else if ($4 + 0)
		fail("complaints in the kernel's log: " $4)
	print "# " name ": " $3 " s"
	fflush()
	name = ""
	next
}

/^@end/ { ended = 1; next }

# results of a test; nested ones (indented, or after "# ") are only printed
name != "" && /^(not )?ok / {
	tap = 1
	results++
	good = $1 == "ok"
	if (!good)
		bad++
	text = $0
	sub(/^(not )?ok *[0-9]* *(- )?/, "", text)
	line(good, name ": " text)
	if (text ~ /# *SKIP/) {
		skipped++
		if (text ~ /# *SKIP *$/)
			fail("skipped a test without a reason")
	}
	next
}
name != "" && /^1\.\.[0-9]+/ {
	tap = 1
	planned = substr($1, 4) + 0
	if (sub(/.*# *SKIP */, ""))
		reason = $0
	next
}
name != "" && /^K?TAP version/ { tap = 1; next }
name != "" && /^Bail out!/ { tap = 1; fail($0); next }
/^K?TAP version/ { next }
{ print /^#/ ? $0 : "# " $0; fflush() }

END {
	if (!ended)
		line(0, "the guest ended" (name != "" ? " in " name : "") " before its tests did")
	else if (!tests)
		line(0, "the guest ran no test")
	print "1.." n
	exit failed != 0
}
