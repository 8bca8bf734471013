import { openSnapshot } from '../../functions/export/openSnapshot.ts';
import { exportOrganisations } from '../../functions/export/operation.ts';
import { importFacts } from '../../functions/import/auditFacts.ts';
import type { ImportResponse } from '../../functions/import/contract.ts';
import { type InspectedFile, importOrganisations } from '../../functions/import/operation.ts';
import { uniqueStamp } from '../../functions/import/uniqueStamp.ts';
import packageJson from '../../package.json' with { type: 'json' };
import { IdentityError } from '../../shared/errors/identityError.ts';
import { placeRefused } from '../../shared/errors/placeErrors.ts';
import { callSignal } from '../../shared/http/deadline.ts';
import { describeInstance } from '../../shared/instance.ts';
import { openExistingStore } from '../../shared/store/openStore.ts';
import { storeForCall } from '../../shared/store/store.ts';
import { account, auditedExport } from './auditedExport.ts';
import { openParts } from './databaseParts.ts';
import { type DatabaseSettings, openResources } from './databaseResources.ts';
import { ownLosses } from './instanceFacts.ts';
import type { DatabasePlace, ExportContent, ExportOptions, ImportMeter, ImportOptions } from './place.ts';
import type { PlaceFacts } from './placeFacts.ts';
import { repeatable } from './repeatable.ts';

/**
 * Opens an instance's database as a place: the use cases of the operations run in this process, without server and token.
 * Each call is on record in the instance's audit trail.
 */
export function openDatabase(settings: DatabaseSettings): DatabasePlace {
  return {
    takes: 'imports',
    name: settings.name,
    readExport: (options) => readContent(settings, options),
    import: (content, options, meter, signal) => importInto(settings, content, options, meter, signal),
    // The embedded database keeps no earlier state.
    ...(settings.location.kind === 'firestore' && {
      openParts: (options, readTime, signal) => openParts(settings, options, readTime, signal),
    }),
    facts: () => readFacts(settings),
  };
}

async function readContent(settings: DatabaseSettings, options: ExportOptions): Promise<ExportContent> {
  const { store, audit, resources } = await openResources(settings);
  async function* bytes(signal: AbortSignal): AsyncGenerator<Uint8Array> {
    using call = callSignal(signal, options.timeoutMs);
    await using snapshot = await openSnapshot(
      storeForCall(store, { signal: call.signal }),
      options.timeoutMs,
      call.signal,
    );
    const exported = exportOrganisations(snapshot, options, await describeInstance(snapshot), call.signal);
    yield* auditedExport(audit, exported, options);
  }
  return { isRepeatable: false, open: bytes, [Symbol.asyncDispose]: () => resources.disposeAsync() };
}

/** Reads what the database says of its instance. Whoever may open it, may export and import. */
async function readFacts({ location }: DatabaseSettings): Promise<PlaceFacts> {
  const store = await openExistingStore(location);
  try {
    return {
      service: 'identity',
      version: packageJson.version,
      ...(await describeInstance(store)),
      domains: [],
      caller: undefined,
      mayExport: true,
      mayImport: true,
      clockAheadMs: undefined,
      limits: [],
      exportLosses: ownLosses,
      importChanges: [],
    };
  } finally {
    await store.close();
  }
}

async function importInto(
  settings: DatabaseSettings,
  content: ExportContent,
  options: ImportOptions,
  meter: ImportMeter,
  signal: AbortSignal,
): Promise<ImportResponse> {
  const { store, audit, resources } = await openResources(settings);
  await using _resources = resources;
  await using file = await repeatable(content, signal);
  using call = callSignal(signal, options.timeoutMs);
  const source = { open: (readSignal: AbortSignal) => file.open(readSignal) };
  const audited = audit.call('import', {});
  const onInspected = (inspected: InspectedFile) => {
    meter.onStarted(() => sum(inspected.totals()));
    const facts = { ...importFacts(options, source, inspected), ...account() };
    return audited.begin(facts, () => ({ counts: inspected.totals() }));
  };
  const bulk = storeForCall(store, { signal: call.signal, isBulk: true });
  const { passwordHashing } = settings;
  try {
    const all = { ...options, passwordHashing, onInspected };
    return await audited.run(() => importOrganisations(bulk, source, all, uniqueStamp(new Date()), call.signal));
  } catch (error) {
    const isInvalid = error instanceof IdentityError && error.code === 'INVALID_ARGUMENT';
    throw isInvalid ? placeRefused(settings.name, error.message) : error;
  }
}

function sum(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((total, count) => total + count, 0);
}
