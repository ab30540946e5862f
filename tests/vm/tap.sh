# shellcheck shell=sh
# Cases as lines, as tests/run counts them; `test` and `inside` source this.

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM HUP

# report NAME STATUS [WHY]
report() {
	if [ "$2" = 0 ]; then
		echo "ok $1"
	else
		echo "not ok $1${3:+ - $3}"
	fi
}

# named GROUP: puts the group before each case's name and leaves out cmocka's totals. cmocka says
# `not ok` of what it skips, too.
named() {
	sed -E -e '/^(1\.\.|# ok|# not ok)/d' -e 's/^not (ok .*# SKIP)/\1/' -e "s,^(ok|not ok)( [0-9]+)?( -)? ,\\1 $1/,"
}

# counted GROUP COMMAND...: runs a program that prints cases; if it fails without one, that is a case.
counted() {
	group=$1
	shift
	CMOCKA_MESSAGE_OUTPUT=TAP timeout -k 5 800 "$@" </dev/null >"$work/cases" 2>&1
	status=$?
	named "$group" <"$work/cases"
	if [ $status != 0 ] && ! grep -q '^not ok' "$work/cases"; then
		report "$group" 1 "ended with status $status"
	fi
}

# summary FILE: the closing line for a file of cases; fails if one of them did, or if there is none.
summary() {
	awk '/^ok .*# SKIP/ { skipped++; next }
		/^ok / { passed++ }
		/^not ok / { failed++ }
		END {
			printf "%d passed, %d failed", passed, failed
			print skipped ? ", " skipped " skipped" : ""
			exit failed > 0 || !passed
		}' "$1"
}
