# SPDX-License-Identifier: MIT
#
# Packages of other suites than this machine's, loaded by apt with a state of its own; nothing is installed and
# no root is needed. For the scripts of this folder: source it behind common.sh.
apt_limit=300
# of the packages of private states; empty: this machine's
apt_architecture=

# The mirror of the distribution itself in the machine's apt sources, without its last slash.
find_mirror() {
	apt-get indextargets --format '$(REPO_URI) $(ORIGIN) $(LABEL)' 'Identifier: Packages' 2>/dev/null |
		awk '$2 == "Debian" && $3 == "Debian" { sub(/\/$/, "", $1); print $1; exit }'
}

# The same; an index that was never loaded is loaded, by root.
need_mirror() {
	local mirror

	mirror=$(find_mirror)
	if [ -z "$mirror" ] && [ "$(id -u)" -eq 0 ]; then
		timeout -k 5 $apt_limit apt-get -qq update </dev/null >&2
		mirror=$(find_mirror)
	fi
	[ -n "$mirror" ] && echo "$mirror"
}

# private_apt STATE PROGRAM ARGUMENTS...: lists, status and archives under STATE; the machine's proxy, if it has one
private_apt() {
	local state=$1 program=$2 proxy
	shift 2
	proxy=$(apt-config shell p Acquire::http::Proxy | sed "s/^p='\(.*\)'$/\1/")
	timeout -k 5 $apt_limit "$program" -qq -o Dir::State="$state" -o Dir::State::lists="$state/lists" \
		-o Dir::State::status="$state/status" -o Dir::Cache="$state/cache" \
		-o Dir::Etc="$state/etc" -o Dir::Etc::sourcelist="$state/etc/sources.list" \
		-o Dir::Etc::sourceparts=/dev/null -o Dir::Etc::parts=/dev/null \
		-o APT::Sandbox::User="$(id -un)" -o APT::Get::List-Cleanup=false -o Acquire::Retries=3 \
		${apt_architecture:+-o APT::Architecture="$apt_architecture" -o APT::Architectures::="$apt_architecture"} \
		${proxy:+-o Acquire::http::Proxy="$proxy"} "$@" </dev/null
}

# new_state STATE MIRROR SUITE...: an empty state that knows these suites, in which nothing counts as installed
new_state() {
	local state=$1 mirror=$2 suite keys=/usr/share/keyrings/debian-archive-keyring.gpg
	shift 2

	[ -e "$keys" ] || keys=
	rm -rf "$state"
	mkdir -p "$state"/{lists/partial,cache/archives/partial,etc/preferences.d} || return 1
	: >"$state/status"
	for suite in $(printf '%s\n' "$@" | sort -u); do
		echo "deb ${keys:+[signed-by=$keys] }$mirror $suite main"
	done >"$state/etc/sources.list"
	private_apt "$state" apt-get update
}

# load_package NAME: its file of the machine's own suites into this folder; apt compares what came with the
# index, so a download that was cut is none
load_package() {
	timeout -k 5 $apt_limit apt-get -qq -o APT::Sandbox::User="$(id -un)" download "$1" </dev/null >&2
}
