import { tokenForbidden } from '../../shared/errors/placeErrors.ts';
import type { Inspection } from '../../shared/exportFile/inspection.ts';
import type { ListedOrganisation } from '../exports/placeInterfaces.ts';
import type { MigrationRun } from './migrationRun.ts';
import type { OpenSide, OpenSides } from './openSides.ts';

export interface OtherOrganisation extends Pick<ListedOrganisation, 'orgId' | 'name'> {
  /** The evidence that the organisation came from the source. Undefined if there is no evidence. */
  readonly evidence: string | undefined;
}

/** Facts that can be evidence that an organisation came from the source. */
interface OriginFacts {
  readonly instanceId: string | undefined;
  /** The ids of deleted organisations of the source. Undefined if the source does not list deleted organisations. */
  readonly deleted: ReadonlySet<string> | undefined;
  readonly callerId: string | undefined;
}

/**
 * Lists the organisations that only the target has. Organisations that came from the source come first. If the call
 * selects organisations, the list is empty.
 * @param exported the export of the source that was made after the import
 */
export async function findOtherOrganisations(
  run: MigrationRun,
  { source, target }: OpenSides,
  { organisations, manifest }: Pick<Inspection, 'organisations' | 'manifest'>,
): Promise<readonly OtherOrganisation[]> {
  const { place, facts } = target;
  const { settings } = run;
  if (place.takes === 'files' || settings.orgIds.length > 0) return [];
  const expectedIds = new Set([
    ...organisations.map(({ orgId }) => orgId),
    ...run.exported.leftOut.map(({ orgId }) => orgId),
    facts?.defaultOrgId,
  ]);
  const listed = await run.reconnecting(() => place.organisations(run.signal));
  const others = listed.filter(({ orgId, isDeleted }) => !isDeleted && !expectedIds.has(orgId));
  if (others.length === 0) return [];
  const origin: OriginFacts = {
    instanceId: manifest?.instanceId,
    deleted: await run.reconnecting(() => deletedOrganisations(source, run.signal)),
    callerId: facts?.caller?.userId,
  };
  // If the source is a file, an organisation may be missing in it only because its exporter did not select the
  // organisation. So nothing counts as evidence.
  const evidence = (other: ListedOrganisation) =>
    source.place.takes === 'files' ? undefined : originEvidence(other, origin);
  const judged = others.map((other) => ({ orgId: other.orgId, name: other.name, evidence: evidence(other) }));
  return judged.toSorted((a, b) => Number(a.evidence === undefined) - Number(b.evidence === undefined));
}

/**
 * Returns the ids of the source's deleted organisations. Returns undefined if the source is not ZITADEL, or if the
 * token may not read deleted organisations.
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

function originEvidence(
  { orgId, importedFrom, createdBy }: Pick<ListedOrganisation, 'orgId' | 'importedFrom' | 'createdBy'>,
  { instanceId, deleted, callerId }: OriginFacts,
): string | undefined {
  if (deleted?.has(orgId) === true) return 'the source has deleted the organisation';
  if (importedFrom !== undefined && importedFrom === instanceId)
    return 'an import created the organisation from an export of the source';
  // If `deleted` is known, its ids already show which organisations came from the source. So the creator is evidence
  // only if `deleted` is unknown.
  const isByCaller = deleted === undefined && callerId !== undefined && createdBy === callerId;
  return isByCaller ? `the organisation was created by ${callerId}, whose token this migration uses` : undefined;
}
