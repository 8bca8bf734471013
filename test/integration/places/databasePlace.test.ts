import { describe, expect, it, vi } from 'vitest';
import { undisposed } from '../../../cli/exports/fileContent.ts';
import type { ExportFile, ImportMeter, PlaceImportOptions } from '../../../cli/exports/placeInterfaces.ts';
import { openDatabase, thisService } from '../../../cli/places/databasePlace.ts';
import { inProcess } from '../../../cli/places/inProcess.ts';
import { openServer } from '../../../cli/places/instancePlace.ts';
import { defaultExportOptions } from '../../../functions/export/contract.ts';
import { importRequest } from '../../../functions/import/contract.ts';
import { systemAccount } from '../../../shared/audit/openAudit.ts';
import { bcryptCosts } from '../../../shared/bcryptCosts.ts';
import { IdentityError } from '../../../shared/errors/identityError.ts';
import { openExistingStore } from '../../../shared/store/openStore.ts';
import type { Store } from '../../../shared/store/store.ts';
import { eventsIn } from '../../support/audit/storedTrail.ts';
import { identityJson } from '../../support/command.ts';
import { collect } from '../../support/fixtures/bytes.ts';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { databaseOptions, placeOfLocation } from '../../support/places/locations.ts';
import { sqlite } from '../../support/stores/stores.ts';

const { timeout: _, ...defaultOptions } = importRequest.parse({});
const options: PlaceImportOptions = { ...defaultExportOptions, ...defaultOptions };
const meter: ImportMeter = { onPhase() {}, onWait() {}, onExcess() {}, onRetry() {} };
const { signal } = new AbortController();

/** A new database as a place, and the events of its audit trail without those of its creation. */
async function newDatabase() {
  const location = await sqlite.newLocation();
  await identityJson(['init', ...databaseOptions(location)]);
  const created = (await eventsIn(location.directory ?? '')).length;
  const events = async () => (await eventsIn(location.directory ?? '')).slice(created);
  const place = openDatabase({ name: placeOfLocation(location), location, bcryptCost: bcryptCosts.default });
  return { location, place, events };
}

/** A file, and the number of its readings so far. */
function fileOf(orgs: readonly object[]): ExportFile & { readings: number } {
  const file = {
    readings: 0,
    isRepeatable: true,
    async *open() {
      file.readings++;
      yield Buffer.from(JSON.stringify({ orgs }));
    },
    ...undisposed,
  };
  return file;
}

describe('a database as a place', () => {
  it('has the account of the operating system on record for each call, and no token', async () => {
    const { place, events } = await newDatabase();
    await place.import(fileOf([organisation('acme')]), options, meter, signal);
    await using file = await place.readExport(defaultExportOptions, signal);
    expect(String(await collect(file.open(signal)))).toContain('"orgId":"acme"');
    const caller = { account: systemAccount() };
    const recorded = await events();
    expect(recorded.map(({ event, outcome }) => `${event} ${outcome}`)).toEqual([
      'import.started started',
      'import.finished ok',
      'export.started started',
      'export.finished ok',
    ]);
    for (const event of recorded) expect(event).toMatchObject(caller);
    expect(JSON.stringify(recorded)).not.toMatch(/userId|tokenId/);
    // A manifest names the caller of an export that has a token.
    await using again = await place.readExport(defaultExportOptions, signal);
    expect(String(await collect(again.open(signal)))).not.toContain('exportedBy');
  });

  it('reads a file that can be read repeatedly from its place, without a copy', async () => {
    const { place } = await newDatabase();
    const file = fileOf([organisation('acme', { humanUsers: [person('ada')] })]);
    await place.import(file, options, meter, signal);
    expect(file.readings).toBeGreaterThan(1);
  });

  it('accepts longer selections and timeouts than an instance at an address', async () => {
    const { place } = await newDatabase();
    const orgIds = Array.from({ length: 2_000 }, (_, index) => `organisation-${index}`);
    const file = fileOf([organisation('organisation-1999'), organisation('other')]);
    const response = await place.import(file, { ...options, orgIds, timeoutMs: 1e10 }, meter, signal);
    expect(response.summary).toMatchObject({ created: { org: 1 }, notCarried: { org: 1 } });
  });

  const people = Array.from({ length: 3_000 }, (_, index) => person(`person-${index}`));
  const file = fileOf([organisation('acme', { humanUsers: people })]);
  const reason = new Error('interrupted');

  it('ends an interrupted import on record before it closes the database', async () => {
    const { place, events } = await newDatabase();
    const interrupt = new AbortController();
    const onPhase: ImportMeter['onPhase'] = (phase) => {
      if (phase === 'importing') interrupt.abort(reason);
    };
    const interrupted = { ...meter, onPhase };
    await expect(place.import(file, options, interrupted, interrupt.signal)).rejects.toBe(reason);
    expect((await events()).map(({ event, outcome }) => `${event} ${outcome}`)).toEqual([
      'import.started started',
      'import.finished CANCELLED',
    ]);
  });

  it.each([
    ['that is interrupted', true, reason],
    ['that is not read to its end', false, undefined],
  ])('ends an export %s on record before it closes the database', async (_what, isInterrupted, error) => {
    const { place, events } = await newDatabase();
    await place.import(file, options, meter, signal);
    const interrupt = new AbortController();
    await using exported = await place.readExport(defaultExportOptions, signal);
    const reading = async () => {
      for await (const _ of exported.open(interrupt.signal)) {
        if (!isInterrupted) return;
        interrupt.abort(reason);
      }
    };
    expect(await reading().catch((reported: unknown) => reported)).toBe(error);
    expect((await events()).slice(2).map(({ event, outcome }) => `${event} ${outcome}`)).toEqual([
      'export.started started',
      'export.finished CANCELLED',
    ]);
  });

  it('fails with the error of the file that it imports', async () => {
    const { place, events } = await newDatabase();
    const failure = new IdentityError({ code: 'UNAVAILABLE', text: 'the source broke off' });
    async function* open() {
      yield Buffer.from('{"orgs":[');
      throw failure;
    }
    const file = { isRepeatable: true, open, ...undisposed };
    await expect(place.import(file, options, meter, signal)).rejects.toBe(failure);
    expect(await events()).toEqual([]);
  });

  it('fails with the cause of an unexpected error, which is not logged', async () => {
    const { location } = await newDatabase();
    await using opened = await openExistingStore(location).then((store) => ({
      store,
      [Symbol.asyncDispose]: () => store.close(),
    }));
    const cause = new TypeError('a fault');
    const store: Store = { ...opened.store, snapshot: () => Promise.reject(cause), forCall: () => store };
    const server = inProcess('north', async () => ({ store, location, ...undisposed }));
    const place = openServer(server, thisService);
    const log = vi.spyOn(process.stderr, 'write');
    const importing = place.import(fileOf([organisation('acme')]), { ...options, dryRun: true }, meter, signal);
    await expect(importing).rejects.toMatchObject({ cause });
    await using file = await place.readExport(defaultExportOptions, signal);
    await expect(collect(file.open(signal))).rejects.toMatchObject({ cause });
    expect(log).not.toHaveBeenCalled();
  });
});
