// Excludes records from an import ("withholds" them) because their ids belong to other records in ZITADEL.

import { withArticle } from '../../../shared/errors/nouns.ts';
import { because } from '../../../shared/errors/recordIssues.ts';
import { recordSection } from '../../../shared/organisation/allSections.ts';
import { reportedIssue } from '../../../shared/organisation/relations.ts';
import { overlap, writingToFirstOwner } from '../../../shared/organisation/zitadelReleases.ts';
import type { ImportFacts } from '../../records/importFacts.ts';
import { named } from '../../terminal/numberTexts.ts';
import type { ImportLedger, LedgerDocument, LedgerIssue } from '../import/ledger.ts';
import { claimedId, type IdOwners } from './idOwners.ts';
import { decideOwnership, type IdOwner, mayReferTo, type ReleaseFacts } from './ownership.ts';

export interface OwnedFile {
  readonly ledger: ImportLedger;
  readonly owners: IdOwners;
  readonly imports: ImportFacts;
}

/**
 * Excludes all records of organisations that were deleted in ZITADEL. Release 2 would write the records into the deleted
 * organisations. Release 4.13 creates such an organisation again if the token's user was not a member of it, but then
 * refuses its records.
 */
export function withholdDeleted({ ledger, owners, imports }: OwnedFile): void {
  const issues = new Map<string, LedgerIssue>();
  for (const orgId of owners.deletedOrganisations) {
    ledger.refuse(orgId);
    issues.set(orgId, because('organisation_deleted', { organisation: organisationText(owners, orgId) }));
  }
  if (issues.size === 0) return;
  for (const { position, orgId } of [...ledger.documents()]) {
    const issue = issues.get(orgId);
    if (issue !== undefined) imports.withhold(ledger.withhold(position, issue).record);
  }
}

/**
 * Excludes each record whose id `decideOwnership` refuses, usually because another record in ZITADEL has it. Excludes
 * each record that would become a part of a record of another organisation. Then excludes all records that refer to an
 * excluded record.
 */
export function withholdForeign(file: OwnedFile): void {
  const { ledger, owners } = file;
  for (const document of ledger.documents()) withholdIfForeign(file, document);
  for (const { position, orgId, path, field } of ledger.foreignTargets()) {
    const owner = owners.ownerOf(path);
    if (owner === undefined || mayReferTo(orgId, owner)) continue;
    const id = decodeURIComponent(path.slice(path.indexOf('/') + 1));
    const organisation = organisationText(owners, owner.orgId);
    ledger.withhold(position, because('reference_foreign', { field, id, organisation }));
  }
  ledger.withholdDependents();
}

/**
 * Finds the records that refer to a user whom neither the file nor ZITADEL has. The keys of the result are the
 * positions of the records in the ledger. The values are the errors that ZITADEL will report.
 */
export function findWithoutUser({ ledger, owners }: Pick<OwnedFile, 'ledger' | 'owners'>): Map<number, LedgerIssue> {
  const issues = new Map<number, LedgerIssue>();
  for (const { position, section, path } of ledger.outsideUsers()) {
    // ZITADEL finds a user by id alone. It does not check whether the user's organisation is deleted.
    const { state = 'deleted' } = owners.ownerOf(path) ?? {};
    const reference = recordSection(section).references?.find(({ collection }) => path.startsWith(`${collection}/`));
    if (state === 'deleted' && reference !== undefined) issues.set(position, reportedIssue(reference.missing));
  }
  return issues;
}

/** Excludes a record from the import if its id has another owner. Returns this owner. */
export function withholdIfForeign(
  { ledger, owners, imports }: OwnedFile,
  { position, orgId, section, path }: LedgerDocument,
): IdOwner | undefined {
  const former = owners.ownerOf(path);
  const id = claimedId({ section: recordSection(section), orgId }, former, () => ledger.at(position).record.json);
  if (id === undefined) return undefined;
  const decision = decideOwnership(id, former, releaseFacts(imports));
  if (decision.outcome === 'free') {
    owners.claim(path, id);
    if (former?.state === 'deleted') ledger.noteDeleted(position);
  }
  if (decision.outcome !== 'refused') return undefined;
  const { reason, owner } = decision.conflict;
  const issue = because(reason, { holder: withArticle(owner.noun), owner: ownerText(owner, owners) });
  imports.withhold(ledger.withhold(position, issue).record);
  return owner;
}

function releaseFacts({ target }: ImportFacts): ReleaseFacts {
  return { writesToFirstOwner: overlap(writingToFirstOwner, target.releases) };
}

function ownerText({ orgId }: IdOwner, owners: IdOwners): string {
  return owners.organisationName(orgId) === undefined
    ? 'the instance'
    : `organisation ${organisationText(owners, orgId)}`;
}

export function organisationText(owners: IdOwners, orgId: string): string {
  return named(orgId, owners.organisationName(orgId));
}
