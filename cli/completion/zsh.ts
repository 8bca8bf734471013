import type { Candidates, OfferedOption } from './candidates.ts';

/** Writes the completion script for zsh, to be sourced or found in `fpath`. */
export function zshScript(commands: readonly Candidates[]): string {
  const [, ...below] = commands;
  return `#compdef identity
# Completes the identity command in zsh.
_identity() {
  local command=identity index
  local -a subcommands options
  for ((index = 2; index < CURRENT; index++)); do
    case "$command \${words[index]}" in
      (${below.map(({ command }) => quote(command)).join('|')}) command+=" \${words[index]}" ;;
      (*) break ;;
    esac
  done
  case "$command \${words[CURRENT-1]}" in
${commands.flatMap(valueCases).join('\n')}
  esac
  case "$command" in
${commands.map(commandCase).join('\n')}
  esac
}
if [[ "\${funcstack[1]}" == _identity ]]; then
  _identity "$@"
else
  compdef _identity identity
fi
`;
}

/** Writes the cases of a command's options with values: what follows each. */
function valueCases({ command, options }: Candidates): string[] {
  return options.flatMap(({ long, value }) =>
    value === undefined ? [] : [`    (${quote(`${command} ${long}`)}) ${offer(value)}; return ;;`],
  );
}

/** Writes the case of what follows a command itself. */
function commandCase({ command, subcommands, options, arguments: values }: Candidates): string {
  const commandList = subcommands.map(({ name, meaning }) => quote(`${name}:${meaning}`));
  const [value] = values;
  return `    (${quote(command)})
      subcommands=(${commandList.join(' ')})
      options=(${options.flatMap(optionItems).join(' ')})
      [[ "\${words[CURRENT]}" == -* ]] || ${value === undefined ? `_describe command subcommands` : offer(value)}
      _describe -o option options
      ;;`;
}

function optionItems({ long, short, meaning }: OfferedOption): string[] {
  return [long, ...(short === undefined ? [] : [short])].map((name) => quote(`${name}:${meaning}`));
}

function offer({ name, choices, paths }: Candidates['arguments'][number]): string {
  if (choices.length > 0) return `compadd -- ${choices.join(' ')}`;
  if (paths === undefined) return `_message ${quote(name)}`;
  return paths === 'files' ? '_files' : '_files -/';
}

const quote = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;
