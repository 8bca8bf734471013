// Command lines in texts. They have the form in which the user started this process.

/** The name of the installed command. */
const INSTALLED = 'identity';

let program = INSTALLED;
let calls = /(?!)/g;

/**
 * Records how the user started this process: by the npm script of a clone, or by the installed command.
 * @param words the first words of all commands
 */
export function noteProgram({ npm_lifecycle_event: script }: NodeJS.ProcessEnv, words: readonly string[]): void {
  program = script === INSTALLED ? `npm run -s ${INSTALLED} --` : INSTALLED;
  calls = new RegExp(`(?<![\\w./-])${INSTALLED} (?=(?:--help|(?:${words.join('|')})\\b))`, 'g');
}

/**
 * Returns a command line that the user can run next.
 * @example
 * callText('org list'); // identity org list
 */
export function callText(words: string): string {
  return `${program} ${words}`;
}

/** Changes all command lines of a text to the form in which the user started this process. */
export function withCalls(text: string): string {
  return text.replace(calls, callText(''));
}
