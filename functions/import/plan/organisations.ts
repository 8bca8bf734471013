import type { Manifest } from '../../../shared/exportFile/manifest.ts';
import type { OrganisationHeader } from '../../../shared/exportFile/organisationDraft.ts';
import { organisationUnnamed } from '../../../shared/organisation/allSections.ts';
import { TOO_LONG_ID } from '../../../shared/organisation/lengthLimits.ts';
import { normaliseRecord } from '../../../shared/organisation/normaliseRecord.ts';
import type { OrganisationRecord } from '../../../shared/organisation/record.ts';
import { planRecord, type RecordPlan } from '../../../shared/organisation/recordPlan.ts';
import type { RecordIssue } from '../../../shared/organisation/relations.ts';
import { isLongId, MAX_ID_CHARACTERS } from '../../../shared/organisation/valueRules.ts';
import { originText } from '../mirror/lastImport.ts';

const ID_MISSING: RecordIssue = {
  id: 'ORG-4Mlfs',
  key: 'Errors.Invalid.Argument',
  reason: 'value_missing',
  params: { field: '`orgId` of an organisation' },
};

/** The keys of an organisation's records contain the organisation's id, and have a maximum length. */
const ID_TOO_LONG: RecordIssue = {
  id: TOO_LONG_ID,
  key: `orgId: value length must be at most ${MAX_ID_CHARACTERS} characters`,
  reason: 'value_too_long',
  params: { field: 'orgId', limit: `${MAX_ID_CHARACTERS} characters` },
};

export interface FileOrganisation {
  readonly header: OrganisationHeader;
  readonly record: OrganisationRecord | undefined;
  readonly issue: RecordIssue | undefined;
}

export function toFileOrganisation(header: OrganisationHeader): FileOrganisation {
  const { orgId, record } = header;
  if (record === undefined) return { header, record, issue: organisationUnnamed };
  if (orgId === '') return { header, record, issue: ID_MISSING };
  if (record.invalid !== undefined) return { header, record, issue: record.invalid };
  if (isLongId(orgId)) return { header, record, issue: ID_TOO_LONG };
  return { header, issue: undefined, ...normaliseRecord(record) };
}

export function planOrganisation({ record, issue }: FileOrganisation, manifest?: Manifest): RecordPlan[] {
  if (record === undefined || issue !== undefined) return [];
  const plan = planRecord(record, false);
  const { instanceId } = manifest ?? {};
  const importedFrom = instanceId === undefined ? {} : { importedFrom: instanceId };
  return [{ ...plan, origin: { ...importedFrom, lastImport: originText(manifest) } }];
}
