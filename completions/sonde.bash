# shellcheck shell=bash
# Completion of sonde's commands, options and their values. All words come from the program itself
# (`sonde help --complete`), so nothing here can go out of date.

# _sonde_words COMMAND: what the program says about it.
_sonde_words() {
	local line
	while read -r line; do
		[[ ${line%% *} == "$1" ]] && echo "${line#"$1"}"
	done <<<"$_sonde_table"
}

_sonde() {
	local cur=$2 words command word i
	_sonde_table=$(sonde help --complete 2>/dev/null) || return
	COMPREPLY=()

	# Bash splits words at '=': "--format" "=" "js". Put the last such triple together again.
	if [[ $cur == "=" ]]; then
		cur=${COMP_WORDS[COMP_CWORD - 1]}=
	elif ((COMP_CWORD > 1)) && [[ ${COMP_WORDS[COMP_CWORD - 1]} == "=" ]]; then
		cur=${COMP_WORDS[COMP_CWORD - 2]}=$cur
	fi

	for ((i = 1; i < COMP_CWORD; i++)); do
		[[ ${COMP_WORDS[i]} == [a-z]* && ${COMP_WORDS[i - 1]} != "=" ]] || continue
		command=${COMP_WORDS[i]}
		break
	done

	if [[ -z $command && $cur != -* ]] || [[ $command == help && $cur != -* ]]; then
		words=$(sed -n 's/^\([a-z]*\).*/\1/p' <<<"$_sonde_table" | grep -vx common)
		mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
		return
	fi

	words="$(_sonde_words common) ${command:+$(_sonde_words "$command")}"
	case $cur in
	--*=*)
		for word in $words; do
			[[ $word == "${cur%%=*}="* ]] || continue
			mapfile -t COMPREPLY < <(compgen -W "$(tr '|' ' ' <<<"${word#*=}")" -- "${cur#*=}")
		done
		;;
	-*)
		words=$(tr ' ' '\n' <<<"$words" | sed -n 's/^\(-[^=]*=\{0,1\}\).*/\1/p')
		mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
		[[ ${COMPREPLY[0]-} == *= ]] && compopt -o nospace
		;;
	*)
		words=$(tr ' ' '\n' <<<"$words" | sed -n 's/^://p')
		mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur"; compgen -f -- "$cur")
		;;
	esac
}

complete -o filenames -F _sonde sonde
