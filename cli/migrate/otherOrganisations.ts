// Finds the organisations that only the target of a migration has.

import { tokenForbidden } from '../../shared/errors/placeErrors.ts';
import type { Inspection } from '../../shared/exportFile/inspection.ts';
import type { ListedOrganisation } from '../exports/placeInterfaces.ts';
import type { MigrationRun } from './migrationRun.ts';
import type { OpenSide, OpenSides } from './openSides.ts';

/** An organisation that only the target has. */
export interface OtherOrganisation extends Pick<ListedOrganisation, 'orgId' | 'name'> {
  /** The reason why the organisation must have come from the source. Undefined if there is no evidence. */
  readonly evidence: string | undefined;
}

/** Facts that show whether an organisation of the target came from the source. */
interface OriginFacts {
  /** The id of the source's instance, if known. */
  readonly instanceId: string | undefined;
  /** The ids of the organisations that the source has deleted. Undefined if the source does not list them. */
  readonly deleted: ReadonlySet<string> | undefined;
  /** The user of the target's token, if known. */
  readonly callerId: string | undefined;
}

/**
 * Lists the organisations that only the target has, and begins with organisations that came from the source. Returns no
 * organisations if the migration selects some.
 * @param exported the source's export after the migration
 */
export async function findOtherOrganisations(
  run: MigrationRun,
  { source, target }: OpenSides,
  { organisations, manifest }: Pick<Inspection, 'organisations' | 'manifest'>,
): Promise<readonly OtherOrganisation[]> {
  const { place, facts } = target;
  const { settings } = run;
  if (place.takes === 'files' || settings.orgIds.length > 0) return [];
  const known = new Set([
    ...organisations.map(({ orgId }) => orgId),
    ...run.exported.leftOut.map(({ orgId }) => orgId),
    facts?.defaultOrgId,
  ]);
  const listed = await run.reconnecting(() => place.organisations(run.signal));
  const others = listed.filter(({ orgId, isDeleted }) => !isDeleted && !known.has(orgId));
  if (others.length === 0) return [];
  const origin: OriginFacts = {
    instanceId: manifest?.instanceId,
    deleted: await run.reconnecting(() => deletedOrganisations(source, run.signal)),
    callerId: facts?.caller?.userId,
  };
  // If the source is a file, returns no evidence: the file's exporter may have selected only some organisations.
  const evidence = (other: ListedOrganisation) =>
    source.place.takes === 'files' ? undefined : originEvidence(other, origin);
  const judged = others.map((other) => ({ orgId: other.orgId, name: other.name, evidence: evidence(other) }));
  return judged.toSorted((a, b) => Number(a.evidence === undefined) - Number(b.evidence === undefined));
}

/**
 * Returns the ids of the organisations that ZITADEL has deleted. Undefined if the source is not ZITADEL or the token
 * lacks the permission.
 */
async function deletedOrganisations({ place, kind }: OpenSide, signal: AbortSignal): Promise<Set<string> | undefined> {
  if (place.takes === 'files' || kind !== 'zitadel') return undefined;
  try {
    const listed = await place.organisations(signal);
    return new Set(listed.flatMap(({ orgId, isDeleted }) => (isDeleted ? [orgId] : [])));
  } catch (error) {
    if (tokenForbidden.is(error)) return undefined;
    throw error;
  }
}

/**
 * Returns the reason why an organisation of the target must have come from the source. Undefined if there is no
 * evidence.
 */
function originEvidence(
  { orgId, importedFrom, createdBy }: Pick<ListedOrganisation, 'orgId' | 'importedFrom' | 'createdBy'>,
  { instanceId, deleted, callerId }: OriginFacts,
): string | undefined {
  if (deleted?.has(orgId) === true) return 'the source has deleted it';
  if (importedFrom !== undefined && importedFrom === instanceId)
    return 'created by an import of an export of the source';
  // If the source is ZITADEL, `deleted` lists deleted organisations, so the creator is not needed as evidence.
  const isByCaller = deleted === undefined && callerId !== undefined && createdBy === callerId;
  return isByCaller ? `created there by ${callerId}, the user of the token of this migration` : undefined;
}
