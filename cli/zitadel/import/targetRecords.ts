// Existing records of a ZITADEL, with which those of a file are compared.

import { defaultExportOptions } from '../../../functions/export/contract.ts';
import { firstIds, organisationsExist } from '../../../shared/errors/errors.ts';
import { Comparison } from '../../../shared/exportFile/comparison.ts';
import { inspect } from '../../../shared/exportFile/inspection.ts';
import { noSecrets } from '../../../shared/exportFile/secretSelection.ts';
import type { OrganisationRecord } from '../../../shared/organisation/record.ts';
import { reportedId } from '../../../shared/organisation/recordPlan.ts';
import { isClosed as isClosedState, stateFields } from '../../../shared/organisation/states.ts';
import { makeRepeatable } from '../../exports/fileContent.ts';
import { accepts, type PlaceImportOptions } from '../../exports/placeInterfaces.ts';
import { type ZitadelSide, zitadelReason } from '../expectedDifferences.ts';
import { type ListedOrganisations, listZitadelOrganisations, openZitadelExport } from '../export/exportContent.ts';
import { requireStates } from '../export/states.ts';
import type { FileLosses } from '../fileLosses.ts';
import type { ZitadelConnection } from '../zitadelConnection.ts';
import { importsStates, readCaller, readInstance } from '../zitadelInstance.ts';
import { mustBeClosed } from './closable.ts';

/** The existing record of a ZITADEL. */
export interface TargetRecord {
  /** Identifies the record; undefined for one that is not compared. */
  readonly key: Uint8Array | undefined;
  /** Whether its content is equal, according to the ZITADEL's exports. */
  readonly found: 'missing' | 'equal' | 'different';
  /** The paths of the fields that should not differ. */
  readonly paths: readonly string[];
  /** Whether it has no access, or is switched off. */
  readonly isClosed: boolean;
}

type ZitadelTarget = ZitadelSide & { readonly losses: FileLosses };

/** The records of organisations in a ZITADEL, with which those of a file are compared. */
export class TargetRecords implements Disposable {
  private readonly comparison: Comparison;
  private readonly zitadel: ZitadelTarget;
  /** All organisations of the ZITADEL. */
  readonly organisations: ListedOrganisations;

  /** Whether the ZITADEL imports states. */
  readonly importsStates: boolean;

  private constructor(
    organisations: ListedOrganisations,
    zitadel: ZitadelTarget,
    { withKeys, importsStates }: { readonly withKeys: boolean; readonly importsStates: boolean },
  ) {
    this.organisations = organisations;
    this.zitadel = zitadel;
    this.importsStates = importsStates;
    this.comparison = new Comparison({ ...noSecrets, withKeys }, 0);
  }

  /**
   * Reads the existing records of some organisations, without secrets: a ZITADEL never changes them, and such exports are
   * four times as fast.
   * @param losses the records that the ZITADEL cannot take
   * @throws IdentityError ORGANISATIONS_EXIST with the conflict handling `fail`
   */
  static async read(
    connection: ZitadelConnection,
    { withKeys, onConflict, accepted, timeoutMs }: PlaceImportOptions,
    orgIds: readonly string[],
    losses: FileLosses,
  ): Promise<TargetRecords> {
    const inTarget = await listZitadelOrganisations(connection);
    const existing = orgIds.filter((id) => inTarget.has(id));
    if (onConflict === 'fail' && existing.length > 0) throw organisationsExist({ orgIds: firstIds(existing) });
    const zitadel: ZitadelTarget = {
      side: 'first',
      domains: existing.length > 0 ? (await readInstance(connection)).domains : [],
      losses,
    };
    // Only a search shows who is active in releases without states.
    const hasStates = await importsStates(connection);
    const acceptsUnknown = accepts({ accepted }, 'unknown-states');
    if (!hasStates) await requireStates({ connection, acceptsUnknown }, await readCaller(connection));
    using resources = new DisposableStack();
    const target = resources.use(new TargetRecords(inTarget, zitadel, { withKeys, importsStates: hasStates }));
    if (existing.length > 0) {
      const selection = { ...defaultExportOptions, orgIds: existing, withKeys, accepted, timeoutMs };
      const content = openZitadelExport(connection, selection);
      await using exported = await makeRepeatable(content, connection.signal);
      await inspect(exported, connection.signal, { visitor: target.comparison.first });
    }
    resources.move();
    return target;
  }

  find(record: OrganisationRecord): TargetRecord {
    const { section, orgId } = record;
    const {
      key,
      first,
      fields = [],
    } = this.comparison.find(record, (id) => this.zitadel.losses.hasProvider(orgId, id));
    if (first === undefined) return { key, found: 'missing', paths: [], isClosed: false };
    const id = reportedId(record) || orgId;
    const isClosed = isClosedState(first.state?.value);
    // The import closes an open record, or reports it.
    const others =
      mustBeClosed(record) && !isClosed ? fields.filter(({ path }) => !stateFields.includes(path)) : fields;
    const difference = { outcome: 'different', section: section.name, orgId, id, fields: others } as const;
    const isEqual = others.length === 0 || zitadelReason(difference, this.zitadel) !== undefined;
    const paths = isEqual ? [] : others.map(({ path }) => path);
    return { key, found: isEqual ? 'equal' : 'different', paths, isClosed };
  }

  [Symbol.dispose](): void {
    this.comparison[Symbol.dispose]();
  }
}
