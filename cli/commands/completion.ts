import { type Command, defineCommand, repeatable, required } from '../command.ts';
import type { Families } from '../completion.ts';
import type { Value } from '../values.ts';

/** Defines the command that completes all commands. Its scripts call it again, with the words so far. */
export function defineCompletion(commands: () => readonly Command[], families: Families) {
  return defineCommand({
    name: 'completion',
    summary: 'print the script that completes commands, options and values in a shell',
    arguments: [
      required('SHELL', 'the shell'),
      repeatable('WORD', 'for the script: the words of which to complete the last'),
    ],
    options: {},
    examples: [
      'completion bash > ~/.local/share/bash-completion/completions/identity',
      'completion zsh > ~/.zfunc/_identity',
      'completion fish > ~/.config/fish/completions/identity.fish',
    ],
    run: async ({ arguments: [shell, words] }) => {
      if (words.length === 0) return { json: { script: scripts[shell] }, text: scripts[shell].trimEnd() };
      const { complete } = await import('../completion.ts');
      const { kind, candidates } = complete(commands(), families, words);
      const lines = candidates.map(({ word, meaning }) => lineFormats[shell](word, meaning));
      return { json: { kind, candidates }, text: kind === 'words' ? lines.join('\n') : `:${kind}` };
    },
  });
}

type Shell = Value<'SHELL'>;

/** How each shell reads a candidate with its meaning. */
const lineFormats: Readonly<Record<Shell, (word: string, meaning: string) => string>> = {
  bash: (word) => word,
  zsh: (word, meaning) => `${word.replaceAll(':', '\\:')}:${meaning}`,
  fish: (word, meaning) => `${word}\t${meaning}`,
};

/** The scripts ask the command for each word, and let the shell find paths. That for bash also runs in bash 3.2 of macOS. */
const scripts: Readonly<Record<Shell, string>> = {
  bash: `# Completes the identity command in bash.
_identity() {
  local current="\${COMP_WORDS[COMP_CWORD]}" answer IFS=$'\\n'
  # Bash splits --data=DIR into three words.
  [ "$current" = = ] && current=''
  answer="$(identity completion bash -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2> /dev/null)"
  case "$answer" in
    :files) compopt -o filenames 2> /dev/null; COMPREPLY=($(compgen -f -- "$current")) ;;
    :directories) compopt -o filenames 2> /dev/null; COMPREPLY=($(compgen -d -- "$current")) ;;
    :*) COMPREPLY=() ;;
    *) COMPREPLY=($(compgen -W "$answer" -- "$current")) ;;
  esac
}
complete -F _identity identity
`,
  zsh: `#compdef identity
# Completes the identity command in zsh.
_identity() {
  local -a answer
  answer=("\${(@f)$(identity completion zsh -- "\${(@)words[2,CURRENT]}" 2> /dev/null)}")
  case "$answer[1]" in
    (:files) _files ;;
    (:directories) _files -/ ;;
    (:*) _message "\${answer[1]#:}" ;;
    (?*) _describe identity answer ;;
  esac
}
if [[ "\${funcstack[1]}" == _identity ]]; then
  _identity "$@"
else
  compdef _identity identity
fi
`,
  fish: `# Completes the identity command in fish.
function __identity_complete
    set -l answer (identity completion fish -- (commandline -opc)[2..-1] (commandline -ct) 2> /dev/null)
    switch "$answer[1]"
        case ':files'
            __fish_complete_path (commandline -ct)
        case ':directories'
            __fish_complete_directories (commandline -ct)
        case ':*'
        case '*'
            printf '%s\\n' $answer
    end
end
complete -c identity -e
complete -c identity -f -a '(__identity_complete)'
`,
};
