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

# _sonde_programs WORD: programs to run, by name or by path.
_sonde_programs() {
	[[ -n $1 && $1 != */* ]] && compgen -c -- "$1"
	compgen -f -- "$1"
}

_sonde() {
	local cur=$2 words command word i
	_sonde_table=$(sonde help --complete 2>/dev/null) || return
	COMPREPLY=()

	# Bash splits words at '=': "--sort" "=" "se". Put the last such triple together again.
	if [[ $cur == "=" ]]; then
		cur=${COMP_WORDS[COMP_CWORD - 1]}=
	elif ((COMP_CWORD > 1)) && [[ ${COMP_WORDS[COMP_CWORD - 1]} == "=" ]]; then
		cur=${COMP_WORDS[COMP_CWORD - 2]}=$cur
	fi

	for ((i = 1; i < COMP_CWORD; i++)); do
		[[ ${COMP_WORDS[i]} == [-=0-9]* || ${COMP_WORDS[i - 1]} == "=" ]] && continue
		command=${COMP_WORDS[i]}
		break
	done

	# What stands behind `--` is a program to run, or what that is given.
	for ((i = 1; i < COMP_CWORD; i++)); do
		[[ ${COMP_WORDS[i]} == "--" ]] || continue
		mapfile -t COMPREPLY < <(_sonde_programs "$cur" | sort -u)
		return
	done

	if [[ -z $command && $cur != -* ]] || [[ $command == help && $cur != -* ]]; then
		words=$(sed -n 's/^\([a-z]*\).*/\1/p' <<<"$_sonde_table" | grep -vx common)
		mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
		# Without a command it is diagnosed.
		if [[ -z $command && ${#COMPREPLY[@]} == 0 ]]; then
			mapfile -t COMPREPLY < <(_sonde_programs "$cur" | sort -u)
		fi
		return
	fi

	words=$(_sonde_words "${command:-diagnose}")
	if [[ -z $words && $command != help ]]; then # it is a program
		mapfile -t COMPREPLY < <(compgen -f -- "$cur")
		return
	fi
	words="$(_sonde_words common) $words"
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
