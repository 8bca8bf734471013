import { InterruptedError, type Surroundings } from './command.ts';

type Asked = Pick<Surroundings, 'stdin' | 'stderr' | 'signal'>;
/** A command whose `--yes` is the answer. */
type Asking = Asked & { readonly options: { readonly yes?: boolean } };

/** Whether a person at a terminal can be asked. */
export function canAsk({ stdin, stderr }: Asked): boolean {
  return stdin.isTTY === true && stderr.isTTY === true;
}

/**
 * Asks a person at a terminal for consent, unless the call has it; the question goes to standard error.
 * @returns false for a no, and where there is neither `--yes` nor a terminal
 * @throws InterruptedError when the person interrupts the question
 */
export async function askConsent(question: string, asked: Asking): Promise<boolean> {
  if (asked.options.yes === true) return true;
  if (!canAsk(asked)) return false;
  // Loaded lazily: most calls ask nothing.
  const { confirm, isCancel } = await import('@clack/prompts');
  const answer = await confirm({ message: question, initialValue: false, ...streams(asked) });
  if (isCancel(answer)) throw new InterruptedError('interrupted: nothing is changed');
  return answer;
}

/**
 * Asks a person at a terminal for a text that is not empty; the question goes to standard error.
 * @throws InterruptedError when the person interrupts the question
 */
export async function askText(question: string, asked: Asked): Promise<string> {
  const { text, isCancel } = await import('@clack/prompts');
  const validate = (given: string | undefined) => (given === undefined || given === '' ? 'specify a path' : undefined);
  const answer = await text({ message: question, validate, ...streams(asked) });
  if (isCancel(answer)) throw new InterruptedError('interrupted: nothing is changed');
  return answer;
}

/**
 * Asks a person at a terminal for a secret, which does not appear on it; the question goes to standard error.
 * @throws InterruptedError when the person interrupts the question
 */
export async function askSecret(question: string, asked: Asked): Promise<string> {
  const { password, isCancel } = await import('@clack/prompts');
  const answer = await password({ message: question, ...streams(asked) });
  if (isCancel(answer)) throw new InterruptedError('interrupted: nothing is changed');
  return answer;
}

/** A value that a person can choose. */
interface Choice<Value> {
  readonly value: Value;
  readonly label: string;
  readonly hint?: string;
}

/**
 * Asks a person at a terminal to choose; the question goes to standard error.
 * @throws InterruptedError when the person interrupts the question
 */
export async function askChoice<Value extends string>(
  question: string,
  choices: readonly Choice<Value>[],
  asked: Asked,
): Promise<Value> {
  const { select, isCancel } = await import('@clack/prompts');
  const answer = await select<string>({ message: question, options: [...choices], ...streams(asked) });
  const chosen = choices.find(({ value }) => value === answer);
  if (isCancel(answer) || chosen === undefined) throw new InterruptedError('interrupted: nothing is changed');
  return chosen.value;
}

function streams({ stdin, stderr, signal }: Asked) {
  return { input: stdin, output: stderr, signal };
}
