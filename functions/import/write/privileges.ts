import { type JsonObject, parseObject, textAt, textsAt, valueAt } from '../../../shared/json/jsonObject.ts';
import { type RecordPlan, reportedId } from '../../../shared/organisation/recordPlan.ts';
import type { GivenPrivilege } from '../../../shared/organisation/section.ts';
import { documentId, documentPath, readByPath, type StoredDocument } from '../../../shared/store/store.ts';
import type { ImportWarning } from '../contract.ts';
import type { Writing } from '../importRun.ts';
import { isCreatedByImport } from '../stamp.ts';
import { stateChange } from './comparison.ts';

/** A record that gives privileges, and whether the record in which it does so existed before the import. */
interface Privilege {
  readonly given: GivenPrivilege;
  readonly texts: readonly string[];
  readonly existed: boolean;
}

/** The records of a batch that give privileges. */
export type Privileges = ReadonlyMap<RecordPlan, Privilege>;

/** Finds the records of a batch that give privileges. */
export async function findPrivileges(writing: Writing, plans: readonly RecordPlan[]): Promise<Privileges> {
  const giving = plans.flatMap((plan) => toGiving(plan));
  if (giving.length === 0) return new Map();
  const keys = giving.map(({ key }) => key);
  const existed = new Map<string, boolean>();
  for (const [path, document] of await readByPath(writing.store, keys, ['createdAt']))
    existed.set(path, document !== undefined && !isCreatedByImport(writing, document));
  return new Map(
    giving.map(({ plan, given, texts, key }) => [
      plan,
      { given, texts, existed: existed.get(documentPath(key)) === true },
    ]),
  );
}

function toGiving(plan: RecordPlan) {
  const { section, json, orgId } = plan.record;
  const given = section.privilege;
  if (given === undefined) return [];
  const texts = givenTexts(given, json, orgId);
  const { collection, key } = given.within;
  const id = documentId(...key.map((path) => textAt(json, path, orgId)));
  return texts.length === 0 ? [] : [{ plan, given, texts, key: { collection, id } }];
}

function givenTexts({ texts, onlyIf }: GivenPrivilege, json: JsonObject, orgId: string): readonly string[] {
  return onlyIf === undefined || valueAt(json, onlyIf) === true ? textsAt(json, texts, orgId) : [];
}

/**
 * Lists the warnings about a record that is written: the privilege that it gives, and its change of a state.
 * @param stored the record before it is overwritten; undefined for a new one
 */
export function writeWarnings(privileges: Privileges, plan: RecordPlan, stored?: StoredDocument): ImportWarning[] {
  const id = reportedId(plan.record);
  const privilege = privilegeWarning(privileges, plan, stored);
  const change = stored === undefined ? undefined : stateChange(plan, stored);
  const state = change && {
    type: 'state',
    reason: 'state_changed' as const,
    message: `state changed: ${change.before} to ${change.after}`,
  };
  return [privilege, state].flatMap((warning) => {
    if (warning === undefined) return [];
    const { type, reason, message } = warning;
    return [{ type, id, reason, message }];
  });
}

function privilegeWarning(
  privileges: Privileges,
  plan: RecordPlan,
  stored: StoredDocument | undefined,
): Omit<ImportWarning, 'id'> | undefined {
  const privilege = privileges.get(plan);
  if (privilege === undefined || !privilege.existed) return undefined;
  const { json, orgId } = plan.record;
  const { given } = privilege;
  const added = addedTexts(privilege, orgId, stored);
  if (added.length === 0) return undefined;
  const target = `${given.noun} ${given.within.key.map((path) => textAt(json, path, orgId)).join(' ')}`;
  const isDomain = given.type === 'domain';
  const gift = isDomain
    ? `adds the verified domain ${added.join(', ')} to`
    : `gives the user ${textAt(json, 'userId', orgId)} ${added.join(', ')} in`;
  const reason = isDomain ? 'domain_added' : 'privilege_added';
  return { type: given.type, reason, message: `${gift} ${target}, which existed before` };
}

/** Returns the roles or the domain that a record adds to what the stored one gives. */
function addedTexts({ given, texts }: Privilege, orgId: string, stored: StoredDocument | undefined): readonly string[] {
  const before = new Set(stored === undefined ? [] : givenTexts(given, parseObject(stored.body), orgId));
  return texts.filter((text) => !before.has(text));
}
