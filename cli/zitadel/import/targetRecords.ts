// Reads the existing records of ZITADEL, and compares the records of a file with them.

import { defaultExportOptions } from '../../../functions/export/contract.ts';
import { firstIds, organisationsExist } from '../../../shared/errors/errors.ts';
import { inspect } from '../../../shared/exportFile/inspection.ts';
import type { FieldDifference } from '../../../shared/organisation/equality.ts';
import { reportedId } from '../../../shared/organisation/recordPlan.ts';
import { isClosed as isClosedState, stateFields } from '../../../shared/organisation/states.ts';
import { haveStates } from '../../../shared/organisation/zitadelReleases.ts';
import { makeRepeatable } from '../../exports/fileContent.ts';
import { accepts, type PlaceImportOptions } from '../../exports/placeInterfaces.ts';
import type { RunDatabase } from '../../records/runDatabase.ts';
import { type ZitadelSide, zitadelReason } from '../expectedDifferences.ts';
import { type ListedOrganisations, listZitadelOrganisations, openZitadelExport } from '../export/exportContent.ts';
import { requireStates } from '../export/omittedStates.ts';
import { type DoomedRecords, differsByDoomed } from '../mirror/doomedRecords.ts';
import type { ZitadelConnection } from '../zitadelConnection.ts';
import { readCaller, readInstance } from '../zitadelInstance.ts';
import { mustBeClosed } from './closable.ts';
import type { LedgerRecord } from './ledger.ts';

/** The record of ZITADEL that corresponds to a record of a file. */
export interface TargetRecord {
  /** Whether ZITADEL has the record, and whether the content is equal, according to ZITADEL's export. */
  readonly found: 'missing' | 'equal' | 'different';
  /** The paths of the fields that differ for no known reason. */
  readonly paths: readonly string[];
  /** Whether the record in ZITADEL is inactive, or is a user who cannot log in. */
  readonly isClosed: boolean;
}

/**
 * The existing records of ZITADEL, as the second side of a run database. The import compares the records of a file with
 * them.
 */
export class TargetRecords {
  private readonly database: RunDatabase;
  readonly zitadel: ZitadelSide;
  /** The records that the import deletes. */
  doomed: DoomedRecords = new Map();
  /** All organisations of ZITADEL. */
  readonly organisations: ListedOrganisations;

  private constructor(database: RunDatabase, zitadel: ZitadelSide, organisations: ListedOrganisations) {
    this.database = database;
    this.zitadel = zitadel;
    this.organisations = organisations;
  }

  /**
   * Reads the existing records of the given organisations, without secrets. An import never changes existing secrets in
   * ZITADEL, and exports without secrets are four times as fast.
   * @param database receives the records, unless it already contains them completely
   * @throws IdentityError ORGANISATIONS_EXIST with the conflict handling `fail`
   */
  static async read(
    connection: ZitadelConnection,
    { withKeys, onConflict, accepted, timeoutMs }: PlaceImportOptions,
    orgIds: readonly string[],
    database: RunDatabase,
  ): Promise<TargetRecords> {
    const organisations = await listZitadelOrganisations(connection);
    const existing = orgIds.filter((id) => organisations.has(id));
    if (onConflict === 'fail' && existing.length > 0) throw organisationsExist({ orgIds: firstIds(existing) });
    const domains = existing.length > 0 ? (await readInstance(connection)).domains : [];
    // In the exports of releases without states, all records look active. Only a search returns the states.
    const { imports } = database;
    const { releases } = imports.target;
    const acceptsUnknown = accepts({ accepted }, 'unknown-states');
    if (!haveStates(releases)) await requireStates({ connection, acceptsUnknown }, await readCaller(connection));
    // ZITADEL reports records that appear later as existing. The import then reads these records.
    if (!database.isSecondComplete) database.second.reset();
    if (!database.isSecondComplete && existing.length > 0) {
      const selection = { ...defaultExportOptions, orgIds: existing, withKeys, accepted, timeoutMs };
      const content = openZitadelExport(connection, selection);
      await using exported = await makeRepeatable(content, connection.signal);
      await inspect(exported, connection.signal, { visitor: database.second });
    }
    return new TargetRecords(database, { side: 'second', releases, domains, imports }, organisations);
  }

  find({ key, record }: Pick<LedgerRecord, 'key' | 'record'>): TargetRecord {
    const { section, orgId } = record;
    const shared = key === null ? undefined : this.database.find(key);
    if (shared === undefined) return { found: 'missing', paths: [], isClosed: false };
    const { second, fields } = shared;
    const id = reportedId(record) || orgId;
    const isClosed = isClosedState(second.state?.value);
    // Ignores differences that the import handles elsewhere: it closes an open record or reports it. ZITADEL itself
    // removes references to records that the import deletes.
    const isSettled = (field: FieldDifference) =>
      (mustBeClosed(record) && !isClosed && stateFields.includes(field.path)) ||
      differsByDoomed(record, field, this.doomed);
    const others = fields.filter((field) => !isSettled(field));
    const difference = { outcome: 'different', section: section.name, orgId, id, fields: others } as const;
    const isEqual = others.length === 0 || zitadelReason(difference, this.zitadel) !== undefined;
    const paths = isEqual ? [] : others.map(({ path }) => path);
    return { found: isEqual ? 'equal' : 'different', paths, isClosed };
  }
}
