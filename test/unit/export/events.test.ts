import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mergeByOrganisation } from '../../../functions/export/exportEvents.ts';
import { compareBytes } from '../../../functions/export/selectedOrganisations.ts';
import { FileWriter } from '../../../shared/exportFile/fileWriter.ts';
import { sections } from '../../../shared/organisation/allSections.ts';
import { isList, type Section } from '../../../shared/organisation/sections/section.ts';
import type { StoredDocument } from '../../../shared/store/store.ts';

const lists = sections.filter(isList).slice(0, 3);

const orgIds = fc.uniqueArray(fc.constantFrom('1', '10', '2', 'a', 'a/b', 'B', '｡', '😀'), { maxLength: 6 });
/** For each section, how many records each organisation has, and the size of the batches of its scan. */
const contents = fc.array(
  fc.record({
    counts: fc.dictionary(fc.constantFrom('0', '1', '10', '2', 'a', '｡', '😀', '😀0'), fc.nat(4)),
    size: fc.integer({ min: 1, max: 3 }),
  }),
  { minLength: lists.length, maxLength: lists.length },
);

const sorted = (ids: readonly string[]) => ids.toSorted(compareBytes);

async function* inBatches(documents: readonly StoredDocument[], size: number): AsyncGenerator<StoredDocument[]> {
  for (let start = 0; start < documents.length; start += size) yield documents.slice(start, start + size);
}

const document = (orgId: string, body: object): StoredDocument => ({ id: orgId, orgId, body: JSON.stringify(body) });

function recordsOf(counts: Readonly<Record<string, number>>): StoredDocument[] {
  return sorted(Object.keys(counts)).flatMap((orgId) =>
    Array.from({ length: counts[orgId] ?? 0 }, (_, number) => document(orgId, { id: `${orgId} ${number}` })),
  );
}

const listOf = ({ name }: Section) => ({ name, isList: true });

/** Merges organisations with their records, and writes the events as a file. */
async function write(
  organisations: AsyncIterable<StoredDocument[]>,
  scans: readonly AsyncIterable<StoredDocument[]>[],
) {
  const writer = new FileWriter();
  const texts: string[] = [];
  const sectionScans = scans.flatMap((batches, index) => {
    const section = lists[index];
    return section === undefined ? [] : [{ section, batches }];
  });
  for await (const events of mergeByOrganisation(organisations, sectionScans)) {
    for (const event of events) {
      if (event.kind === 'organisation') writer.begin(event.document.body?.slice(0, -1) ?? '');
      else if (event.kind === 'records')
        writer.add(
          listOf(event.section),
          event.documents.map(({ body = '' }) => body),
        );
      else writer.end();
    }
    texts.push(...writer.take());
  }
  writer.finish({ version: 1 });
  texts.push(...writer.take());
  const file: unknown = JSON.parse(texts.join(''));
  return file;
}

describe('the events of an export', () => {
  it('have each record of an existing organisation once, in its section, whatever the batches', async () => {
    await fc.assert(
      fc.asyncProperty(orgIds, contents, async (ids, given) => {
        const organisations = sorted(ids).map((orgId) => document(orgId, { orgId, org: {} }));
        const scans = given.map(({ counts, size }) => inBatches(recordsOf(counts), size));
        const expected = sorted(ids).map((orgId) => {
          const entries = given.map(({ counts }, index) => [
            lists[index]?.name ?? '',
            Array.from({ length: counts[orgId] ?? 0 }, (_, number) => ({ id: `${orgId} ${number}` })),
          ]);
          return { orgId, org: {}, ...Object.fromEntries(entries.filter(([, records]) => records?.length !== 0)) };
        });
        const file = await write(inBatches(organisations, 2), scans);
        expect(file).toEqual({ orgs: expected, manifest: { version: 1 } });
      }),
    );
  });

  it('are an error for organisations in another order, whose records would be lost', async () => {
    const organisations = ['b', 'a'].map((orgId) => document(orgId, { orgId }));
    await expect(write(inBatches(organisations, 2), [])).rejects.toThrow('the organisation a is out of order');
  });

  it('are the error of a scan, and all other scans are closed', async () => {
    let open = 1;
    async function* endless() {
      try {
        for (;;) yield [document('a', { id: '1' })];
      } finally {
        open--;
      }
    }
    async function* failing(): AsyncGenerator<StoredDocument[]> {
      yield [document('a', { id: '2' })];
      throw new Error('the database is gone');
    }
    const organisations = inBatches([document('a', { orgId: 'a' })], 1);
    await expect(write(organisations, [failing(), endless()])).rejects.toThrow('the database is gone');
    expect(open).toBe(0);
  });
});
