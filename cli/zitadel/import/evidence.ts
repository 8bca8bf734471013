// What the events of a record show about its origin.

import type { ZitadelEvent } from '../zitadelEvents.ts';

/** An event as it is judged. */
export type JudgedEvent = Pick<ZitadelEvent, 'type' | 'editorId' | 'createdAt'>;

/** The origin of a record, by its events. */
export type Verdict =
  /** An import of the caller created it, and nobody else changed it. */
  | { readonly is: 'ours' }
  /** The same, and a factor was added or removed since. */
  | { readonly is: 'factors'; readonly event: JudgedEvent }
  /** Another caller created it, or its creation is unknown. */
  | { readonly is: 'foreign'; readonly event?: JudgedEvent }
  /** Somebody opened it again. */
  | { readonly is: 'opened'; readonly event: JudgedEvent }
  /** Another user changed it. */
  | { readonly is: 'changed'; readonly event: JudgedEvent };

/** The types of events that create a record. */
const CREATION =
  /^(?:user\.(?:human\.|machine\.)?(?:added|selfregistered)|(?:org|project|project\.application|project\.grant|user\.grant|action)\.added)$/;
const OPENING = /\.(?:reactivated|unlocked)$/;
const FACTOR = /\.(?:mfa|passwordless)\./;
/**
 * Sign-ins, attempts of them, and sent messages, which change no record. A person who enters the code of an
 * initialisation or an invitation activates the user.
 */
const UNCHANGING =
  /(?<!\.(?:initialization|invite))\.check\.succeeded$|\.(?:check|verification)\.failed$|\.sent$|\.(?:begin\.login|signcount\.changed|signed\.out|init\.skipped|hash\.updated)$|^user\.(?:token|human\.refresh\.token)\.|^user\.machine\.secret\.(?:updated|check)/;

/**
 * Decides whether an import of the caller created a record, and whether it is untouched since.
 * @param events all events of the record since its creation, the oldest first
 */
export function judge(events: readonly JudgedEvent[], callerId: string): Verdict {
  // An id that was removed can be created again.
  const created = events.findLastIndex(({ type }) => CREATION.test(type));
  const creation = events[created];
  if (creation === undefined) return { is: 'foreign' };
  if (creation.editorId !== callerId) return { is: 'foreign', event: creation };
  const since = events.slice(created + 1).filter(({ type }) => !UNCHANGING.test(type));
  const opening = since.find(({ type }) => OPENING.test(type));
  if (opening !== undefined) return { is: 'opened', event: opening };
  const change = since.find(({ editorId }) => editorId !== callerId);
  if (change !== undefined) return { is: 'changed', event: change };
  const factor = since.findLast(({ type }) => FACTOR.test(type));
  return factor === undefined ? { is: 'ours' } : { is: 'factors', event: factor };
}

/** The event because of which a record is not as an import of the caller has left it, as errors have it. */
export function eventParams({ type, editorId, createdAt }: JudgedEvent) {
  return { event: type, user: editorId, time: new Date(Number(createdAt / 1_000n)).toISOString() };
}
