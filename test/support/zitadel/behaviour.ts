/** A release, by its number or by the month of its build. */
export type Release = '2.71' | '4.0' | '2026-07';

/**
 * The limits and delays of a stand-in. The defaults were measured at ZITADEL, unless they would delay tests
 * too much.
 */
export interface ZitadelBehaviour {
  /**
   * The number of records that an import writes per second, which decides whether it reaches its timeout. No test waits
   * for them.
   */
  recordsPerSecond: number;
  /** The limit of REST's messages, in bytes of protobuf. */
  maxMessageBytes: number;
  /** The delay until exports show an import. Up to 2,000 ms were measured. */
  lagMs: number;
  /** The clock for the delay, in milliseconds. */
  now: () => number;
  /** How far the clock of its responses is ahead. */
  aheadMs: number;
  /** The write at which the process dies, counted from 1. */
  diesAtWrite: number;
  /** The write, counted from 1, after which the response to its import never arrives. */
  stallsAtWrite: number;
  /** Whether it accepts connections and answers nothing. */
  isSilent: boolean;
  /** The downtime of the process after its death, of which 1,600 ms were measured. Undefined if it stays down. */
  deadMs: number | undefined;
  /** The minimum duration of an export. */
  exportMs: number;
  release: Release;
  /** The version that the instance returns. */
  version: string;
  /** Whether the request rules reject a person, and with the person the whole request. */
  rejectsPerson: (userId: string) => boolean;
  /** Whether a search finds a user. */
  findsUser: (userId: string) => boolean;
  /**
   * How a call to close or delete a record ends: as in ZITADEL, refused, without an effect, or with an event that the search for
   * users skips.
   */
  closing: (path: string) => 'done' | 'refused' | 'ignored' | 'passedOver';
  /** Whether the caller lacks the permission `user.read`. */
  hidesUsers: boolean;
  /** Whether the caller lacks the permission `events.read`. */
  hidesEvents: boolean;
  /** Whether the instance's login names contain the domain of their organisation. */
  loginNamesByDomain: boolean;
  /** Whether another import creates a user at the same time, between the check of its id and that of its login name. */
  races: (userId: string) => boolean;
  /** Whether an import drops a record without an error. */
  drops: (record: { readonly section: string }) => boolean;
  /** Whether a proxy removes the header `x-zitadel-orgid` of requests to a path. */
  losesContext: (path: string) => boolean;
  /** The domain at which it is reachable; by default any domain. */
  externalDomain: string | undefined;
  /** The statuses of the next responses, like those of a gateway that asks for a retry. */
  refusals: number[];
  /** The roles of the user `owner` in the instance. */
  roles: readonly string[];
  /** The other users with roles in the instance. */
  instanceMembers: readonly { readonly userId: string; readonly roles: readonly string[] }[];
}

/** The behaviour of the measured ZITADEL. */
export const measured: Readonly<ZitadelBehaviour> = {
  recordsPerSecond: 250,
  maxMessageBytes: 4_194_304,
  lagMs: 300,
  now: () => performance.now(),
  aheadMs: 0,
  diesAtWrite: Infinity,
  stallsAtWrite: Infinity,
  isSilent: false,
  deadMs: 100,
  exportMs: 0,
  release: '4.0',
  version: '2026-11-21T21:48:54Z',
  rejectsPerson: () => false,
  findsUser: () => true,
  closing: () => 'done',
  hidesUsers: false,
  hidesEvents: false,
  loginNamesByDomain: false,
  races: () => false,
  drops: () => false,
  losesContext: () => false,
  externalDomain: undefined,
  refusals: [],
  roles: ['IAM_OWNER'],
  instanceMembers: [],
};

/** Whether exports and imports contain the states of organisations and users. Those of releases 2 and 3 do not. */
export function hasStates(release: Release): boolean {
  return release !== '2.71';
}

/** Whether an aggregate keeps the owner of its first event. Newer releases write the owner of each request. */
export function keepsOwner(release: Release): boolean {
  return release === '2.71';
}

/** A request that the stand-in received. */
export interface ReceivedRequest {
  readonly path: string;
  readonly orgId: string | undefined;
  readonly status: number;
  /** The size of an import in protobuf, and its number of records. */
  readonly bytes?: number;
  readonly records?: number;
  /** The time limit in the request. */
  readonly timeout?: string;
}

/** The stand-in's default organisation. */
export const DEFAULT_ORGANISATION = '400000000000000001';
