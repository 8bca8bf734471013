import { afterEach, describe, expect, it } from 'vitest';
import { fixedLimits } from '../../shared/limits.ts';
import type { FunctionName } from '../support/processes/programs.ts';
import { documents } from './kinds/documents.ts';
import { type Kind, type Known, owner } from './kinds/kind.ts';
import { headers, keys, requests } from './kinds/operations.ts';
import { removals } from './kinds/removals.ts';
import { rpcs } from './kinds/rpcs.ts';
import { wire } from './kinds/wire.ts';
import { REQUESTS, sendAll } from './support/campaign.ts';
import { type FuzzedInstance, startFuzzedInstance } from './support/fuzzedInstance.ts';
import { fuzzed } from './support/report.ts';

/** What the process's memory may grow by between the middle and the end of the requests. */
const ALLOWED_GROWTH = 100_000_000;

/** A connection that has failed within a response is closed when the response is not taken in time. */
const CLOSED_MS = fixedLimits.stallMs + 20_000;

const json = ['Content-Type', 'application/json'] as const;
const exportBody = Buffer.from('{"response_output":true,"org_ids":["330000000000000001"]}');
const importBody = Buffer.from('{"data_orgs":{"orgs":[]}}');

const functions: readonly (readonly [FunctionName, (known: Known) => readonly Kind[]])[] = [
  [
    'removeOtpEmail',
    (known) => [
      removals(known),
      ...rpcs(known),
      ...wire({ method: 'DELETE', target: '/v2/users/nobody/otp_email', headers: [owner] }),
    ],
  ],
  [
    'export',
    (known) => [
      ...[requests('export'), keys('export', known), headers('export')],
      ...wire({ method: 'POST', target: '/admin/v1/export', headers: [owner, json], body: exportBody }),
    ],
  ],
  [
    'import',
    (known) => [
      ...[requests('import'), documents(known), keys('import', known), headers('import')],
      ...wire({ method: 'POST', target: '/admin/v1/import', headers: [owner, json], body: importBody }),
    ],
  ],
];

describe.each(functions)('%s', (name, kindsFor) => {
  let instance: FuzzedInstance;
  afterEach(async () => instance.remove());

  it(`responds soundly to each of ${REQUESTS} generated requests, and keeps nothing of them`, async (context) => {
    instance = await startFuzzedInstance();
    const kinds = kindsFor(instance.known);
    const before = await instance.openFiles();
    let halfMemory = 0;
    const begin = performance.now();
    const sent = await sendAll(name, instance, kinds, async () => {
      halfMemory = await instance.memory();
    });
    const minutes = (performance.now() - begin) / 60_000;
    const memory = await instance.memory();
    for (const { kind, statuses } of sent) {
      const reaches = kinds.find((one) => one.name === kind)?.reaches;
      expect(Object.keys(statuses), `statuses of ${kind}`).toEqual(expect.arrayContaining([...(reaches ?? [])]));
    }
    await expect.poll(async () => added(before, await instance.openFiles()), { timeout: CLOSED_MS }).toEqual([]);
    expect(halfMemory).toBeGreaterThan(10_000_000);
    expect(memory - halfMemory).toBeLessThan(ALLOWED_GROWTH);
    expect(await instance.lossesOfMigration()).toEqual([]);
    expect(await instance.stop()).toEqual([]);
    fuzzed(context, { name, sent, minutes, halfMemory, memory });
  });
});

/** What a list has beyond another, each as often. */
function added(before: readonly string[], after: readonly string[]): readonly string[] {
  const rest = [...before];
  return after.filter((one) => {
    const index = rest.indexOf(one);
    if (index !== -1) rest.splice(index, 1);
    return index === -1;
  });
}
