// Formats command lines for messages. The command lines begin with the words with which the user started this process,
// so that the user can copy the lines.

const INSTALLED = 'identity';

let program = INSTALLED;
let calls = /(?!)/g;

/**
 * Stores whether the user started this process by the npm script of a cloned repository, or by the installed command.
 * @param words the first words of all commands, such as `migrate`
 */
export function noteProgram({ npm_lifecycle_event: script }: NodeJS.ProcessEnv, words: readonly string[]): void {
  program = script === INSTALLED ? `npm run -s ${INSTALLED} --` : INSTALLED;
  calls = new RegExp(`(?<![\\w./-])${INSTALLED} (?=(?:--help|(?:${words.join('|')})\\b))`, 'g');
}

/**
 * Returns a command line for a message.
 * @example
 * callText('org list'); // identity org list
 */
export function callText(words: string): string {
  return `${program} ${words}`;
}

/** Replaces `identity` in each command line of a text by the words with which the user started this process. */
export function withCalls(text: string): string {
  return text.replace(calls, callText(''));
}
