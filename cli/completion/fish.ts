import type { Candidates, OfferedOption } from './candidates.ts';

/** Writes the completion script for fish. */
export function fishScript(commands: readonly Candidates[]): string {
  const [, ...below] = commands;
  return `# Completes the identity command in fish.
function __identity_is --description 'Whether the words before the cursor select a command'
    set -l command identity
    for word in (commandline -opc)[2..-1]
        switch "$command $word"
            case ${below.map(({ command }) => quote(command)).join(' ')}
                set command "$command $word"
            case '*'
                break
        end
    end
    test "$command" = "$argv[1]"
end
complete -c identity -e
complete -c identity -f
${commands.flatMap(lines).join('\n')}
`;
}

/** Writes the lines of what follows one command. */
function lines({ command, subcommands, options, arguments: values }: Candidates): string[] {
  const start = `complete -c identity -n ${quote(`__identity_is ${quote(command)}`)}`;
  return [
    ...subcommands.map(({ name, meaning }) => `${start} -a ${quote(name)} -d ${quote(meaning)}`),
    ...values.flatMap((value) => offer(value).map((offered) => `${start} ${offered}`)),
    ...options.map((option) => `${start} ${describe(option)}`),
  ];
}

function describe({ long, short, meaning, value }: OfferedOption): string {
  const names = [`-l ${long.slice(2)}`, ...(short === undefined ? [] : [`-s ${short.slice(1)}`])];
  const takes = value === undefined ? [] : [value.paths === 'files' ? '-r' : '-x', ...offer(value)];
  return [...names, ...takes, `-d ${quote(meaning)}`].join(' ');
}

function offer({ choices, paths }: Candidates['arguments'][number]): string[] {
  if (choices.length > 0) return [`-a ${quote(choices.join(' '))}`];
  if (paths === undefined) return [];
  return [paths === 'files' ? '-F' : `-a '(__fish_complete_directories)'`];
}

const quote = (text: string) => `'${text.replace(/[\\']/g, '\\$&')}'`;
