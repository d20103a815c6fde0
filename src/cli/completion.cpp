// `gpuctl completion`: scripts for shells. They ask the program itself: see complete.hpp.
#include <memory>

#include "cli/command.hpp"

namespace gpuctl::cli {

namespace {

constexpr std::string_view kBash = R"(# shellcheck shell=bash
# Completion of gpuctl for bash (4.3 or newer).
_gpuctl() {
  local line=${COMP_LINE:0:COMP_POINT} current head='' breaks='' form value
  local -a words
  read -ra words <<<"$line"
  [[ $line == *[[:space:]] ]] && words+=("")
  current=${words[-1]}
  # Readline takes what stands before a : or = for a word of its own.
  [[ $COMP_WORDBREAKS == *:* ]] && breaks+=":"
  [[ $COMP_WORDBREAKS == *=* ]] && breaks+="="
  [[ -n $breaks ]] && head=${current%"${current##*["$breaks"]}"}
  COMPREPLY=()
  {
    read -r form
    while IFS=$'\t' read -r value _; do
      COMPREPLY+=("${value#"$head"}")
    done
  } < <("${COMP_WORDS[0]}" __complete "${words[@]:1}" 2>/dev/null)
  [[ $form == *nospace ]] && compopt -o nospace
  current=${current#"$head"}
  case $form in
    files) mapfile -t COMPREPLY < <(compgen -f -- "$current") ;;
    dirs) mapfile -t COMPREPLY < <(compgen -d -- "$current") ;;
    yaml)
      mapfile -t COMPREPLY < <(
        compgen -d -- "$current"
        compgen -f -X '!*.yaml' -- "$current"
        compgen -f -X '!*.yml' -- "$current"
      )
      ;;
    *) return ;;
  esac
  compopt -o filenames
}
complete -F _gpuctl gpuctl
)";

constexpr std::string_view kZsh = R"(#compdef gpuctl
# Completion of gpuctl for zsh.
_gpuctl() {
  local form line
  local -a lines values texts
  lines=("${(@f)$("${(Q)words[1]}" __complete "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)}")
  form=$lines[1]
  shift lines
  for line in $lines; do
    values+=("${line%%$'\t'*}")
    if [[ $line == *$'\t'* ]]; then
      texts+=("${line%%$'\t'*}  -- ${line#*$'\t'}")
    else
      texts+=("$line")
    fi
  done
  case $form in
    files) compset -P '--*='; _files ;;
    dirs) compset -P '--*='; _files -/ ;;
    yaml) compset -P '--*='; _files -g '*.(yaml|yml)' ;;
    *nospace) compadd -S '' -l -d texts -a values ;;
    *) (( $#values )) && compadd -l -d texts -a values ;;
  esac
}
if [[ $funcstack[1] == _gpuctl ]]; then
  _gpuctl "$@"
else
  compdef _gpuctl gpuctl
fi
)";

constexpr std::string_view kFish = R"(# Completion of gpuctl for fish.
function __gpuctl_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l lines ($words[1] __complete $words[2..-1] "$current" 2>/dev/null)
    set -l form (string split ' ' -- $lines[1])[1]
    set -e lines[1]
    set -l head (string match -r -- '^--[^=]*=' "$current"; or echo '')
    set -l rest (string replace -- "$head" '' "$current")
    switch "$form"
        case files yaml
            printf '%s\n' $head(__fish_complete_path "$rest")
        case dirs
            printf '%s\n' $head(__fish_complete_directories "$rest")
        case '*'
            printf '%s\n' $lines
    end
end
complete -c gpuctl -f -a '(__gpuctl_complete)'
)";

RunFunction set_up_shell(Options& command, const GlobalOptions& global) {
  auto shell = std::make_shared<std::string>();
  command.add_option("SHELL", *shell, "bash, zsh or fish")
      .required()
      .one_of({"bash", "zsh", "fish"});
  return [shell, &global] {
    const std::string_view script = *shell == "bash" ? kBash : *shell == "zsh" ? kZsh : kFish;
    global.result->set("script", script);
    return print(script, global) ? kOk : kFindings;
  };
}

}  // namespace

Command completion_command() {
  return {
      "completion",
      "Print what has a shell complete commands, options and names",
      "Completes what the program and the files on the line know: clusters, stages and waves of\n"
      "fleets, choices of a blueprint, GPU models, MIG profiles, codes of diagnostics. Packages\n"
      "install the scripts; otherwise load them where the shell starts.\n\n"
      "Example:\n"
      "  eval \"$(gpuctl completion bash)\"              # in ~/.bashrc\n"
      "  eval \"$(gpuctl completion zsh)\"               # in ~/.zshrc, after compinit\n"
      "  gpuctl completion fish > ~/.config/fish/completions/gpuctl.fish\n",
      set_up_shell,
      {},
      false};
}

}  // namespace gpuctl::cli
