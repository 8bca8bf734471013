import { type Call, InterruptedError } from './command.ts';

/** Whether a person at a terminal can be asked. */
export function canAsk(): boolean {
  return process.stdin.isTTY && process.stderr.isTTY;
}

/**
 * Asks a person at a terminal for consent; the question goes to standard error.
 * @returns false for a no, and where there is no terminal
 * @throws InterruptedError when the person interrupts the question
 */
export async function askConsent(question: string, { signal }: Pick<Call, 'signal'>): Promise<boolean> {
  if (!canAsk()) return false;
  // Loaded lazily: most calls ask nothing.
  const { confirm, isCancel } = await import('@clack/prompts');
  const answer = await confirm({ message: question, initialValue: false, output: process.stderr, signal });
  if (isCancel(answer)) throw new InterruptedError('interrupted: nothing is changed');
  return answer;
}

/**
 * Asks a person at a terminal for a text that is not empty; the question goes to standard error.
 * @throws InterruptedError when the person interrupts the question
 */
export async function askText(question: string, { signal }: Pick<Call, 'signal'>): Promise<string> {
  const { text, isCancel } = await import('@clack/prompts');
  const validate = (given: string | undefined) => (given === undefined || given === '' ? 'specify a path' : undefined);
  const answer = await text({ message: question, validate, output: process.stderr, signal });
  if (isCancel(answer)) throw new InterruptedError('interrupted: nothing is changed');
  return answer;
}
