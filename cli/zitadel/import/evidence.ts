// Decides from the events of a record who created and changed it.

import type { ZitadelEvent } from '../zitadelEvents.ts';

/** The fields of an event that are necessary for a verdict. */
export type JudgedEvent = Pick<ZitadelEvent, 'type' | 'editorId' | 'createdAt'>;

/** The origin of a record, according to its events. */
export type Verdict =
  /** An import of the caller created the record, and no other user has changed it. */
  | { readonly is: 'ours' }
  /** An import of the caller created the person, and an authentication factor was added or removed since. */
  | { readonly is: 'factors'; readonly event: JudgedEvent }
  /** Another user created the record, or its creation is unknown. */
  | { readonly is: 'foreign'; readonly event?: JudgedEvent }
  /** A user reactivated or unlocked the record. */
  | { readonly is: 'opened'; readonly event: JudgedEvent }
  /** Another user changed the record. */
  | { readonly is: 'changed'; readonly event: JudgedEvent };

/** The types of events that create a record. */
const CREATION =
  /^(?:user\.(?:human\.|machine\.)?(?:added|selfregistered)|(?:org|project|project\.application|project\.grant|user\.grant|action)\.added)$/;
const OPENING = /\.(?:reactivated|unlocked)$/;
const FACTOR = /\.(?:mfa|passwordless)\./;
/**
 * Events that do not change records: sign-ins, attempted sign-ins and sent messages. The check of an initialisation or
 * invitation code changes the record, because it activates the user.
 */
const UNCHANGING =
  /(?<!\.(?:initialization|invite))\.check\.succeeded$|\.(?:check|verification)\.failed$|\.sent$|\.(?:begin\.login|signcount\.changed|signed\.out|init\.skipped|hash\.updated)$|^user\.(?:token|human\.refresh\.token)\.|^user\.machine\.secret\.(?:updated|check)/;

/** Whether an event changes its record. */
export function isChange({ type }: Pick<JudgedEvent, 'type'>): boolean {
  return !UNCHANGING.test(type);
}

/**
 * Decides whether an import of the caller created a record, and whether it is unchanged since.
 * @param events all events of the record since its creation, the oldest first
 */
export function judge(events: readonly JudgedEvent[], callerId: string): Verdict {
  // An earlier record with the same id may have been removed; its events do not count.
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

/** Describes, for errors, the event that changed a record after an import of the caller. */
export function eventParams({ type, editorId, createdAt }: JudgedEvent) {
  return { event: type, user: editorId, time: new Date(Number(createdAt / 1_000n)).toISOString() };
}
