import { possibleClaimKeys } from '../organisation/claimKeys.ts';
import { readRecord, toRecord } from '../organisation/record.ts';
import { isInSection, type Section } from '../organisation/section.ts';
import { organisationSection, sections } from '../organisation/sections.ts';
import { type DocumentKey, documentPath, type StoredDocument, type Transaction } from '../store/store.ts';

/** A stored record that may have claims. */
export interface Claimant {
  readonly key: DocumentKey;
  readonly section: Section;
  readonly stored: StoredDocument;
}

/** Returns a stored record with its section, if its partition is a section's. */
export function toClaimants({ key, stored }: Omit<Claimant, 'section'>): Claimant[] {
  const section = sections.find((one) => isInSection(stored.partition, one));
  return section === undefined ? [] : [{ key, section, stored }];
}

/** Finds the claims of records' unique names. */
export async function findClaims(transaction: Transaction, claimants: readonly Claimant[]): Promise<DocumentKey[]> {
  const candidates = claimants.flatMap(({ key, section, stored: { body = '{}', orgId = '' } }) => {
    if (section.unique === undefined) return [];
    const json = JSON.parse(body);
    const record =
      section === organisationSection ? toRecord(section, json, orgId, false) : readRecord(section, json, orgId);
    return possibleClaimKeys(record).map((claim) => ({ claim, owner: documentPath(key) }));
  });
  const claims = await transaction.getMany(
    candidates.map(({ claim }) => claim),
    ['ownerId'],
  );
  return candidates.flatMap(({ claim, owner }, index) => (claims[index]?.ownerId === owner ? [claim] : []));
}
