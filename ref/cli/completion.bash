# SPDX-License-Identifier: MIT
# Completion in bash for o2ref and o2props.  The candidates come from the program itself (--list-options, which prints
# the tables behind --help), so they always fit the installed version.

# Complete $2 from the words in $1; in a list "a,b,...", complete its last name.
_o2ref_words() {
	local begun=
	[[ $2 != *,* ]] || begun=${2%,*},
	mapfile -t COMPREPLY < <(compgen -P "$begun" -W "$1" -- "${2#"$begun"}")
}

_o2ref_files() {
	compopt -o filenames 2> /dev/null
	mapfile -t COMPREPLY < <(compgen -f -- "$1")
}

# Complete the value of an option; true if the option takes one.
_o2ref_value() { # OPTION WORD LIST
	local option value names
	while IFS=$'\t' read -r option value names; do
		[[ $option == --* && $option == "$1" && $value != - ]] || continue
		case $value in
		FILE | OUT | DIR | *.json) _o2ref_files "$2" ;;
		*) [[ -z $names ]] || _o2ref_words "$names" "$2" ;;
		esac
		return 0
	done <<< "$3"
	return 1
}

_o2ref() {
	local program=${COMP_WORDS[0]/#\~/$HOME} word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} list
	local -a command=()
	COMPREPLY=()
	# bash splits --name=value into three words.
	if [[ $word == "=" ]]; then
		word=
	elif [[ $before == "=" ]]; then
		before=${COMP_WORDS[COMP_CWORD - 2]}
	fi
	[[ $COMP_CWORD -le 1 ]] || command=("${COMP_WORDS[1]}")
	list=$("$program" "${command[@]}" --list-options 2> /dev/null) || return
	! _o2ref_value "$before" "$word" "$list" || return
	if [[ $word == -* ]]; then
		_o2ref_words "$(grep -o '^--[^	]*' <<< "$list")" "$word"
	elif [[ $COMP_CWORD -eq 1 ]]; then
		_o2ref_words "$(grep -v '^-' <<< "$list")" "$word"
	elif [[ ${program##*/} == o2props && ${command[0]} == run ]]; then
		_o2ref_words "$("$program" list 2> /dev/null | cut -f 1)" "$word"
	else
		_o2ref_files "$word"
	fi
}

complete -F _o2ref o2ref o2props
