import type { ZitadelEvent } from '../zitadelEvents.ts';

export type JudgedEvent = Pick<ZitadelEvent, 'type' | 'editorId' | 'createdAt'>;

export type Verdict =
  /** An import with this token's user created the record, and no other user has changed it. */
  | { readonly is: 'ours' }
  /**
   * An import with this token's user created the person. An authentication factor of the person was added or removed
   * later.
   */
  | { readonly is: 'factors'; readonly event: JudgedEvent }
  /** Another user created the record, or its creation event is unknown. */
  | { readonly is: 'foreign'; readonly event?: JudgedEvent }
  /** An import with this token's user created the record. Later, the record was made active or unlocked. */
  | { readonly is: 'opened'; readonly event: JudgedEvent }
  /** An import with this token's user created the record. Later, another user changed it. */
  | { readonly is: 'changed'; readonly event: JudgedEvent };

const CREATION =
  /^(?:user\.(?:human\.|machine\.)?(?:added|selfregistered)|(?:org|project|project\.application|project\.grant|user\.grant|action)\.added)$/;
const OPENING = /\.(?:reactivated|unlocked)$/;
const FACTOR = /\.(?:mfa|passwordless)\./;
/**
 * Matches the types of events that do not change a record, such as logins, failed logins and sent messages. An event
 * about a successful initialisation or invitation code does change the record, because it activates the user.
 */
const UNCHANGING =
  /(?<!\.(?:initialization|invite))\.check\.succeeded$|\.(?:check|verification)\.failed$|\.sent$|\.(?:begin\.login|signcount\.changed|signed\.out|init\.skipped|hash\.updated)$|^user\.(?:token|human\.refresh\.token)\.|^user\.machine\.secret\.(?:updated|check)/;

export function isChange({ type }: Pick<JudgedEvent, 'type'>): boolean {
  return !UNCHANGING.test(type);
}

/**
 * Decides whether an import with this token's user created a record, and whether the record is unchanged since.
 * @param events all events of the record since its creation, the oldest first
 */
export function judge(events: readonly JudgedEvent[], callerId: string): Verdict {
  // A record with the same id may have existed earlier and been removed. The events before the last creation are about
  // that earlier record.
  const created = events.findLastIndex(({ type }) => CREATION.test(type));
  const creation = events[created];
  if (creation === undefined) return { is: 'foreign' };
  if (creation.editorId !== callerId) return { is: 'foreign', event: creation };
  const since = events.slice(created + 1).filter(isChange);
  const opening = since.find(({ type }) => OPENING.test(type));
  if (opening !== undefined) return { is: 'opened', event: opening };
  const change = since.find(({ editorId }) => editorId !== callerId);
  if (change !== undefined) return { is: 'changed', event: change };
  const factor = since.findLast(({ type }) => FACTOR.test(type));
  return factor === undefined ? { is: 'ours' } : { is: 'factors', event: factor };
}

export function eventParams({ type, editorId, createdAt }: JudgedEvent) {
  return { event: type, user: editorId, time: new Date(Number(createdAt / 1_000n)).toISOString() };
}
