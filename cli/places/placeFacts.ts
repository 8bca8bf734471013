/** The user of a place's token. */
interface PlaceCaller {
  readonly userId: string;
  readonly userName: string;
  /** The organisation that the user belongs to. */
  readonly orgId: string;
  /** The roles in the instance, such as IAM_OWNER. */
  readonly roles: readonly string[];
}

/** What a place with a database says of itself before a migration. Its sentences begin small and end without a stop. */
export interface PlaceFacts {
  readonly service: 'identity' | 'zitadel';
  /** The release, where the place tells it. */
  readonly version: string | undefined;
  /** The instance's name, where the place tells it. */
  readonly instance: string | undefined;
  readonly defaultOrgId: string | undefined;
  /** The domains of a ZITADEL's instance, of which it makes those of its organisations. */
  readonly domains: readonly string[];
  /** Undefined where the place does not tell it. */
  readonly caller: PlaceCaller | undefined;
  readonly mayExport: boolean;
  readonly mayImport: boolean;
  /** How far this machine's clock is ahead of the place's; undefined where the place does not tell its time. */
  readonly clockAheadMs: number | undefined;
  /** What limits a call of the place, and how the command keeps it. */
  readonly limits: readonly string[];
  /** What every export leaves out. */
  readonly exportLosses: readonly string[];
  /** What every import does otherwise than an instance of this service. */
  readonly importChanges: readonly string[];
}

/** The Date header of a response has whole seconds, and the response takes its time. */
export const TOLERATED_CLOCK_MS = 5_000;

/** Returns the time that a response's Date header tells. */
export function serverTime(date: string | null | undefined): Date | undefined {
  const time = new Date(date ?? '');
  return Number.isNaN(time.getTime()) ? undefined : time;
}

/** Returns how far this machine's clock is ahead of the time that a server has told just now. */
export function clockAhead(time: Date | undefined): number | undefined {
  return time === undefined ? undefined : Date.now() - time.getTime();
}
