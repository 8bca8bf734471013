import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { splitFile } from '../../../../cli/exports/splitFile.ts';
import { inspect } from '../../../../shared/exportFile/inspection.ts';
import { everySection } from '../../../support/fixtures/everySection.ts';
import { organisation, person } from '../../../support/fixtures/organisations.ts';

const signal = new AbortController().signal;
const partOfFile = z.object({ orgs: z.array(z.looseObject({ orgId: z.string() })) });

/** Splits a file that arrives in small chunks. */
async function split(orgs: readonly object[], maxBytes: number, isSelected = (_orgId: string) => true) {
  const bytes = Buffer.from(JSON.stringify({ unknown: 1, orgs }));
  const read = () => chunks(bytes);
  return Array.fromAsync(
    splitFile(read, { maxBytes, isSelected, manifest: undefined, leavesOut: () => false, tooLarge }),
  );
}

const tooLarge = (orgId: string) => new Error(`${orgId} is too large`);

async function* chunks(bytes: Buffer): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < bytes.length; start += 1_000) yield bytes.subarray(start, start + 1_000);
}

const inspectBytes = (bytes: Uint8Array) => inspect({ open: () => chunks(Buffer.from(bytes)) }, signal);
const entriesOf = ({ bytes }: { readonly bytes: Uint8Array }) =>
  partOfFile.parse(JSON.parse(Buffer.from(bytes).toString())).orgs;

describe('the parts of an export file', () => {
  const people = Array.from({ length: 100 }, (_, number) => person(`P${number}`));
  const orgs = [everySection('a', ['b']), organisation('large', { humanUsers: people }), everySection('b', ['a'])];

  it('have all records of the file, each part with its own manifest and within the limit', async () => {
    const parts = await split(orgs, 20_000);
    expect(parts.length).toBeGreaterThan(2);
    const inspected = await Promise.all(parts.map(({ bytes }) => inspectBytes(bytes)));
    for (const { proved } of inspected) expect(proved).toBe(true);
    for (const { bytes } of parts) expect(bytes.byteLength).toBeLessThanOrEqual(20_000);
    const { counts } = await inspectBytes(Buffer.from(JSON.stringify({ orgs })));
    const sums = inspected.reduce<Record<string, number>>((sum, one) => {
      for (const [name, count] of Object.entries(one.counts)) sum[name] = (sum[name] ?? 0) + count;
      return sum;
    }, {});
    expect(sums).toEqual(counts);
  });

  it('begin with the settings of all organisations, and end with grants', async () => {
    const parts = await split(orgs, 20_000);
    const fields = parts.flatMap(entriesOf).map(({ orgId, ...entry }) => `${orgId}: ${Object.keys(entry)[0]}`);
    expect(fields.slice(0, 3)).toEqual(['a: org', 'large: org', 'b: org']);
    expect(fields.slice(-2).every((field) => /userGrants|projectGrantMembers/.test(field))).toBe(true);
  });

  it('are a single one if the file fits, and none if nothing is selected', async () => {
    expect(await split([organisation('a')], 20_000)).toHaveLength(1);
    expect(await split(orgs, 20_000, () => false)).toEqual([]);
    const selected = await split(orgs, 20_000, (orgId) => orgId === 'large');
    expect(new Set(selected.flatMap(({ orgIds }) => [...orgIds]))).toEqual(new Set(['large']));
  });

  it('keep the id of an organisation that follows its records, or that has no other field', async () => {
    const { orgId, ...rest } = organisation('late', { humanUsers: [person('ada')] });
    const parts = await split([{ ...rest, org_id: orgId }, { orgId: 'empty' }], 20_000);
    expect(parts.flatMap(entriesOf).map((entry) => entry.orgId)).toEqual(['late', 'empty', 'late']);
  });

  it('are not made if the settings of one organisation alone are too large', async () => {
    const texts = Array.from({ length: 40 }, (_, number) => ({
      projectId: `${number}`,
      project: { name: `${number}` },
    }));
    const large = organisation('large', { projects: texts });
    await expect(split([large], 1_000)).rejects.toThrow('large is too large');
  });
});
