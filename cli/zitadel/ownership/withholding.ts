// Withholding the records whose ids belong to others.

import { recordName } from '../../../shared/exportFile/comparedRecord.ts';
import { recordSection } from '../../../shared/organisation/sections.ts';
import { recordNoun } from '../../nouns.ts';
import { named } from '../../numberTexts.ts';
import type { FileLosses } from '../fileLosses.ts';
import type { ImportLedger, LedgerDocument, LedgerRecord } from '../import/ledger.ts';
import { claimedId, type IdOwners } from './idOwners.ts';
import { decideOwnership, type IdOwner, mayReferTo, type OwnerConflict, type ReleaseFacts } from './ownership.ts';

/** The records of a file, and the owners of their ids. */
export interface OwnedFile {
  readonly ledger: ImportLedger;
  readonly owners: IdOwners;
  readonly losses: FileLosses;
  readonly release: ReleaseFacts;
}

/**
 * Withholds each record whose id has another owner, or that would be written to a record of another organisation, and all
 * records that refer to it.
 */
export function withholdForeign(file: OwnedFile): void {
  const { ledger, owners } = file;
  for (const document of ledger.documents()) withholdIfForeign(file, document);
  for (const { position, orgId, path } of ledger.foreignTargets()) {
    const owner = owners.ownerOf(path);
    if (owner === undefined || mayReferTo(orgId, owner)) continue;
    const id = decodeURIComponent(path.slice(path.indexOf('/') + 1));
    const record = ledger.at(position);
    const reason = `it refers to ${owner.noun} ${id} of ${ownerText(owner, owners)}`;
    ledger.withhold(position, `${namePrefix(record)}is not imported: ${reason}`, `${textOf(record)} is not: ${reason}`);
  }
  ledger.withholdDependents();
}

/** Withholds a record if its id has another owner. Returns that owner. */
export function withholdIfForeign(
  { ledger, owners, release, losses }: OwnedFile,
  { position, orgId, section, path }: LedgerDocument,
): IdOwner | undefined {
  const id = claimedId({ section: recordSection(section), orgId });
  if (id === undefined) return undefined;
  const decision = decideOwnership(id, owners.ownerOf(path), release);
  if (decision.outcome === 'free') owners.claim(path, id);
  if (decision.outcome !== 'refused') return undefined;
  const record = ledger.at(position);
  const reason = conflictText(decision.conflict, owners);
  ledger.withhold(position, `${namePrefix(record)}is not imported: ${reason}`, `${textOf(record)} is not: ${reason}`);
  losses.withhold(record.record);
  return decision.conflict.owner;
}

/** Describes the reason for which a record is not sent. */
function conflictText({ reason, owner }: OwnerConflict, owners: IdOwners): string {
  const organisation = ownerText(owner, owners);
  const remedy = 'use another id, or another instance';
  const texts: Readonly<Record<OwnerConflict['reason'], string>> = {
    otherOwner: `${organisation} has ${article(owner.noun)} with this id`,
    otherKind: `the id belongs to ${article(owner.noun)} of its organisation`,
    deletedElsewhere: `${organisation} had ${article(owner.noun)} with this id, and this release of ZITADEL would write the record there`,
    deletedOrganisation: `the id was deleted with ${organisation}, and ZITADEL refuses it`,
  };
  return `${texts[reason]}: ${remedy}`;
}

function article(noun: string): string {
  return `${/^[aeiou]/.test(noun) ? 'an' : 'a'} ${noun}`;
}

function ownerText({ orgId }: Pick<IdOwner, 'orgId'>, owners: IdOwners): string {
  const name = owners.organisationName(orgId);
  return name === undefined ? 'the instance' : `organisation ${named(orgId, name)}`;
}

/** Names a record for the errors of records that refer to it. */
function textOf({ id, record }: LedgerRecord): string {
  return `${recordNoun(record.section.name)} ${named(id, recordName(record))}`;
}

function namePrefix({ record }: LedgerRecord): string {
  const name = recordName(record);
  return name === undefined ? '' : `${name} `;
}
