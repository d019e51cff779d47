#!/bin/sh
# Installs poll from a release: takes the archive for this system, verifies it
# against the release's SHA256SUMS, and its provenance where gh is installed, and
# puts the program in place in one step.
set -eu

usage() {
	cat <<-END
		install.sh [--version VERSION] [--to DIR] [--without-provenance]

		VERSION is v1.2.3 or latest, the default. DIR is by default /usr/local/bin for
		root, else ~/.local/bin. POLL_BASE_URL is where releases are, by default
		$base: there are
		latest/download/SHA256SUMS, download/VERSION/SHA256SUMS and the archives beside it.
		Where gh (2.49 or later) is installed, it has to confirm that the release workflow
		of $repo has built the archive, and that needs a connection to Sigstore;
		--without-provenance leaves that out.

		Exit codes: 0 installed, 1 failed, 2 usage, 3 there is no release for this system
		or of this version. Only 0 has changed a program.
	END
}

repo=pollcli/poll
base=${POLL_BASE_URL:-https://github.com/$repo/releases}
export LC_ALL=C # reasons are read

fail() {
	printf 'install.sh: %s\n' "$2" >&2
	exit "$1"
}

# have COMMAND... prints the first that is installed.
have() {
	for command; do
		if command -v "$command" >/dev/null 2>&1; then
			echo "$command"
			return
		fi
	done
	fail 1 "this needs $(printf '%s' "$*" | sed 's/ / or /g'), and there is none"
}

# find_system prints what archives call this system. Programs are linked statically,
# so it does not matter which C library there is.
find_system() {
	kernel=$(uname -s) machine=$(uname -m)
	case $kernel in
	Linux) os=linux ;;
	Darwin) os=darwin ;;
	FreeBSD) os=freebsd ;;
	MINGW* | MSYS*) os=windows ;;
	*) fail 3 "there is no release for $kernel" ;;
	esac
	case $machine in
	x86_64 | amd64) arch=amd64 ;;
	aarch64 | arm64) arch=arm64 ;;
	armv7* | armv8l) arch=armv7 ;;
	i386 | i486 | i586 | i686) arch=386 ;;
	*) fail 3 "there is no release for $kernel on $machine" ;;
	esac
	echo "${os}_$arch"
}

# last_words prints the last line that a tool has said.
last_words() { sed '/^$/d' "$work/said" | tail -n 1; }

# fetch URL FILE downloads. With curl, a redirect does not leave https.
fetch() {
	case $downloader in
	curl) curl -fsSL --proto-redir "=${base%%:*}" -o "$2" "$1" ;;
	wget) wget -O "$2" "$1" ;;
	esac 2>"$work/said" && return
	reason=$(last_words)
	case $reason in
	*'error: 404'* | *'ERROR 404'* | *' 404 Not Found'*) fail 3 "there is no $1" ;;
	*) fail 1 "cannot download $1: $reason" ;;
	esac
}

checksum() {
	case $summer in
	sha256sum) sha256sum "$1" ;;
	shasum) shasum -a 256 "$1" ;;
	openssl) openssl dgst -sha256 -r "$1" ;;
	esac | cut -d ' ' -f 1
}

# find_archive sets archive and sum to what SHA256SUMS says for this system.
find_archive() {
	while read -r sum archive; do
		case $archive in
		*/*) ;;
		poll_v*"_$system.tar.gz" | poll_v*"_$system.zip") return ;;
		esac
	done <"$work/SHA256SUMS"
	fail 3 "the release has no archive for $system"
}

# verify_provenance has gh confirm, by the signature in the bundle of the release, who has
# built the archive. That needs no account. A release that has no bundle is refused.
verify_provenance() {
	[ -z "$without" ] || return 0
	if ! command -v gh >/dev/null 2>&1; then
		without='gh is not installed'
		return
	fi
	case $(gh attestation verify --help 2>&1) in
	*--signer-workflow*) ;;
	*)
		without='gh is too old'
		return
		;;
	esac
	(fetch "$base/download/$found/provenance.sigstore.json" "$work/provenance.sigstore.json") || exit 1
	gh attestation verify "$work/$archive" --bundle "$work/provenance.sigstore.json" \
		--repo "$repo" --signer-workflow "$repo/.github/workflows/release.yml" >"$work/said" 2>&1 ||
		fail 1 "gh does not confirm that $repo has built $archive: $(last_words)"
}

unpack() {
	case $archive in
	*.zip) unzip -q "$1" -d "$2" ;;
	*) tar -xzf "$1" -C "$2" ;;
	esac 2>"$work/said" || fail 1 "cannot unpack $archive: $(last_words)"
}

# install puts the program in place. All before the last step is in a directory that
# goes away: beside the old program, so that one rename replaces it.
install() {
	mkdir -p "$to" || fail 1 "there is no directory $to: choose another with --to"
	work=$to/.poll-install.$$
	mkdir -m 700 "$work" || fail 1 "cannot write to $to: choose another directory with --to"
	trap 'rm -rf "$work"' EXIT
	trap 'exit 129' HUP
	trap 'exit 130' INT
	trap 'exit 143' TERM

	case $version in
	latest) fetch "$base/latest/download/SHA256SUMS" "$work/SHA256SUMS" ;;
	*) fetch "$base/download/$version/SHA256SUMS" "$work/SHA256SUMS" ;;
	esac
	find_archive
	found=${archive#poll_}
	found=${found%"_$system".*}
	case $version in
	latest | "$found") ;;
	*) fail 1 "the release $version says that it is $found" ;;
	esac
	fetch "$base/download/$found/$archive" "$work/$archive"
	have_sum=$(checksum "$work/$archive")
	[ "$have_sum" = "$sum" ] || fail 1 "$archive is not what was released: its SHA-256 is $have_sum, not $sum"
	verify_provenance

	mkdir "$work/files"
	unpack "$work/$archive" "$work/files"
	case $system in
	windows_*) program=poll.exe ;;
	*) program=poll ;;
	esac
	chmod 755 "$work/files/$program"
	says=$("$work/files/$program" --version 2>&1) || fail 1 "the program does not run here: $says"
	case $says in
	"poll $found "*) ;;
	*) fail 1 "the program is not poll $found, but: $says" ;;
	esac
	[ ! -d "$to/$program" ] || fail 1 "$to/$program is a directory"
	mv -f "$work/files/$program" "$to/$program"
	echo "$archive has the SHA-256 of SHA256SUMS"
	if [ -z "$without" ]; then
		echo "gh confirms that the release workflow of $repo has built it"
	else
		echo "its provenance is not verified: $without"
	fi
	echo "$to/$program: $says"
	case :$PATH: in
	*":$to:"*) ;;
	*) echo "$to is not in PATH" ;;
	esac
}

main() {
	version=latest
	without='' # why provenance is not verified
	to=/usr/local/bin
	[ "$(id -u)" = 0 ] || to=${HOME:-.}/.local/bin
	while [ $# -gt 0 ]; do
		case $1 in
		--version=* | --to=*)
			word=$1
			shift
			set -- "${word%%=*}" "${word#*=}" "$@"
			continue
			;;
		--help) usage && exit ;;
		--without-provenance)
			without='--without-provenance'
			shift
			continue
			;;
		--version | --to) [ -n "${2-}" ] || fail 2 "$1 needs a value" ;;
		*) fail 2 "what is $1? There are --version VERSION, --to DIR, --without-provenance and --help" ;;
		esac
		case $1 in
		--version) version=$2 ;;
		--to) to=$2 ;;
		esac
		shift 2
	done
	case $version in
	latest | v[0-9]*) ;;
	[0-9]*) version=v$version ;;
	*) fail 2 "$version is neither latest nor a version such as v1.2.3" ;;
	esac
	system=$(find_system)
	downloader=$(have curl wget)
	summer=$(have sha256sum shasum openssl)
	case $system in
	windows_*) have unzip >/dev/null ;;
	*) have tar >/dev/null && have gzip >/dev/null ;;
	esac
	install
}

main "$@"
