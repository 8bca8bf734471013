import { z } from 'zod';
import type { Answer } from '../answer.ts';
import type { Accounts } from './accounts.ts';
import type { Imported } from './imports.ts';
import { adminReply } from './replies.ts';

const ids = z.array(z.string());
const request = z.looseObject({ orgIds: ids.optional(), org_ids: ids.optional(), excludedOrgIds: ids.default([]) });

const person = z.looseObject({
  userId: z.string(),
  user: z.looseObject({ email: z.looseObject({ isEmailVerified: z.boolean().optional() }).optional() }).optional(),
});
const exported = z.looseObject({ orgs: z.array(z.looseObject({ humanUsers: z.array(person).optional() })) });

/** An export whose exclusion matches: ZITADEL's process ends. */
export class DeadlyExclusionError extends Error {}

/**
 * Exports as ZITADEL does: what was imported a moment ago does not show, no output is needed, others are ignored.
 * @throws DeadlyExclusionError when an exclusion matches
 */
export async function exportFrom(
  attempt: (body: object) => Promise<{ status: number; text: string }>,
  imported: Imported,
  accounts: Accounts,
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
  const { orgs } = exported.parse(JSON.parse(text));
  for (const { userId, user } of orgs.flatMap(({ humanUsers = [] }) => humanUsers)) {
    if (accounts.users.get(userId)?.isVerified === false) delete user?.email?.isEmailVerified;
  }
  return adminReply({ orgs });
}
