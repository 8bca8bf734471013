import { setImmediate } from 'node:timers/promises';
import { commandInterrupted } from '../../shared/errors/commandErrors.ts';
import type { Surroundings } from './command.ts';
import { type Line, layOut, layoutOf } from './terminal.ts';

type Asked = Pick<Surroundings, 'stdin' | 'stderr' | 'signal'>;
type Asking = Asked & Pick<Surroundings, 'environment'> & { readonly options: { readonly yes?: boolean } };

export function canAsk({ stdin, stderr }: Asked): boolean {
  return stdin.isTTY === true && stderr.isTTY === true;
}

/**
 * Asks the user at a terminal for confirmation, unless the call has `--yes`. The question appears on standard error.
 * @param about lines that are printed before the question
 * @returns false if the user answers no, or if there is neither `--yes` nor a terminal
 * @throws IdentityError COMMAND_INTERRUPTED if the user interrupts the question
 */
export async function askConfirmation(message: string, asked: Asking, about: readonly Line[] = []): Promise<boolean> {
  if (asked.options.yes === true) return true;
  if (!canAsk(asked)) return false;
  const { stderr, environment } = asked;
  if (about.length > 0) stderr.write(`${layOut(about, layoutOf(stderr, environment))}\n\n`);
  return await ask(asked, ({ confirm }, at) => confirm({ message, initialValue: false, ...at }));
}

/**
 * Asks the user for a secret. The terminal does not show what the user types.
 * @throws IdentityError COMMAND_INTERRUPTED if the user interrupts the question
 */
export function askSecret(message: string, asked: Asked): Promise<string> {
  return ask(asked, ({ password }, at) => password({ message, ...at }));
}

/** @throws IdentityError COMMAND_INTERRUPTED if the user interrupts the question */
export function askText(
  message: string,
  asked: Asked & Pick<Surroundings, 'environment'>,
  about: readonly Line[],
): Promise<string> {
  const { stderr, environment } = asked;
  stderr.write(`${layOut(about, layoutOf(stderr, environment))}\n\n`);
  return ask(asked, ({ text }, at) => text({ message, ...at }));
}

/** @throws IdentityError COMMAND_INTERRUPTED if the user interrupts the question */
export function askChoice(message: string, choices: readonly string[], asked: Asked): Promise<string> {
  const options = choices.map((value) => ({ value }));
  return ask(asked, ({ select }, at) => select<string>({ message, options, ...at }));
}

type Prompts = typeof import('@clack/prompts');
type Cancelled = Extract<Awaited<ReturnType<Prompts['password']>>, symbol>;

const [CTRL_C, CTRL_D] = ['\u0003', '\u0004'];

async function ask<Answer>(
  { stdin, stderr, signal }: Asked,
  question: (prompts: Prompts, at: object) => Promise<Answer | Cancelled>,
): Promise<Answer> {
  // Load the library only if there is a question, so that all other calls start faster.
  const prompts = await import('@clack/prompts');
  // Without this setting, Ctrl-D would close the input, and the question would wait forever.
  prompts.updateSettings({ aliases: { [CTRL_D]: 'cancel' } });
  const isInterrupted = (await takeTyped(stdin)).includes(CTRL_C);
  const answer = isInterrupted ? undefined : await question(prompts, { input: stdin, output: stderr, signal });
  if (answer === undefined || prompts.isCancel(answer))
    throw commandInterrupted({ interruption: 'interrupted: nothing is changed' });
  return answer;
}

/** Reads what the user typed before the question, so that it does not become the answer. */
async function takeTyped(stdin: Asked['stdin']): Promise<string> {
  // Without raw mode, the terminal delivers only complete lines.
  stdin.setRawMode?.(true);
  stdin.read(0);
  // Text in the terminal's buffer may arrive only in the second turn of the event loop.
  for (let turns = 0; turns < 2; turns++) await setImmediate();
  const typed = String(stdin.read() ?? '');
  stdin.setRawMode?.(false);
  return typed;
}
