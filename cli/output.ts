import { pipeline } from 'node:stream/promises';
import { InterruptedError, type ListOutput, type Output, type Surroundings } from './command.ts';
import type { ExitStatus } from './exitStatus.ts';

/** Prints a command's output, and returns how the command ended. */
export type Print = (output: Output | ListOutput | undefined) => Promise<ExitStatus>;

/**
 * Prints the output of a command.
 * @throws InterruptedError for a list that the signal ends
 */
export async function printOutput(
  output: Output | ListOutput,
  asJson: boolean,
  { stdout, stderr, signal }: Surroundings,
): Promise<void> {
  if (!('rows' in output)) {
    const { json, text, stream } = output;
    (stream === 'stderr' ? stderr : stdout).write(`${asJson ? JSON.stringify(json) : text}\n`);
    return;
  }
  try {
    await pipeline(lines(output, asJson), stdout, { end: false, signal });
  } catch (error) {
    throw signal.aborted ? new InterruptedError('interrupted: the list is incomplete') : error;
  }
}

/** Yields the text of a list, which may be longer than the memory. A list that fails at once yields nothing. */
async function* lines({ name, rows }: ListOutput, asJson: boolean): AsyncGenerator<string> {
  const start = `{${JSON.stringify(name)}:[`;
  let count = 0;
  for await (const { json, text } of rows) {
    yield asJson ? `${count === 0 ? start : ','}${JSON.stringify(json)}` : `${text}\n`;
    count++;
  }
  if (asJson) yield `${count === 0 ? start : ''}]}\n`;
  else if (count === 0) yield `no ${name}\n`;
}

/** Returns a list as output, each element with its text: cells separated by tabs. */
export function toList<Row>(
  name: string,
  elements: AsyncIterable<Row>,
  cells: (element: Row) => readonly string[],
): ListOutput {
  async function* rows(): AsyncGenerator<Output> {
    for await (const json of elements) yield { json, text: cells(json).join('\t') };
  }
  return { name, rows: rows() };
}
