// The command in texts: in the form in which the user started this process.

/** The name of the installed command. */
const INSTALLED = 'identity';

let program = INSTALLED;
let calls = /(?!)/g;

/**
 * Notes how this process was started: by the script of a clone, or as the installed command.
 * @param words the first words of all commands
 */
export function noteProgram({ npm_lifecycle_event: script }: NodeJS.ProcessEnv, words: readonly string[]): void {
  program = script === INSTALLED ? `npm run -s ${INSTALLED} --` : INSTALLED;
  calls = new RegExp(`(?<![\\w./-])${INSTALLED} (?=(?:--help|(?:${words.join('|')})\\b))`, 'g');
}

/**
 * Returns the command line of a next call.
 * @example
 *     callText('org list'); // identity org list
 */
export function callText(words: string): string {
  return `${program} ${words}`;
}

/** Returns a text in which all calls of the command have the form in which this process was started. */
export function withCalls(text: string): string {
  return text.replace(calls, callText(''));
}
