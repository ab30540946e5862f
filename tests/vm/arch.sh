# shellcheck shell=sh
# What differs from one emulated architecture to the other; the scripts of this folder source it.
# Sets nothing until choose_arch is called.

cache=${XDG_CACHE_HOME:-$HOME/.cache}/sonde-vm

fail() {
	echo "$(basename "$0"): $*" >&2
	exit 1
}

other_arch() {
	case $(uname -m) in
	aarch64) echo amd64 ;;
	x86_64) echo arm64 ;;
	*) fail "this machine is a $(uname -m); Sonde runs on aarch64 and x86_64" ;;
	esac
}

# choose_arch ARCH: Debian's name of the architecture, amd64 or arm64.
# shellcheck disable=SC2034 # used by those who source this
choose_arch() {
	arch=$1
	case $arch in
	amd64)
		cpu=x86_64
		# Without 5-level page tables, which few real machines use.
		qemu_machine='-machine q35 -cpu max,la57=off'
		console=ttyS0
		;;
	arm64)
		cpu=aarch64
		# QARMA pointer authentication is very slow without hardware; impdef is a plain hash. Without SVE: libc would
		# copy with it, and qemu 7.2 misses some of the code that such a copy overwrites, and executes what was there.
		qemu_machine='-machine virt,gic-version=3 -cpu max,pauth-impdef=on,sve=off,sme=off'
		console=ttyAMA0
		;;
	*) fail "unknown architecture '$arch'; it is amd64 or arm64" ;;
	esac
	triplet=$cpu-linux-gnu
	qemu_system=qemu-system-$cpu
	qemu_user=qemu-$cpu-static
	vm=$cache/$arch
	root=$vm/root
}
