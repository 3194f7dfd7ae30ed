# SPDX-License-Identifier: Apache-2.0
# Completion of flextrace's commands, their options, and files. What there is the command itself says.
_flextrace() {
	local word=${COMP_WORDS[COMP_CWORD]} words
	if [ "$COMP_CWORD" -eq 1 ]; then
		words=$("$1" options 2>/dev/null | cut -f1)
	elif [[ $word == -* ]]; then
		words="--help --quiet $("$1" options "${COMP_WORDS[1]}" 2>/dev/null | cut -f3 | sed 's/^/--/')"
	else
		return
	fi
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}
complete -o default -F _flextrace flextrace
