import { z } from 'zod';
import type { Answer } from '../answer.ts';
import type { Imported } from './imports.ts';
import { adminReply } from './replies.ts';

const ids = z.array(z.string());
const request = z.looseObject({
  orgIds: ids.optional(),
  org_ids: ids.optional(),
  excludedOrgIds: ids.default([]),
});

/** An export whose exclusion matches: ZITADEL's process ends. */
export class DeadlyExclusionError extends Error {}

/**
 * Exports as ZITADEL does: what was imported a moment ago does not show, no output is needed, others are ignored.
 * @throws DeadlyExclusionError when an exclusion matches
 */
export async function exportFrom(
  attempt: (body: object) => Promise<{ status: number; text: string }>,
  imported: Imported,
  written: string,
): Promise<Answer> {
  const { orgIds, org_ids: spelled, excludedOrgIds, ...others } = request.parse(JSON.parse(written));
  const { s3Output: _output, response_output: _flag, ...flags } = others;
  const asked = (orgIds ?? spelled ?? []).filter(
    (orgId) => (imported.organisations.get(orgId) ?? Infinity) <= Date.now(),
  );
  if (asked.some((orgId) => excludedOrgIds.includes(orgId))) throw new DeadlyExclusionError('an exclusion matches');
  if (asked.length === 0) return adminReply({});
  const { status, text } = await attempt({ ...flags, orgIds: asked, responseOutput: true });
  if (status !== 200) return { status, headers: { 'content-type': 'application/json' }, text };
  return adminReply({ orgs: z.looseObject({ orgs: z.array(z.looseObject({})) }).parse(JSON.parse(text)).orgs });
}
