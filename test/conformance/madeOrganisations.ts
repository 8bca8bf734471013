import { z } from 'zod';
import type { Answer } from './answer.ts';
import { jsonOf } from './owner.ts';
import type { RowRequest } from './row.ts';

const imported = z.looseObject({
  success: z.looseObject({ orgs: z.array(z.looseObject({ orgId: z.string() })).default([]) }).optional(),
});

/** The organisations that requests created on a server, as far as the suite knows. */
export interface MadeOrganisations {
  /** Looks at an exchange; `answer` is undefined where none came. */
  readonly onExchange: (request: RowRequest, answer: Answer | undefined) => void;
  readonly ids: () => readonly string[];
}

/**
 * Notes the organisations that imports create: those that a response lists, and all of a request that failed on the way.
 * @param isOwn whether the suite made up an id: no other organisation is ever noted
 */
export function madeOrganisations(isOwn: (orgId: string) => boolean): MadeOrganisations {
  const ids = new Set<string>();
  const onExchange = ({ path, body }: RowRequest, answer: Answer | undefined) => {
    if (!path.startsWith('/admin/v1/import')) return;
    const made = answer === undefined || answer.status >= 500 ? namedIn(String(body ?? '')) : listedIn(answer);
    for (const orgId of made.filter(isOwn)) ids.add(orgId);
  };
  return { onExchange, ids: () => [...ids] };
}

function listedIn({ text }: Answer): string[] {
  return jsonOf(imported, text)?.success?.orgs.map(({ orgId }) => orgId) ?? [];
}

function namedIn(body: string): string[] {
  return [...body.matchAll(/"org(?:Id|_id)":"([^"\\]*)"/g)].flatMap(([, orgId]) => orgId ?? []);
}
