import { z } from 'zod';
import type { Ask } from './owner.ts';
import { jsonOf } from './owner.ts';
import { type PollOptions, poll } from './poll.ts';
import { reason, type Tokens } from './runRow.ts';
import type { Subjects } from './subjects.ts';

const made = z.looseObject({ token: z.string().min(1) });
const memberships = z.looseObject({ result: z.array(z.looseObject({ iam: z.boolean().optional() })).default([]) });

const DAY_MS = 86_400_000;
const SHORT_MS = 2000;

/**
 * Creates the tokens of the service users that send requests, by ZITADEL's API, and waits until they work. A role whose
 * token the server does not create is left out.
 */
export async function zitadelTokens(ask: Ask, subjects: Subjects, limit: PollOptions): Promise<Partial<Tokens>> {
  const { orgOwner, viewer, nobody, inactive, expired } = subjects.callers;
  const tokenOf = (userId: string, lifetimeMs = DAY_MS) => createToken(ask, subjects.home, userId, lifetimeMs);
  const tokens = {
    orgOwner: await tokenOf(orgOwner),
    viewer: (await addViewer(ask, viewer)) ? await tokenOf(viewer) : undefined,
    nobody: await tokenOf(nobody),
    inactive: await tokenOf(inactive),
    expired: await tokenOf(expired, SHORT_MS),
  };
  if (tokens.inactive !== undefined) await deactivate(ask, subjects.home, inactive);
  await poll(() => areReady(ask, tokens), Boolean, { ...limit, limitMs: limit.limitMs + SHORT_MS });
  return Object.fromEntries(Object.entries(tokens).filter(([, token]) => token !== undefined));
}

async function createToken(ask: Ask, orgId: string, userId: string, lifetimeMs: number): Promise<string | undefined> {
  const expirationDate = new Date(Date.now() + lifetimeMs).toISOString();
  const path = `/management/v1/users/${encodeURIComponent(userId)}/pats`;
  const answer = await ask({ method: 'POST', path, orgId, body: { expirationDate } });
  return answer.status === 200 ? jsonOf(made, answer.text)?.token : undefined;
}

async function deactivate(ask: Ask, orgId: string, userId: string): Promise<void> {
  const path = `/management/v1/users/${encodeURIComponent(userId)}/_deactivate`;
  const { status, text } = await ask({ method: 'POST', path, orgId, body: {} });
  if (status !== 200) throw new Error(`the service user ${userId} could not be deactivated: ${status} ${text}`);
}

async function addViewer(ask: Ask, userId: string): Promise<boolean> {
  const body = { userId, roles: ['IAM_OWNER_VIEWER'] };
  return (await ask({ method: 'POST', path: '/admin/v1/members', body })).status === 200;
}

/** Removes the viewer's membership in the instance. Returns a text about it and the reason, if it is left. */
export async function removeViewer(ask: Ask, userId: string): Promise<string | undefined> {
  const left = (why: string) => `the membership IAM_OWNER_VIEWER of ${userId}, since ${why}`;
  try {
    const { status, text } = await ask({ method: 'DELETE', path: `/admin/v1/members/${encodeURIComponent(userId)}` });
    return status === 200 || status === 404 ? undefined : left(`${status} ${text}`);
  } catch (error) {
    return left(`no response: ${reason(error)}`);
  }
}

type MadeTokens = Readonly<Partial<Record<keyof Tokens, string | undefined>>>;

/** Whether the projections know the tokens and memberships, and those of `inactive` and `expired` are refused. */
async function areReady(ask: Ask, { orgOwner, viewer, nobody, inactive, expired }: MadeTokens): Promise<boolean> {
  const statusOf = async (token: string) => (await ask({ method: 'GET', path: '/auth/v1/users/me', token })).status;
  for (const refused of [inactive, expired]) {
    if (refused !== undefined && (await statusOf(refused)) !== 401) return false;
  }
  if (nobody !== undefined && (await statusOf(nobody)) !== 200) return false;
  if (orgOwner !== undefined && (await membershipsOf(ask, orgOwner)).length === 0) return false;
  return viewer === undefined || (await membershipsOf(ask, viewer)).some(({ iam }) => iam === true);
}

async function membershipsOf(ask: Ask, token: string) {
  const { text } = await ask({ method: 'POST', path: '/auth/v1/memberships/me/_search', token, body: {} });
  return jsonOf(memberships, text)?.result ?? [];
}
