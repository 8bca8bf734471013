import { z } from 'zod';
import type { Answer } from './answer.ts';
import { type Ask, jsonOf, type OwnRequest } from './owner.ts';
import { type PollOptions, poll } from './poll.ts';
import { reason } from './runRow.ts';

/** What became of the organisations that a run created. */
export interface CleanUp {
  readonly removed: readonly string[];
  readonly left: readonly string[];
  /** Why some are left; undefined where none is. */
  readonly why?: string | undefined;
  /** A membership in the instance that is left, and why. */
  readonly membership?: string | undefined;
}

type Way = (orgId: string) => OwnRequest;

const byId =
  (prefix: string): Way =>
  (orgId) => ({ method: 'DELETE', path: `${prefix}/${encodeURIComponent(orgId)}` });

/** The requests of ZITADEL's releases that delete an organisation. Those that name it in the path come first. */
const ways: readonly Way[] = [
  byId('/v2/organizations'),
  byId('/v2beta/organizations'),
  byId('/admin/v1/orgs'),
  (orgId) => ({ method: 'DELETE', path: '/management/v1/orgs/me', orgId }),
];

type Removal =
  | { readonly kind: 'removed' | 'absent'; readonly why?: undefined }
  | { readonly kind: 'no such request' | 'lost' | 'failed'; readonly why: string };

const error = z.looseObject({ message: z.string() });

/**
 * Removes organisations in the first way that the server has.
 * @param limit how long an organisation may take to be known to the request that deletes it
 */
export async function cleanUp(ask: Ask, orgIds: readonly string[], limit: PollOptions): Promise<CleanUp> {
  const gone: Record<'removed' | 'absent', string[]> = { removed: [], absent: [] };
  let [usable, why]: [readonly Way[], string | undefined] = [ways, undefined];
  for (const orgId of orgIds) {
    const { way, removal } = await remove(ask, orgId, usable, limit);
    why ??= removal.why;
    if (removal.kind === 'removed' || removal.kind === 'absent') gone[removal.kind].push(orgId);
    if (removal.kind === 'removed') usable = [way];
    // What the server does not have for one, or does not answer, it does for none.
    if (removal.kind === 'no such request' || removal.kind === 'lost') break;
  }
  const { removed, absent } = gone;
  return { removed, left: orgIds.filter((orgId) => !removed.includes(orgId) && !absent.includes(orgId)), why };
}

async function remove(ask: Ask, orgId: string, usable: readonly Way[], limit: PollOptions) {
  const [way, ...others] = usable;
  if (way === undefined) throw new Error('there is no request to try');
  const removal = await poll(
    () => removalBy(ask, way(orgId)),
    ({ kind }) => kind !== 'absent',
    limit,
  );
  if (removal.kind !== 'no such request' || others.length === 0) return { way, removal };
  return remove(ask, orgId, others, limit);
}

async function removalBy(ask: Ask, request: OwnRequest): Promise<Removal> {
  try {
    return judged(await ask(request));
  } catch (lost) {
    return { kind: 'lost', why: `no response: ${reason(lost)}` };
  }
}

function judged({ status, text }: Answer): Removal {
  const message = jsonOf(error, text)?.message;
  if (status === 200) return { kind: 'removed' };
  if (status === 405 || status === 501 || (status === 404 && (message ?? 'Not Found') === 'Not Found')) {
    return { kind: 'no such request', why: 'the server has no request that removes an organisation' };
  }
  if (status === 404 || message?.includes('(AUTH-Bs7Ds)') === true) return { kind: 'absent' };
  return { kind: 'failed', why: `${status} ${message ?? text}` };
}
