# Completion of calque for bash. Verbs and options are those that the program itself lists.
_calque()
{
    local cur=${COMP_WORDS[COMP_CWORD]} verb=${COMP_WORDS[1]} words

    if ((COMP_CWORD == 1)); then
        words="help $("$1" help 2>/dev/null | sed -n 's/^  \([a-z]\{1,\}\)  .*/\1/p')"
        COMPREPLY=($(compgen -W "$words" -- "$cur"))
    elif [[ $cur == -* ]]; then
        words="--help --quiet --no-sandbox --allow-large-output $("$1" help "$verb" 2>/dev/null |
            sed -n 's/^  \(-., \)\{0,1\}\(--[a-z-]\{1,\}\).*/\2/p')"
        COMPREPLY=($(compgen -W "$words" -- "$cur"))
    elif [[ $verb == help ]]; then
        words=$("$1" help 2>/dev/null | sed -n 's/^  \([a-z]\{1,\}\)  .*/\1/p')
        COMPREPLY=($(compgen -W "$words" -- "$cur"))
    else
        words=
        case $verb in
        export | testcase | run | print | info)
            words=$("$1" zoo 2>/dev/null | cut -d ' ' -f 1)
            ;;
        esac
        COMPREPLY=($(compgen -W "$words" -- "$cur") $(compgen -f -- "$cur"))
    fi
}
complete -o filenames -F _calque calque
