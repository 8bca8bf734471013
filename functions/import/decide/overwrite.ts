import { type JsonObject, parseObject, textAt, valueAt } from '../../../shared/json/jsonObject.ts';
import { foldLookAlikes } from '../../../shared/lookAlikes.ts';
import { storedFields, toRecord } from '../../../shared/organisation/record.ts';
import { serialise } from '../../../shared/organisation/recordBody.ts';
import { possibleClaimKeys, type RecordPlan } from '../../../shared/organisation/recordPlan.ts';
import { usualState } from '../../../shared/organisation/states.ts';
import { callVersion, withCallVersion } from '../../../shared/store/lastChange.ts';
import type { DocumentKey, StoredDocument, Write } from '../../../shared/store/store.ts';

/** If the export file lacks the record's state, returns the record with the state of the stored record. */
function withStoredState(plan: RecordPlan, { state }: StoredDocument): RecordPlan {
  const { record } = plan;
  if (record.state?.source !== 'unknown' || state === undefined || state === record.state.value) return plan;
  const json = { ...record.json, ...(record.json.orgState === undefined ? { state } : { orgState: state }) };
  return { ...plan, record: { ...record, json, ...serialise(json), state: { ...record.state, value: state } } };
}

/** Returns the states before and after an overwrite; undefined if they are equal. */
export function stateChange(plan: RecordPlan, stored: StoredDocument) {
  const { section } = plan.record;
  const after = withStoredState(plan, stored).record.state?.value ?? '';
  const before = stored.state ?? usualState(section) ?? '';
  return before === after ? undefined : { before, after };
}

/** Lists the changed fields that prevent an overwrite, because other stored records depend on them. */
export function changedFixedFields({ record }: RecordPlan, stored: StoredDocument): readonly string[] {
  const { fixed = [] } = record.section;
  if (fixed.length === 0) return [];
  const previous = parseObject(stored.body);
  return fixed.filter((path) => (valueAt(record.json, path) ?? false) !== (valueAt(previous, path) ?? false));
}

export function keepsReservedNames({ record }: RecordPlan, stored: StoredDocument): boolean {
  const previous = parseObject(stored.body);
  const nameIn = (json: JsonObject, path: string) => foldLookAlikes(textAt(json, path, record.orgId));
  return (record.section.reserved ?? []).every(
    ({ suffixOf }) => nameIn(previous, suffixOf) === nameIn(record.json, suffixOf),
  );
}

export function heldClaims({ record }: RecordPlan, stored: StoredDocument | undefined): DocumentKey[] {
  if (stored?.body === undefined) return [];
  const previous = toRecord(record.section, parseObject(stored.body), record.orgId);
  return possibleClaimKeys(previous);
}

/**
 * Creates the write that overwrites a stored record. If the file lacks the state, a credential or the OTP e-mail
 * factor, the write keeps the stored value. If the file shows that the source has no such value, the write removes the
 * stored value.
 * @param version the stored document's version; undefined in a simulation
 * @param stamp the date of the change
 */
export function overwriteRecord(plan: RecordPlan, stored: StoredDocument, version: string | undefined, stamp: string) {
  const { record, key } = withStoredState(plan, stored);
  const sequence = (stored.sequence ?? 0) + 1;
  const factor = record.otpEmail === false ? { otpEmail: null } : {};
  const withdrawn = Object.fromEntries((record.lacks ?? []).map(({ field }) => [field, null]));
  const changedAt = withCallVersion(stamp, callVersion(stored, version));
  const fields = { ...storedFields(record), ...factor, ...withdrawn, sequence, changedAt };
  return { type: 'update', key, fields } satisfies Write;
}

/**
 * Creates a write that only sets the change date of a stored record to a date of this import. Its content already
 * equals the file's record.
 */
export function adoptRecord({ key }: RecordPlan, stored: StoredDocument, version: string | undefined, stamp: string) {
  const changedAt = withCallVersion(stamp, callVersion(stored, version));
  return { type: 'update', key, fields: { changedAt } } satisfies Write;
}
