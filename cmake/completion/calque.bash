# Completion of calque for bash. Verbs and options are those that the program itself lists.
_calque_values()
{
    case $1 in
    --training) echo eval train preserve ;;
    --operator-export-type) echo onnx onnx_aten onnx_aten_fallback onnx_fallthrough ;;
    --annotations) echo attribute metadata ;;
    --quantized-engine) echo fbgemm onednn x86 qnnpack ;;
    --format) echo pb npy ;;
    --names) echo hf ;;
    --modules-as-functions) echo all ;;
    --opset) echo latest {7..24} ;;
    esac
}

_calque()
{
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} verb=${COMP_WORDS[1]} words

    # --training=eval is three words
    [[ $cur == = ]] && cur= && prev=${COMP_WORDS[COMP_CWORD - 1]}
    [[ $prev == = ]] && prev=${COMP_WORDS[COMP_CWORD - 2]}
    words=$(_calque_values "$prev")
    if ((COMP_CWORD > 2)) && [[ $words ]]; then
        COMPREPLY=($(compgen -W "$words" -- "$cur"))
    elif ((COMP_CWORD == 1)); then
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
