import { type Command, defineCommand, flag, type Option, type Parameter, repeatable, required } from '../command.ts';
import { commonOptions } from '../help.ts';
import { type Value, valueKind } from '../values.ts';

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
      if (words.length === 0) return { json: { script: scripts[shell] }, text: scripts[shell].trimEnd(), isRaw: true };
      const { kind, candidates } = complete(commands(), families, words);
      const lines = candidates.map(({ word, meaning }) => lineFormats[shell](word, meaning));
      return { json: { kind, candidates }, text: kind === 'words' ? lines.join('\n') : `:${kind}`, isRaw: true };
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

/** What the commands with a common first word are about, by that word. */
export type Families = Readonly<Record<string, string>>;

interface Candidate {
  readonly word: string;
  readonly meaning: string;
}

/** What may follow: words, paths, or a value of a kind that only the person knows. */
interface Completion {
  readonly kind: 'words' | 'files' | 'directories' | Parameter['value'];
  readonly candidates: readonly Candidate[];
}

/**
 * Completes the last of a call's words.
 * @param words the words after `identity`; the last one may be empty
 */
function complete(commands: readonly Command[], families: Families, words: readonly string[]): Completion {
  // Bash splits --data=DIR into three words.
  const given = words.slice(words[0] === 'help' && words.length > 1 ? 1 : 0, -1).filter((word) => word !== '=');
  const current = words.at(-1) === '=' ? '' : (words.at(-1) ?? '');
  const name = selectedName(commands, given);
  const command = commands.find((one) => one.name === name);
  const options = { ...command?.options, ...(command && commonOptions(command)), help: flag('print the help') };
  const others = given.slice(name === '' ? 0 : name.split(' ').length);
  const valued = optionBefore(others.at(-1), options);
  if (valued !== undefined) return completeValue(valued, current);
  const subcommands = [...nextWords(commands, families, name)].map(([word, meaning]) => ({ word, meaning }));
  if (words.length === 1) subcommands.push({ word: 'help', meaning: 'print the help of a command' });
  const argument = command && nextArgument(command, others, options);
  if (!current.startsWith('-') && argument !== undefined) return completeValue(argument, current);
  if (!current.startsWith('-') && subcommands.length > 0) return offer(subcommands, current);
  const flags = Object.entries(options).map(([word, { meaning }]) => ({ word: `--${word}`, meaning }));
  return offer(name === '' ? [...flags, { word: '--version', meaning: 'print the version' }] : flags, current);
}

/** Returns the words that select a command, or several that begin with them, as far as they are known. */
function selectedName(commands: readonly Command[], words: readonly string[]): string {
  let name = '';
  for (const word of words) {
    const longer = `${name} ${word}`.trimStart();
    if (!commands.some((command) => `${command.name} `.startsWith(`${longer} `))) break;
    name = longer;
  }
  return name;
}

/** Returns the words that select a command after others, with their meanings. */
function nextWords(commands: readonly Command[], families: Families, name: string): Map<string, string> {
  const start = name === '' ? '' : `${name} `;
  const found = new Map<string, string>();
  for (const { name: whole, summary } of commands) {
    if (!whole.startsWith(start)) continue;
    const [word = '', ...more] = whole.slice(start.length).split(' ');
    if (!found.has(word)) found.set(word, more.length === 0 ? summary : (families[word] ?? ''));
  }
  return found;
}

/** Returns the option that a word names, if a value follows it. */
function optionBefore(word: string | undefined, options: Readonly<Record<string, Option>>): Parameter | undefined {
  const option = word?.startsWith('--') === true ? options[word.slice(2)] : undefined;
  return option?.value === undefined ? undefined : option;
}

/** Returns the argument that follows a command's words, if it takes one more. */
function nextArgument(
  command: Command,
  words: readonly string[],
  options: Readonly<Record<string, Option>>,
): Parameter | undefined {
  const values = words.filter((word, index) => !word.startsWith('-') && !optionBefore(words[index - 1], options));
  const last = command.arguments.at(-1);
  return command.arguments[values.length] ?? (last?.isRepeatable === true ? last : undefined);
}

function completeValue({ value }: Parameter, current: string): Completion {
  const { choices, elements = [], paths } = valueKind(value);
  if (choices === undefined) return { kind: paths ?? value, candidates: [] };
  const start = current.slice(0, current.lastIndexOf(',') + 1);
  const taken = start.split(',').slice(0, -1);
  const others = elements.filter((one) => taken.every((other) => other !== one && elements.includes(other)));
  const words = start === '' ? choices : others.map((one) => `${start}${one}`);
  return offer(
    words.map((word) => ({ word, meaning: '' })),
    current,
  );
}

function offer(candidates: readonly Candidate[], current: string): Completion {
  return { kind: 'words', candidates: candidates.filter(({ word }) => word.startsWith(current)) };
}
