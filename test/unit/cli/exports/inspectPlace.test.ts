import { describe, expect, it } from 'vitest';
import { undisposed } from '../../../../cli/exports/fileContent.ts';
import { inspectPlace } from '../../../../cli/exports/inspectPlace.ts';
import { withManifest } from '../../../../cli/exports/manifestEnd.ts';
import type { Place } from '../../../../cli/exports/placeInterfaces.ts';
import { progressLines } from '../../../../cli/terminal/progress.ts';
import { defaultExportOptions } from '../../../../functions/export/contract.ts';
import { organisation, person } from '../../../support/fixtures/organisations.ts';

const context = { output: progressLines({ write: () => {} }), signal: new AbortController().signal };
const orgs = [organisation('acme', { humanUsers: [person('ada'), person('bob')] })];

/** The sections of its records, in the order in which they are read. */
const SECTIONS = ['humanUsers', 'humanUsers', 'org'];

async function* bytesOf(value: object): AsyncGenerator<Uint8Array> {
  yield Buffer.from(JSON.stringify(value));
}

/** An export with a manifest, in pieces. */
async function* exported(): AsyncGenerator<Uint8Array> {
  yield* withManifest(bytesOf({ orgs }), context.signal, ({ tally: { counts, digest } }) => ({
    version: 1,
    instance: 'north',
    readTime: '2026-11-24T08:00:00.000Z',
    counts,
    digest,
  }));
}

/** A place whose export fails if it is opened for a reader that does not validate it. */
function placeOf(open: () => AsyncIterable<Uint8Array>): Place {
  const opened = () => {
    throw new Error('the export was validated twice');
  };
  const damaged = (problem: string) => new Error(`damaged: ${problem}`);
  const content = { isRepeatable: false, open: opened, once: { open, damaged }, ...undisposed };
  return { takes: 'files', name: 'north', readExport: async () => content, store: opened };
}

/** Collects the sections of records. */
function collector() {
  const found: string[] = [];
  const add = ({ section }: { readonly section: { readonly name: string } }) => void found.push(section.name);
  return { found, add, reset: () => void found.splice(0) };
}

describe('an export that its reader validates', () => {
  it('is read once, without a copy', async () => {
    const visitor = collector();
    let opened = 0;
    const place = placeOf(() => {
      opened++;
      return exported();
    });
    const read = await inspectPlace(place, defaultExportOptions, context, { visitor });
    expect({ opened, proved: read.proved }).toEqual({ opened: 1, proved: true });
    expect(read.counts).toEqual({ humanUsers: 2 });
    expect(read.bytes).toBeGreaterThan(JSON.stringify({ orgs }).length);
    expect(visitor.found).toEqual(SECTIONS);
  });

  it.each([
    ['has no manifest', () => bytesOf({ orgs }), /^damaged: .*manifest: missing/],
    ['ends early', () => bytesOf({ orgs: [], manifest: { counts: { orgs: 1 }, digest: '' } }), /^damaged: .*manifest/],
    [
      'has records before an id',
      () => bytesOf({ orgs: [{ humanUsers: [person('ada')], orgId: 'acme' }] }),
      /^damaged: .*precede/,
    ],
  ])('is damaged if it %s', async (_, open, message) => {
    await expect(inspectPlace(placeOf(open), defaultExportOptions, context, {})).rejects.toThrow(message);
  });

  it('leaves nothing of an interrupted reading to the next one', async () => {
    const visitor = collector();
    async function* cut(): AsyncGenerator<Uint8Array> {
      yield Buffer.from(JSON.stringify({ orgs }).slice(0, -1));
      throw new Error('the connection was lost');
    }
    await expect(inspectPlace(placeOf(cut), defaultExportOptions, context, { visitor })).rejects.toThrow('lost');
    expect(visitor.found).not.toEqual([]);
    await inspectPlace(placeOf(exported), defaultExportOptions, context, { visitor });
    expect(visitor.found).toEqual(SECTIONS);
  });
});
