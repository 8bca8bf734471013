import { InterruptedError, type Surroundings } from './command.ts';
import { type Line, layOut, layoutOf } from './terminal.ts';

type Asked = Pick<Surroundings, 'stdin' | 'stderr' | 'signal'>;
/** A command whose `--yes` is the answer. */
type Asking = Asked & Pick<Surroundings, 'environment'> & { readonly options: { readonly yes?: boolean } };

/** Whether a person at a terminal can be asked. */
export function canAsk({ stdin, stderr }: Asked): boolean {
  return stdin.isTTY === true && stderr.isTTY === true;
}

/**
 * Asks a person at a terminal for confirmation, unless the call has it; the question goes to standard error.
 * @param about what the person reads before
 * @returns false for a no, and where there is neither `--yes` nor a terminal
 * @throws InterruptedError when the person interrupts the question
 */
export async function askConfirmation(message: string, asked: Asking, about: readonly Line[] = []): Promise<boolean> {
  if (asked.options.yes === true) return true;
  if (!canAsk(asked)) return false;
  const { stderr, environment } = asked;
  if (about.length > 0) stderr.write(`${layOut(about, layoutOf(stderr, environment))}\n\n`);
  return await ask(({ confirm }) => confirm({ message, initialValue: false, ...streams(asked) }));
}

/**
 * Asks a person at a terminal for a text that is not empty; the question goes to standard error.
 * @throws InterruptedError when the person interrupts the question
 */
export function askText(message: string, asked: Asked): Promise<string> {
  const validate = (given: string | undefined) => (given === undefined || given === '' ? 'specify a path' : undefined);
  return ask(({ text }) => text({ message, validate, ...streams(asked) }));
}

/**
 * Asks a person at a terminal for a secret, which does not appear on it; the question goes to standard error.
 * @throws InterruptedError when the person interrupts the question
 */
export function askSecret(message: string, asked: Asked): Promise<string> {
  return ask(({ password }) => password({ message, ...streams(asked) }));
}

/**
 * Asks a person at a terminal to choose; the question goes to standard error.
 * @throws InterruptedError when the person interrupts the question
 */
export function askChoice(message: string, choices: readonly string[], asked: Asked): Promise<string> {
  const options = choices.map((value) => ({ value }));
  return ask(({ select }) => select<string>({ message, options, ...streams(asked) }));
}

type Prompts = typeof import('@clack/prompts');
type Cancelled = Extract<Awaited<ReturnType<Prompts['text']>>, symbol>;

async function ask<Answer>(question: (prompts: Prompts) => Promise<Answer | Cancelled>): Promise<Answer> {
  // Loaded lazily: most calls ask nothing.
  const prompts = await import('@clack/prompts');
  const answer = await question(prompts);
  if (prompts.isCancel(answer)) throw new InterruptedError('interrupted: nothing is changed');
  return answer;
}

function streams({ stdin, stderr, signal }: Asked) {
  return { input: stdin, output: stderr, signal };
}
