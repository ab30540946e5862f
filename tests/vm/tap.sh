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
	sed -u -E -e '/^(1\.\.|# ok|# not ok)/d' -e 's/^not (ok .*# SKIP)/\1/' -e "s,^(ok|not ok)( [0-9]+)?( -)? ,\\1 $1/,"
}

# counted GROUP COMMAND...: runs a program that prints cases; if it fails without one, that is a case.
counted() {
	group=$1
	shift
	{
		CMOCKA_MESSAGE_OUTPUT=TAP timeout -k 5 800 "$@" </dev/null 2>&1
		echo $? >"$work/status"
	} | tee "$work/cases" | named "$group"
	if [ "$(cat "$work/status")" != 0 ] && ! grep -q '^not ok' "$work/cases"; then
		report "$group" 1 "ended with status $(cat "$work/status")"
	fi
}

# clocked: says of each case how many seconds went by since the last one, if any.
clocked() {
	last=$(date +%s)
	while IFS= read -r line; do
		case $line in
		*'# SKIP'*) ;;
		'ok '* | 'not ok '*)
			now=$(date +%s)
			[ "$now" = "$last" ] || line="$line ($((now - last)) s)"
			last=$now
			;;
		esac
		printf '%s\n' "$line"
	done
}

# slowest FILE: the cases of a file that took longest.
slowest() {
	echo "# the slowest:"
	sed -n -E 's/^(not )?ok (.*) \(([0-9]+) s\)$/#  \3 s \2/p' "$1" | sort -k 2,2nr | head -n 12
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
