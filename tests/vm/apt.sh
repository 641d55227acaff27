# Sourced by fetch-kernel, fetch-sysroot and tests/distros/root.sh: Debian's packages of any suite and
# architecture, unpacked and not installed. What is fetched lies in
# ${XDG_CACHE_HOME:-~/.cache}/perf-bpf/vm, one folder a thing; it is used from
# then on without a look at the network, and may be removed to get a newer one.
cache=${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/perf-bpf/vm

# The reason why there is nothing to be had, for a test to skip with.
cannot() {
	echo "$*"
	exit 77
}

# why: what apt said last of what went wrong.
why() {
	local said
	said=$(sed -n 's/^\([EW]: \|Err:[0-9]* \)//p' "$work/log" | grep -v '^Some index files' | tail -n 1)
	echo "${said:-see what apt-get prints}"
}

# One process fetches at a time; $work is its folder, gone behind it.
apt_begin() {
	command -v apt-get >/dev/null || cannot "no apt-get to fetch packages with"
	mkdir -p "$cache"
	exec 9>"$cache/lock"
	flock 9
}

# The mirror that apt is set up for.
apt_mirror() {
	echo "${DEBIAN_MIRROR:-$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' |
		sort -u | grep -E '/debian/?$' | head -n 1)}"
}

# apt_update SUITE ARCH: apt-get with lists of its own, of the mirror that apt is
# set up for.
apt_update() {
	local suite=$1 keyring=/usr/share/keyrings/debian-archive-keyring.gpg
	apt_arch=$2
	mirror=$(apt_mirror)
	[ -n "$mirror" ] || cannot "apt is set up for no Debian mirror (set DEBIAN_MIRROR)"
	[ -e "$keyring" ] || cannot "no $keyring (package debian-archive-keyring)"
	work=$(mktemp -d "$cache/fetch.XXXXXX")
	trap 'rm -rf "$work"' EXIT
	mkdir -p "$work/lists/partial" "$work/archives/partial" "$work/root"
	chmod 755 "$work" # apt's own user reads it
	echo "deb [arch=$apt_arch signed-by=$keyring] $mirror $suite main" >"$work/sources.list"
	: >"$work/status"
	own update >"$work/log" 2>&1 && grep -q . "$work"/lists/*Packages* 2>/dev/null ||
		cannot "cannot read the package lists of $mirror ($suite, $apt_arch): $(why)"
}
own() {
	apt-get -q -o APT::Architecture="$apt_arch" -o APT::Architectures::="$apt_arch" \
		-o Dir::Etc::sourcelist="$work/sources.list" -o Dir::Etc::sourceparts=/dev/null \
		-o Dir::Etc::preferencesparts=/dev/null -o Dir::State::Lists="$work/lists" \
		-o Dir::State::status="$work/status" -o Dir::Cache="$work" \
		-o Dir::Cache::archives="$work/archives" -o APT::Sandbox::User=root \
		-o Acquire::Languages=none -o Acquire::Retries=2 -o Acquire::Check-Valid-Until=false \
		"$@"
}

# apt_needs PACKAGE...: what would be installed with these on an empty machine.
apt_needs() {
	own -s install --no-install-recommends -o pkgCacheGen::ForceEssential=, "$@" 2>>"$work/log" |
		sed -n 's/^Inst \([^ ]*\) .*/\1/p'
}

# apt_unpack PACKAGE...: into $work/root.
apt_unpack() {
	(cd "$work/archives" && own download "$@" >>"$work/log" 2>&1) || cannot "cannot download $* from $mirror: $(why)"
	for deb in "$work"/archives/*.deb; do
		dpkg-deb -x "$deb" "$work/root"
	done
	rm "$work"/archives/*.deb
}
