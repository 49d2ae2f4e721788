# SPDX-License-Identifier: MIT
#
# Downloads packages of other Debian suites by apt with a private state, without installing them and without root.
# Source it after common.sh.
apt_limit=300
# architecture of the packages in private states; empty: this machine's
apt_architecture=

# Prints Debian's mirror from the machine's apt sources, without a trailing slash.
find_mirror() {
	apt-get indextargets --format '$(REPO_URI) $(ORIGIN) $(LABEL)' 'Identifier: Packages' 2>/dev/null |
		awk '$2 == "Debian" && $3 == "Debian" { sub(/\/$/, "", $1); print $1; exit }'
}

# The same. If the package index is missing and the user is root, it is downloaded first.
need_mirror() {
	local mirror

	mirror=$(find_mirror)
	if [ -z "$mirror" ] && [ "$(id -u)" -eq 0 ]; then
		timeout -k 5 $apt_limit apt-get -qq update </dev/null >&2
		mirror=$(find_mirror)
	fi
	[ -n "$mirror" ] && echo "$mirror"
}

# private_apt STATE PROGRAM ARGUMENTS...: runs an apt program with its state under STATE and the machine's proxy
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

# new_state STATE MIRROR SUITE...: creates an apt state with these suites and no installed packages
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
