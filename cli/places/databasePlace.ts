// A database as a place, without a server.

import { exportFacts, progressFacts, recordEnd } from '../../functions/export/auditFacts.ts';
import { exportOrganisations, type OrganisationExport, openSnapshot } from '../../functions/export/operation.ts';
import { importFacts } from '../../functions/import/auditFacts.ts';
import type { InspectedFile } from '../../functions/import/context.ts';
import type { ImportResponse } from '../../functions/import/contract.ts';
import { importOrganisations } from '../../functions/import/operation.ts';
import { uniqueStamp } from '../../functions/import/stamp.ts';
import packageJson from '../../package.json' with { type: 'json' };
import type { Audit } from '../../shared/audit/audit.ts';
import { openAudit, systemAccount } from '../../shared/audit/openAudit.ts';
import { total } from '../../shared/collections/counts.ts';
import type { Config } from '../../shared/config.ts';
import { callSignal } from '../../shared/http/deadline.ts';
import { describeInstance } from '../../shared/store/instance.ts';
import { openExistingStore, type StoreLocation } from '../../shared/store/openStore.ts';
import { storeForCall } from '../../shared/store/store.ts';
import { makeRepeatable } from '../exports/fileContent.ts';
import { countSettled } from '../exports/importOutcomes.ts';
import { listExportedOrganisations } from '../exports/listOrganisations.ts';
import {
  type DatabasePlace,
  type ExportFile,
  type ImportMeter,
  type PlaceExportOptions,
  type PlaceFacts,
  type PlaceImportOptions,
  requireNoneForZitadel,
} from '../exports/placeInterfaces.ts';
import { asRefusal } from '../serverErrors.ts';
import { ownLosses } from './instancePlace.ts';

/**
 * Opens an instance's database as a place: the use cases of the operations run in this process, without server and token.
 * The instance's audit trail records each call.
 */
export function openDatabase(settings: DatabaseSettings): DatabasePlace {
  return {
    takes: 'imports',
    name: settings.name,
    readExport: (options) => exportFromDatabase(settings, options),
    import: (content, options, meter, signal) => importIntoDatabase(settings, content, options, meter, signal),
    organisations: (signal) => listExportedOrganisations((options) => exportFromDatabase(settings, options), signal),
    facts: () => readDatabaseFacts(settings),
  };
}

async function exportFromDatabase(settings: DatabaseSettings, options: PlaceExportOptions): Promise<ExportFile> {
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

/** Reads the facts about a database's instance. All operations are permitted. */
async function readDatabaseFacts({ location }: DatabaseSettings): Promise<PlaceFacts> {
  const store = await openExistingStore(location);
  try {
    return {
      service: 'identity',
      version: packageJson.version,
      ...(await describeInstance(store)),
      denied: [],
      exportLosses: ownLosses,
    };
  } finally {
    await store.close();
  }
}

async function importIntoDatabase(
  settings: DatabaseSettings,
  content: ExportFile,
  options: PlaceImportOptions,
  meter: ImportMeter,
  signal: AbortSignal,
): Promise<ImportResponse> {
  requireNoneForZitadel(options);
  meter.onBegun('reading');
  const { store, audit, resources } = await openResources(settings);
  await using _resources = resources;
  await using file = await makeRepeatable(content, signal);
  using call = callSignal(signal, options.timeoutMs);
  const source = { open: (readSignal: AbortSignal) => file.open(readSignal) };
  const audited = audit.call('import', {});
  const onInspected = (inspected: InspectedFile) => {
    meter.onStarted(() => {
      const { records, total: all } = inspected.progress();
      return { ...countSettled(records), total: total(all) };
    });
    const facts = { ...importFacts(options, source, inspected), ...account() };
    return audited.begin(facts, () => ({ counts: inspected.totals() }));
  };
  const bulk = storeForCall(store, { signal: call.signal, isBulk: true });
  const { passwordHashing } = settings;
  try {
    const all = { ...options, passwordHashing, onInspected, onWait: meter.onWait };
    return await audited.run(() => importOrganisations(bulk, source, all, uniqueStamp(new Date()), call.signal));
  } catch (error) {
    throw asRefusal(settings.name, error);
  }
}

/** Returns the account that the audit trail records instead of a token. */
function account() {
  return { account: systemAccount() };
}

/** Yields an export's bytes, and records the export in the audit trail. */
async function* auditedExport(
  audit: Audit,
  exported: OrganisationExport,
  options: PlaceExportOptions,
): AsyncGenerator<Uint8Array> {
  const audited = audit.call('export', {});
  const facts = { ...exportFacts({ ...options, responseOutput: true }, undefined), ...account() };
  await audited.begin(facts, (isComplete) => progressFacts({ export: exported, object: undefined }, isComplete));
  yield* recordEnd(exported.bytes, audited);
}

/** A database, and the hashing of clear passwords. */
export interface DatabaseSettings extends Pick<Config, 'passwordHashing'> {
  readonly name: string;
  readonly location: StoreLocation;
}

/** Opens the store and the audit trail of a call. */
async function openResources({ location }: DatabaseSettings) {
  await using resources = new AsyncDisposableStack();
  const store = await openExistingStore(location);
  resources.defer(() => store.close());
  const audit = openAudit(store, { storeLocation: location }, process.stderr);
  resources.defer(() => audit.close());
  return { store, audit, resources: resources.move() };
}
