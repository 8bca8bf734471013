import { hash, randomInt } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { FunctionName } from '../support/processes/programs.ts';
import { repetitions } from '../support/repetitions.ts';
import { startFuzzedInstance } from './fuzzedInstance.ts';
import type { GeneratedRequest, Kind, Known } from './generatedRequest.ts';
import { judge } from './judge.ts';
import { documents } from './kinds/documents.ts';
import { headers, requests } from './kinds/operations.ts';
import { removals } from './kinds/removals.ts';
import { rpcs } from './kinds/rpcs.ts';
import { Sender } from './send.ts';

/** FUZZ_SEED repeats a run. */
const seed = Number(process.env.FUZZ_SEED ?? randomInt(1_000_000_000));
/** The number of requests to each function. */
const REQUESTS = Number(process.env.FUZZ_REQUESTS ?? repetitions({ few: 600, many: 100_000 }));

const functions: readonly (readonly [FunctionName, (known: Known) => readonly Kind[]])[] = [
  ['removeOtpEmail', (known) => [removals(known), ...rpcs(known)]],
  ['export', () => [requests('export'), headers('export')]],
  ['import', (known) => [requests('import'), documents(known), headers('import')]],
];

describe.each(functions)('%s', (name, kindsFor) => {
  it(`responds soundly to each of ${REQUESTS} generated requests, and ends without an error`, async () => {
    process.stderr.write(`${name}: FUZZ_SEED=${seed}\n`);
    const instance = await startFuzzedInstance();
    onTestFinished(() => instance.remove());
    const kinds = kindsFor(instance.known);
    const weights = kinds.reduce((sum, { weight }) => sum + weight, 0);
    await Promise.all(
      kinds.map(async (kind) => {
        const statuses = await sendKind(instance, kind, Math.ceil((REQUESTS * kind.weight) / weights));
        expect([...statuses], kind.name).toEqual(expect.arrayContaining([...kind.reaches]));
      }),
    );
    expect(await instance.lossesOfMigration()).toEqual([]);
    expect(await instance.stop()).toEqual([]);
  });
});

/** Sends the requests of a kind. Returns the statuses of the responses. */
async function sendKind(instance: { url: string; token: string }, kind: Kind, numRuns: number) {
  const statuses = new Set<string>();
  const sender = new Sender(instance);
  const property = fc.asyncProperty(kind.requests, async (request) => {
    try {
      statuses.add(judge(await sender.send(request), request.method === 'HEAD', mayTimeOut(request)));
    } catch (error) {
      const { method, target, plain } = request;
      throw new Error(`${method} ${target} ${plain?.toString('latin1') ?? ''}: ${error}`, { cause: error });
    }
  });
  try {
    const kindSeed = Number.parseInt(hash('sha256', `${seed} ${kind.name}`).slice(0, 8), 16) | 0;
    await fc.assert(property, { numRuns, seed: kindSeed });
  } finally {
    sender.close();
  }
  return statuses;
}

/** Whether a request may ask for a timeout. The name of a field may have escapes. */
function mayTimeOut({ headers: fields, plain }: GeneratedRequest): boolean {
  return /timeout|\\u/i.test(`${fields.flat().join(' ')} ${plain?.toString('latin1')}`);
}
