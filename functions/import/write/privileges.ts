import { type JsonObject, parseObject, textAt, textsAt, valueAt } from '../../../shared/json/jsonObject.ts';
import { type RecordPlan, reportedId } from '../../../shared/organisation/recordPlan.ts';
import type { GivenPrivilege } from '../../../shared/organisation/relations.ts';
import { sections } from '../../../shared/organisation/sections.ts';
import {
  type Collection,
  type DocumentStore,
  documentId,
  documentPath,
  readByPath,
  type StoredDocument,
} from '../../../shared/store/store.ts';
import type { ImportWarning } from '../contract.ts';
import type { ImportNotes } from '../resume/notes.ts';
import { stateChange } from './comparison.ts';
import { isPublicMailProvider } from './publicMailProviders.ts';

/** A record that gives privileges, and whether the record in which it does so existed before the import. */
interface Privilege {
  readonly given: GivenPrivilege;
  readonly texts: readonly string[];
  readonly existed: boolean;
}

/** The records of a batch that give privileges. */
export type Privileges = ReadonlyMap<RecordPlan, Privilege>;

/** The collections of the records in which others give privileges. */
const ownerCollections: ReadonlySet<Collection> = new Set(
  sections.flatMap(({ privilege }) => (privilege === undefined ? [] : [privilege.within.collection])),
);

/** Whether a record is one in which others may give privileges, so that later calls must know who created it. */
export function isOwner({ key }: RecordPlan): boolean {
  return ownerCollections.has(key.collection);
}

/** Finds the records of a batch that give privileges. */
export async function findPrivileges(
  store: DocumentStore,
  notes: ImportNotes,
  plans: readonly RecordPlan[],
): Promise<Privileges> {
  const giving = plans.flatMap((plan) => toGiving(plan));
  if (giving.length === 0) return new Map();
  const keys = giving.map(({ key }) => key);
  const existed = new Map<string, boolean>();
  for (const [path, document] of await readByPath(store, keys, ['createdAt']))
    existed.set(path, document !== undefined && !(await notes.isOwn(document)));
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
  return [
    ...(privilege === undefined ? [] : [{ ...privilege, id }]),
    ...(change === undefined
      ? []
      : [{ type: 'state', id, message: `state changed: ${change.before} to ${change.after}` }]),
  ].map(({ type, message }) => ({ type, id, message }));
}

function privilegeWarning(
  privileges: Privileges,
  plan: RecordPlan,
  stored: StoredDocument | undefined,
): Omit<ImportWarning, 'id'> | undefined {
  const privilege = privileges.get(plan);
  if (privilege === undefined) return undefined;
  const { json, orgId } = plan.record;
  const { given, texts, existed } = privilege;
  const before = new Set(stored === undefined ? [] : givenTexts(given, parseObject(stored.body), orgId));
  const added = texts.filter((text) => !before.has(text));
  const isPublic = given.type === 'domain' && added.some(isPublicMailProvider);
  if (added.length === 0 || !(existed || isPublic)) return undefined;
  const target = `${given.noun} ${given.within.key.map((path) => textAt(json, path, orgId)).join(' ')}`;
  const place = existed ? `${target}, which existed before` : target;
  if (given.type === 'domain')
    return {
      type: given.type,
      message: `adds the verified domain ${added.join(', ')}${isPublic ? ' of a public mail provider' : ''} to ${place}`,
    };
  return {
    type: given.type,
    message: `gives the user ${textAt(json, 'userId', orgId)} ${added.join(', ')} in ${place}`,
  };
}
