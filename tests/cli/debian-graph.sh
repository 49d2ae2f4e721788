# SPDX-License-Identifier: MIT
# Tests tools/debian-graph with a package index that has one example of every element of the format.
# Needs no build.
. "${0%/*}/tap.bash"

cat >index <<'END'
Package: app
Version: 1
Depends: libone (>= 1), libtwo:any | libthree [amd64] <!nocheck>,
 libone
Pre-Depends: base
Recommends: mail-agent, app
Description: text that looks like a field
 Depends: not-a-dependency

Package: libone
Status: install ok installed
Depends: base

Package: gone
Status: deinstall ok config-files
Depends: base

Package: base
Provides: virtual-nobody-needs

Package: mailer
Provides: mail-agent (= 2), other
Depends: base
Package-Type: deb

Package: app
Version: 0.9
Depends: never-read
END
check "debian-graph reads an index" bash -c "'$root/tools/support/debian-graph' edges names <index"
# edges as "from to", by name
awk 'NR == FNR { name[$1] = $2; next } { print name[$1], name[$2] }' names edges | sort >got
sort >want <<'END'
base app
base libone
base mailer
libone app
libtwo app
libthree app
mail-agent app
mailer mail-agent
END
same "edges are needs, alternatives and providers, without doubles, removed packages and older versions" got want
awk '{ print $1 }' names >ids
seq 0 $(($(wc -l <names) - 1)) >expected
same "names number the vertices from 0 without a gap" ids expected
exits 3 "debian-graph refuses an index without dependencies" bash -c "echo 'Package: x' | '$root/tools/support/debian-graph' e n"
says "debian-graph reports that no package needs another" "names no package that needs another"
exits 2 "debian-graph without arguments is a usage error" "$root/tools/support/debian-graph"
given "this machine has no /var/lib/dpkg/status" test -s /var/lib/dpkg/status
check "debian-graph reads this machine's own database" bash -c "'$root/tools/support/debian-graph' e n </var/lib/dpkg/status"
holds "the edges of this machine's database are between names that exist" \
	awk 'NR == FNR { n[$1]; next } !($1 in n) || !($2 in n) { bad = 1 } { edges++ } END { exit bad || !edges }' n e
always
finish
