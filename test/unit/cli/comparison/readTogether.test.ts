import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compareSides } from '../../../../cli/comparison/compareSides.ts';
import { undisposed } from '../../../../cli/exports/fileContent.ts';
import type { DatabasePlace, ExportFile } from '../../../../cli/exports/placeInterfaces.ts';
import { CredentialTally, tallyRecords } from '../../../../cli/migrate/credentialTally.ts';
import { RunDatabase } from '../../../../cli/records/runDatabase.ts';
import { secretNames, secretSelection } from '../../../../cli/records/secretSelection.ts';
import { progressLines } from '../../../../cli/terminal/progress.ts';
import { defaultExportOptions } from '../../../../functions/export/contract.ts';
import { everySection } from '../../../support/fixtures/everySection.ts';
import { type Organisation, person } from '../../../support/fixtures/organisations.ts';
import { provedFile } from '../../../support/fixtures/provedFile.ts';
import { repetitions } from '../../../support/repetitions.ts';

const unused = () => Promise.reject(new Error('not part of a comparison'));
const output = progressLines({ write: () => true });
const { signal } = new AbortController();
const options = { ...defaultExportOptions, ...secretSelection(secretNames) };

interface GivenPlace {
  readonly bytes: Buffer;
  readonly chunkBytes?: number;
  /** Whether the place is an instance of this service, whose exports can be read at once. */
  readonly isInstance?: boolean;
}

/** Returns a place with an export, and the number of its readings. */
function placeWith({ bytes, chunkBytes = 65_536, isInstance = true }: GivenPlace): {
  place: DatabasePlace;
  readings: () => number;
} {
  let readings = 0;
  async function* open(): AsyncGenerator<Uint8Array> {
    readings++;
    for (let start = 0; start < bytes.length; start += chunkBytes) yield bytes.subarray(start, start + chunkBytes);
  }
  const content: ExportFile = {
    isRepeatable: false,
    open,
    ...(isInstance ? { once: { open, damaged: (problem) => new Error(`damaged: ${problem}`) } } : {}),
    ...undisposed,
  };
  const place: DatabasePlace = {
    takes: 'imports',
    name: 'place',
    readExport: async () => content,
    import: unused,
    organisations: unused,
    facts: unused,
  };
  return { place, readings: () => readings };
}

/** Compares two places, and returns everything that a command shows of the comparison. */
async function compared(first: DatabasePlace, second: DatabasePlace) {
  using database = new RunDatabase(options);
  const sides = { first: { place: first, options }, second: { place: second, options: () => options } };
  const comparing = { database, maxListed: 1000, explain: () => undefined, ...sides };
  const result = await compareSides(comparing, { output, signal });
  const tally = new CredentialTally({});
  for await (const _ of tallyRecords(tally, database, signal));
  const { people, withPassword, kept, others } = tally.credentials;
  const { counts, organisations, differences } = result.compared;
  return {
    counts: [...counts],
    organisations: Object.fromEntries(organisations),
    differences: differences.entries,
    listed: database.organisations(),
    people: [people, withPassword, kept, others.map(({ reason, count }) => [reason, count]).toSorted()],
    read: result.read.map((read) => ({
      orgIds: read.organisations.map(({ orgId }) => orgId),
      tally: { digest: read.tally.digest, counts: Object.entries(read.tally.counts).toSorted() },
      manifest: read.manifest,
      stated: read.stated,
    })),
  };
}

const exported = async (orgs: readonly Organisation[]) => Buffer.from(JSON.stringify(await provedFile(orgs)));

/** A change of a side: of the organisations, a list and a record, each selected by a number. */
interface Change {
  readonly kind: 'drop record' | 'move person' | 'edit text' | 'reverse list' | 'drop organisation' | 'deactivate';
  readonly at: readonly [number, number, number, number];
}

const changes: fc.Arbitrary<readonly Change[]> = fc.array(
  fc.record({
    kind: fc.constantFrom(
      'drop record',
      'move person',
      'move person',
      'edit text',
      'edit text',
      'reverse list',
      'drop organisation',
      'deactivate',
    ),
    at: fc.tuple(fc.nat(1000), fc.nat(1000), fc.nat(1000), fc.nat(1000)),
  }),
  { maxLength: 4 },
);

function pick<Value>(values: readonly Value[], at: number): Value | undefined {
  return values[at % Math.max(1, values.length)];
}

function editText(value: unknown, at: number): unknown {
  const texts = JSON.stringify(value).match(/:"(?:[^"\\]|\\.)*"/g) ?? [];
  const edited = pick(texts, at);
  return edited === undefined ? value : JSON.parse(JSON.stringify(value).replace(edited, `${edited.slice(0, -1)}x"`));
}

function listOf(org: Organisation, name: string): readonly unknown[] {
  const list = org[name];
  return Array.isArray(list) ? list : [];
}

function change(given: readonly Organisation[], { kind, at }: Change): readonly Organisation[] {
  const org = pick(given, at[0]);
  if (org === undefined) return given;
  if (kind === 'drop organisation') return given.filter((other) => other !== org);
  const put = (fields: object) => given.map((other) => (other === org ? { ...org, ...fields } : other));
  if (kind === 'move person') {
    const [moved, ...others] = listOf(org, 'humanUsers');
    const target = given.find((other) => other !== org);
    const added = { humanUsers: [...listOf(target ?? org, 'humanUsers'), moved] };
    return put({ humanUsers: others }).map((other) => (other === target ? { ...other, ...added } : other));
  }
  if (kind === 'deactivate') return put({ orgState: 'ORG_STATE_INACTIVE' });
  const [name = '', list = []] =
    pick(
      Object.entries(org).filter((field): field is [string, unknown[]] => Array.isArray(field[1])),
      at[1],
    ) ?? [];
  const index = at[2] % Math.max(1, list.length);
  if (kind === 'drop record') return put({ [name]: list.toSpliced(index, 1) });
  return put({ [name]: list.map((record, position) => (position === index ? editText(record, at[3]) : record)) });
}

const hash = { hashedPassword: { value: '$2a$10$xYu3FRwaIJ4OzeqczeLBDeSXX620POcGBmt8lfKM4RlSWsYIj.wCi' } };
const source = ['a', 'b', 'c'].map((orgId): Organisation => {
  const { humanUsers = [], ...org } = everySection(orgId, ['a', 'b']);
  const others = ['hashedPassword', '"hashedPassword":', 'Ольга'].map((userName, index) =>
    person(`${orgId}-${index}`, { userName: `${orgId} ${userName}`, ...(index === 2 ? hash : {}) }),
  );
  return { ...org, humanUsers: [...(Array.isArray(humanUsers) ? humanUsers : []), ...others] };
});

describe('two instances that are read at once', () => {
  it('are compared as two places that are read one after the other', async () => {
    const chunkBytes = fc.integer({ min: 20, max: 5_000 });
    await fc.assert(
      fc.asyncProperty(changes, changes, chunkBytes, chunkBytes, async (ofFirst, ofSecond, firstBytes, secondBytes) => {
        const first = await exported(ofFirst.reduce(change, source));
        const second = await exported(ofSecond.reduce(change, source));
        const places = (isInstance: boolean) =>
          [
            placeWith({ bytes: first, chunkBytes: firstBytes, isInstance }),
            placeWith({ bytes: second, chunkBytes: secondBytes, isInstance }),
          ] as const;
        const [one, other] = places(true);
        const [separate, separateOther] = places(false);
        expect(await compared(one.place, other.place)).toEqual(await compared(separate.place, separateOther.place));
        expect([one.readings(), other.readings()]).toEqual([1, 1]);
      }),
      { numRuns: repetitions({ few: 20, many: 2_000 }) },
    );
  });

  const edited = (edit: (text: string) => string) => (bytes: Buffer) => Buffer.from(edit(bytes.toString()));
  const damages: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
    'a record that changed on the way': edited((text) => text.replace('Ольга', 'Ольгa')),
    'a record that was lost on the way': edited((text) => text.replace(/,\{"userId":"c-2",.*?\}\}\}(?=\])/, '')),
    'invalid UTF-8': (bytes) => Buffer.from(bytes.toString('latin1').replace('First Last', 'First \xff'), 'latin1'),
    'a missing manifest': edited((text) => `${text.split(',"manifest"')[0]}}`),
    'a missing end': (bytes) => bytes.subarray(0, -1),
  };
  it.each(Object.entries(damages))('are read one after the other to find the damaged export: %s', async (_, damage) => {
    const intact = await exported(source);
    expect(damage(intact)).not.toEqual(intact);
    for (const isFirst of [true, false]) {
      const first = placeWith({ bytes: isFirst ? damage(intact) : intact });
      const second = placeWith({ bytes: isFirst ? intact : damage(intact) });
      await expect(compared(first.place, second.place)).rejects.toThrow(/^damaged: /);
      expect([first.readings(), second.readings()]).toEqual(isFirst ? [2, 1] : [2, 2]);
    }
  });
});
