import { pipeline } from 'node:stream/promises';
import { InterruptedError, type ListOutput, type Output } from './command.ts';

/**
 * Prints the output of a command.
 * @throws InterruptedError for a list that the signal ends
 */
export async function printOutput(output: Output | ListOutput, asJson: boolean, signal: AbortSignal): Promise<void> {
  if (!('rows' in output)) {
    const { json, text, stream = 'stdout' } = output;
    process[stream].write(`${asJson ? JSON.stringify(json) : text}\n`);
    return;
  }
  try {
    await pipeline(lines(output, asJson), process.stdout, { end: false, signal });
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
