import type { Candidates } from './candidates.ts';

/** Writes the completion script for bash, which also runs in bash 3.2 of macOS. */
export function bashScript(commands: readonly Candidates[]): string {
  const [, ...below] = commands;
  return `# Completes the identity command in bash.
_identity() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD - 1]}"
  local command=identity words='' options='' paths='' index
  # Bash splits --data=DIR into three words.
  [ "$previous" = = ] && previous="\${COMP_WORDS[COMP_CWORD - 2]}"
  [ "$current" = = ] && current=''
  for ((index = 1; index < COMP_CWORD; index++)); do
    case "$command \${COMP_WORDS[index]}" in
      ${below.map(({ command }) => quote(command)).join(' | ')}) command="$command \${COMP_WORDS[index]}" ;;
      *) break ;;
    esac
  done
  case "$command $previous" in
${commands.flatMap(valueCases).join('\n')}
    *)
      case "$command" in
${commands.map(wordCase).join('\n')}
      esac
      # Options are offered once a dash is typed, or where there is nothing else to complete.
      if [ "\${current:0:1}" = - ] || [ -z "$words$paths" ]; then words="$options" paths=''; fi
      ;;
  esac
  local IFS=$'\\n'
  if [ -n "$paths" ]; then
    compopt -o filenames 2> /dev/null
    COMPREPLY=($(compgen "$paths" -- "$current"))
  else
    COMPREPLY=($(IFS=' ' && compgen -W "$words" -- "$current"))
  fi
}
complete -F _identity identity
`;
}

/** Writes the cases of a command's options with values: what follows each. */
function valueCases({ command, options }: Candidates): string[] {
  return options.flatMap(({ long, value }) =>
    value === undefined ? [] : [`    ${quote(`${command} ${long}`)}) ${assignments(value.choices, value.paths)} ;;`],
  );
}

/** Writes the case of what follows a command itself. */
function wordCase({ command, subcommands, options, arguments: values }: Candidates): string {
  const [value] = values;
  const optionNames = options.flatMap(({ long, short }) => [long, ...(short === undefined ? [] : [short])]);
  const names = [...subcommands.map(({ name }) => name), ...(value?.choices ?? [])];
  return `        ${quote(command)}) ${assignments(names, value?.paths)} options=${quote(optionNames.join(' '))} ;;`;
}

function assignments(words: readonly string[], paths: 'files' | 'directories' | undefined): string {
  const parts = [`words=${quote(words.join(' '))}`];
  if (paths !== undefined) parts.push(`paths=${paths === 'files' ? '-f' : '-d'}`);
  return parts.join(' ');
}

const quote = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;
