import type { Answer } from '../answer.ts';
import type { Accounts } from './accounts.ts';
import { faults, reply } from './replies.ts';

const MAX_RUNES = 200;

/** A request about one user. */
export interface UserRequest {
  readonly method: string;
  /** As in the path. */
  readonly written: string;
  readonly caller: string;
}

/** Adds and removes the factor, and lists it, as ZITADEL does. */
export function handleFactor({ users }: Accounts, { method, written, caller }: UserRequest): Answer {
  const userId = decodeURIComponent(written);
  if (userId.includes('/')) return faults.notFound;
  if (/[^\x20-\x7e]/.test(userId)) return faults.unprintable;
  if ([...userId].length > MAX_RUNES) return faults.longId;
  const user = users.get(userId);
  if (user === undefined) return faults.unknownUser;
  const denied = caller === userId ? undefined : denial(users.get(caller)?.roles ?? new Set(), user.owner);
  if (denied !== undefined) return denied;
  const adds = method === 'POST';
  if (adds && !user.isVerified) return faults.notReady;
  if (adds === user.hasFactor) return adds ? faults.hasFactor : faults.noFactor;
  user.hasFactor = adds;
  user.sequence += 1;
  const changeDate = new Date().toISOString();
  return reply(200, { details: { sequence: String(user.sequence), changeDate, resourceOwner: user.owner } });
}

function denial(roles: ReadonlySet<string>, owner: string): Answer | undefined {
  if (roles.has('IAM_OWNER') || roles.has(`ORG_OWNER@${owner}`)) return;
  const isMember = [...roles].some((role) => role.startsWith('IAM_') || role.endsWith(`@${owner}`));
  return isMember ? faults.userDenied : faults.noMembership;
}

/** Lists the factors of a person with a password. */
export function listMethods({ users }: Accounts, written: string): Answer {
  const hasFactor = users.get(decodeURIComponent(written))?.hasFactor === true;
  const types = [...(hasFactor ? ['OTP_EMAIL'] : []), 'PASSWORD'];
  const details = { totalResult: String(types.length), timestamp: new Date().toISOString() };
  return reply(200, { details, authMethodTypes: types.map((type) => `AUTHENTICATION_METHOD_TYPE_${type}`) });
}
