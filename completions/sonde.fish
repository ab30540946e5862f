# Completion of sonde's commands, options and their values for fish. All words come from the program
# itself (`sonde help --complete`), so nothing here can go out of date.

# The command on the line, or diagnose: without a command a program is diagnosed.
function __sonde_command
    for word in (commandline -opc)[2..]
        string match -q -- '-*' $word; or begin
            echo $word
            return
        end
    end
end

# Whether what follows is a program to run.
function __sonde_is_program
    contains -- -- (commandline -opc)
end

# What fish offers for the program itself.
function __sonde_program
    set -l words (commandline -opc)
    set -l rest $words[(math (contains -i -- -- $words) + 1)..] (commandline -ct)
    complete -C (string join ' ' -- $rest)
end

# The options and operands of the command on the line.
function __sonde_words
    set -l command (__sonde_command)
    test -n "$command"; or set command diagnose
    for line in (sonde help --complete 2>/dev/null)
        set -l words (string split ' ' -- $line)
        contains -- $words[1] common $command; or continue
        for word in $words[2..]
            switch $word
                case ':*'
                    string sub -s 2 -- $word
                case '--*=*'
                    set -l parts (string split -m 1 '=' -- $word)
                    if test -n "$parts[2]"
                        for value in (string split '|' -- $parts[2])
                            echo "$parts[1]=$value"
                        end
                    else
                        echo "$parts[1]="
                    end
                case '-*'
                    echo $word
            end
        end
    end
end

# Whether an option is being written whose value, if it has one, is among the words: no file.
function __sonde_is_listed
    set -l option (string replace -r '=.*' '=' -- (commandline -ct))
    string match -q -- '-*' $option; and not contains -- $option (__sonde_words)
end

function __sonde_commands
    sonde help --complete 2>/dev/null | string match -rv '^common' | string replace -r ' .*' ''
end

complete -c sonde -n 'not __sonde_is_program; and not count (__sonde_command) >/dev/null' -a '(__sonde_commands)' -d command
complete -c sonde -n 'not __sonde_is_program; and not count (__sonde_command) >/dev/null' -a '(__fish_complete_command)'
complete -c sonde -n 'not __sonde_is_program; and contains -- help (__sonde_command)' -f -a '(__sonde_commands)'
complete -c sonde -n 'not __sonde_is_program' -a '(__sonde_words)'
complete -c sonde -n 'not __sonde_is_program; and __sonde_is_listed' -f
complete -c sonde -n __sonde_is_program -f -a '(__sonde_program)'
