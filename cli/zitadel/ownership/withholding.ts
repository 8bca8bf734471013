// Withholding the records whose ids belong to others.

import { recordName } from '../../../shared/exportFile/comparedRecord.ts';
import { organisationSection, recordSection } from '../../../shared/organisation/sections.ts';
import { recordNoun } from '../../nouns.ts';
import { named } from '../../numberTexts.ts';
import { readEventsOf } from '../events.ts';
import type { FileLosses } from '../fileLosses.ts';
import type { ImportLedger, LedgerDocument, LedgerRecord } from '../import/ledger.ts';
import type { ZitadelConnection } from '../zitadelConnection.ts';
import { claimedId, type IdOwners } from './idOwners.ts';
import {
  decideOwnership,
  type IdOwner,
  mayReferTo,
  type OwnerConflict,
  type ReleaseFacts,
  refusesOrganisation,
} from './ownership.ts';

/** The records of a file, and the owners of their ids. */
export interface OwnedFile {
  readonly ledger: ImportLedger;
  readonly owners: IdOwners;
  readonly losses: FileLosses;
  readonly release: ReleaseFacts;
}

/**
 * Withholds all records of the organisations whose ids the ZITADEL takes no more, because the organisations were deleted:
 * release 2 would write the records into the deleted ones.
 * @param callerId the user of the token, whom the ZITADEL makes a member of each organisation that it creates
 */
export async function withholdDeleted(connection: ZitadelConnection, file: OwnedFile, callerId: string): Promise<void> {
  const { ledger, owners, losses, release } = file;
  const deleted = owners.deletedOrganisations;
  if (deleted.length === 0) return;
  const members = await readEventsOf(connection, deleted, memberEvents);
  for (const orgId of deleted) {
    const ofCaller = members.get(orgId)?.findLast(({ payload }) => payload.userId === callerId);
    const hadCaller = ofCaller?.type === MEMBER_ADDED;
    const refusal = refusesOrganisation({ isDeleted: true, hadCaller }, release);
    if (refusal === undefined) continue;
    const reason = `was deleted in the target, and ${refusalTexts[refusal]}`;
    const cause = `organisation ${named(orgId, owners.organisationName(orgId))} ${reason}`;
    ledger.refuse(orgId);
    for (const { position, section } of [...ledger.documents()].filter((document) => document.orgId === orgId)) {
      const isItself = section === organisationSection.name;
      ledger.withhold(position, isItself ? reason : `is not imported: ${cause}`, cause);
      losses.withhold(ledger.at(position).record);
    }
  }
}

const MEMBER_ADDED = 'org.member.added';
const memberEvents = {
  aggregateTypes: ['org'],
  eventTypes: [MEMBER_ADDED, 'org.member.removed', 'org.member.cascade.removed'],
};

const refusalTexts = {
  always: 'this release of ZITADEL never takes its id again: use another id, or another instance',
  formerMember:
    "the token's user was its member, and cannot become one again: import with the token of another user, who becomes its owner",
} as const;

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
    earlierInFile: `the file has the id twice, first for ${article(owner.noun)} of ${organisation}`,
    otherOwner: `${organisation} has ${article(owner.noun)} with this id`,
    otherKind: `the id belongs to ${article(owner.noun)} of its organisation`,
    deletedElsewhere: `${organisation} had ${article(owner.noun)} with this id, and this release of ZITADEL would write the record there`,
    deletedOrganisation: `the id was deleted with ${organisation}, and ZITADEL refuses it`,
  };
  return `${texts[reason]}: ${reason === 'earlierInFile' ? 'correct the file' : remedy}`;
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
