import { valueAt } from '../../shared/json/jsonObject.ts';
import { recordSection } from '../../shared/organisation/allSections.ts';
import { comparable } from '../support/fixtures/comparable.ts';
import type { Organisation } from '../support/fixtures/organisations.ts';
import { type ModelRecord, placeOf, textAt } from './kinds.ts';
import type { Model } from './model.ts';
import { sortedText } from './modelContent.ts';
import type { Outcome } from './modelImport.ts';

type Success = Organisation & Record<string, unknown>;

/** The lists of ids of written records, by organisation (zitadel 5.8). */
export function successOf(orgs: readonly Organisation[], outcomes: readonly Outcome[], after: Model): Success[] {
  const existing = new Set(orgs.map(({ orgId }) => orgId).filter((orgId) => after.has('organisations', orgId)));
  return [...existing].map((orgId) => {
    const lists: Success = { orgId };
    for (const { given, kind } of outcomes) {
      if (given?.orgId !== orgId || given.parent !== undefined || !['created', 'overwritten'].includes(kind)) continue;
      const { success } = recordSection(given.section);
      if (success === undefined) continue;
      const list = lists[success.field];
      const entry = entryOf(given, after.records.get(placeOf(given)), success.entry);
      lists[success.field] = Array.isArray(list) ? [...list, entry] : [entry];
    }
    return lists;
  });
}

/** Returns an entry: ids as the file has them, and lists as they are stored. */
function entryOf(
  given: ModelRecord,
  stored: ModelRecord | undefined,
  entry: readonly string[] | Readonly<Record<string, string>>,
): unknown {
  if (Array.isArray(entry)) return entry.map((path: string) => textAt(given, path)).join('_');
  const values = Object.entries(entry).map(([name, path]) => {
    const value = valueAt(given.json, path);
    return [name, Array.isArray(value) && stored !== undefined ? valueAt(stored.json, path) : value] as const;
  });
  return Object.fromEntries(values.filter(([, value]) => value !== undefined));
}

/** Returns lists in a form that is the same for every order. */
export function comparableSuccess(orgs: readonly Organisation[]): string[] {
  return orgs.map((org) => sortedText(Object.values(comparable([org]))));
}
