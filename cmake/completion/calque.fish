# Completion of calque for fish. Verbs and options are those that the program itself lists.
function __calque_verbs
    calque help 2>/dev/null | sed -n 's/^  \([a-z]\{1,\}\)  *\(.*\)/\1\t\2/p'
end

function __calque_options
    set -l verb (commandline -opc)[2]
    calque help $verb 2>/dev/null | sed -n 's/^  \(-., \)\{0,1\}\(--[a-z-]\{1,\}\).*/\2/p'
    printf '%s\n' --help --quiet --no-sandbox --allow-large-output
end

function __calque_values
    switch (commandline -opc)[-1]
        case --training
            printf '%s\n' eval train preserve
        case --operator-export-type
            printf '%s\n' onnx onnx_aten onnx_aten_fallback onnx_fallthrough
        case --annotations
            printf '%s\n' attribute metadata
        case --quantized-engine
            printf '%s\n' fbgemm onednn x86 qnnpack
        case --format
            printf '%s\n' pb npy
        case --names
            echo hf
        case --modules-as-functions
            echo all
        case --opset
            printf '%s\n' latest (seq 7 24)
    end
end

complete -c calque -n 'test -n "$(__calque_values)"' -f -a '(__calque_values)'
complete -c calque -n 'test (count (commandline -opc)) -eq 1' -f -a '(__calque_verbs) help'
complete -c calque -n '__fish_seen_subcommand_from help' -f -a '(__calque_verbs)'
complete -c calque -n 'string match -q -- "-*" (commandline -ct)' -f -a '(__calque_options)'
complete -c calque -n '__fish_seen_subcommand_from export testcase run print info' \
    -a '(calque zoo 2>/dev/null | cut -d " " -f 1)'
