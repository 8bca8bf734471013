import { JsonError, type JsonPath } from '../../../shared/json/jsonScanner.ts';
import type { OrganisationDraft, OrganisationHeader } from './organisationDraft.ts';
import type { Violations } from './violations.ts';

/** The organisations of a file, and the position in `organisations` of each entry. */
interface MergedEntries {
  readonly organisations: readonly OrganisationHeader[];
  readonly entries: readonly number[];
}

/**
 * Merges the entries of each organisation, by its id: they may repeat its fields, and spread them. Entries without an
 * id remain apart.
 * @param violations receives the contradictions between entries
 */
export function mergeEntries(drafts: readonly OrganisationDraft[], violations: Violations): MergedEntries {
  const merged: OrganisationDraft[] = [];
  const positions = new Map<string, number>();
  const entries = drafts.map((draft) => {
    const position = positions.get(draft.orgId ?? '') ?? merged.length;
    const first = merged[position];
    if (first === undefined) {
      merged.push(draft);
      if (draft.orgId !== undefined) positions.set(draft.orgId, position);
    } else {
      for (const { path, other } of first.merge(draft)) violations.add(contradictionError(path, other), path);
    }
    return position;
  });
  return { organisations: merged.map((draft) => draft.toHeader()), entries };
}

/**
 * Creates the error for a value that contradicts an earlier one about the same organisation.
 * @param other the path of the earlier value
 */
export function contradictionError(path: JsonPath, other: string): JsonError {
  return new JsonError(path, `contradicts ${other}: remove one of them`);
}
