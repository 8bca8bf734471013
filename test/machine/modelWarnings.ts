import { expect } from 'vitest';
import { z } from 'zod';
import { type ModelRecord, reportedId, textAt, textsAt } from './kinds.ts';
import type { Model } from './model.ts';

/**
 * A warning on which a user relies: a privilege that an import gives, a domain that it adds, or a state that it
 * changes.
 */
export interface Warning {
  readonly type: 'privilege' | 'domain' | 'state';
  readonly id: string;
  /** The texts that the message must contain: roles, a domain, states. */
  readonly texts: readonly string[];
}

/** The place in which a record gives a privilege, and the field of the privilege. */
const privileges: Readonly<
  Record<string, readonly [type: 'privilege' | 'domain', collection: string, key: string, texts: string]>
> = {
  domains: ['domain', 'organisations', '$orgId', 'domainName'],
  orgMembers: ['privilege', 'organisations', '$orgId', 'roles[]'],
  projectMembers: ['privilege', 'projects', 'projectId', 'roles[]'],
  projectGrantMembers: ['privilege', 'projects', 'projectId', 'roles[]'],
};

/** Warns of roles and verified domains in an organisation or project that existed before the import. */
export function privilegeWarnings(record: ModelRecord, stored: ModelRecord | undefined, before: Model): Warning[] {
  const [type, collection, key, texts] = privileges[record.section] ?? [];
  if (type === undefined || collection === undefined || key === undefined || texts === undefined) return [];
  if (!before.has(collection, textAt(record, key))) return [];
  const given = (one: ModelRecord) => (type === 'domain' && one.json.isVerified !== true ? [] : textsAt(one, texts));
  const had = stored === undefined ? [] : given(stored);
  const added = given(record).filter((text) => !had.includes(text));
  return added.length === 0 ? [] : [{ type, id: reportedId(record), texts: added }];
}

/** Warns of the change of a stored record's state. */
export function stateWarnings(record: ModelRecord, stored: ModelRecord | undefined): Warning[] {
  const state = record.json.state ?? record.json.orgState;
  const previous = stored?.json.state ?? stored?.json.orgState;
  if (state === undefined || previous === undefined || state === previous) return [];
  return [{ type: 'state', id: reportedId(record), texts: [`state changed: ${previous} to ${state}`] }];
}

const listed = z.array(
  z.object({ type: z.string(), id: z.string().optional(), reason: z.string().optional(), message: z.string() }),
);
/** The reasons of the warnings on which a user relies. */
const relied: ReadonlySet<string> = new Set(['privilege_added', 'domain_added', 'state_changed']);

/** Expects the warnings of privileges, domains and states on which a user relies, and no others of these types. */
export function expectWarnings(given: unknown, expected: readonly Warning[]): void {
  const actual = listed.parse(given).filter(({ reason = '' }) => relied.has(reason));
  const matches = actual.filter(({ type, id, message }) =>
    expected.some((one) => one.type === type && one.id === id && one.texts.every((text) => message.includes(text))),
  );
  const names = (list: readonly { readonly type: string; readonly id?: string | undefined }[]) =>
    list.map(({ type, id }) => `${type} ${id}`).sort();
  expect(names(matches), JSON.stringify(actual)).toEqual(names(expected));
  expect(actual).toHaveLength(expected.length);
}
