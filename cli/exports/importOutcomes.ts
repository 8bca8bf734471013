import type { Deletion, ImportError } from '../../functions/import/contract.ts';
import { type Counts, total } from '../../shared/collections/counts.ts';
import { withoutEmpty } from '../../shared/defined.ts';
import { warn } from '../../shared/errors/warnings.ts';
import type { ImportResponse } from './importResponse.ts';
import type { DoneRecords } from './placeInterfaces.ts';

export type OutcomeCounts = Record<
  'created' | 'unchanged' | 'overwritten' | 'skipped' | 'failed' | 'notCarried' | 'unconfirmed',
  Readonly<Counts>
>;

export function noOutcomes(): Record<keyof OutcomeCounts, Counts> {
  return { created: {}, unchanged: {}, overwritten: {}, skipped: {}, failed: {}, notCarried: {}, unconfirmed: {} };
}

/** Returns the counts of a summary, with empty counts for outcomes that the summary lacks. */
export function outcomeCounts({
  created,
  unchanged,
  overwritten = {},
  skipped = {},
  failed,
  notCarried,
  unconfirmed = {},
}: ImportResponse['summary']): OutcomeCounts {
  return { created, unchanged, overwritten, skipped, failed, notCarried, unconfirmed };
}

/**
 * Returns the number of records whose outcome is final. Leaves out records that imports ignore. Leaves out deleted
 * records too, because the imported file does not contain them.
 */
export function countSettled({
  notCarried: _,
  deleted: __,
  ...settled
}: Partial<OutcomeCounts> & { readonly deleted?: Readonly<Counts> }): Required<
  Pick<DoneRecords, 'records' | 'unchanged'>
> {
  const records = Object.values(settled).reduce((sum, counts) => sum + total(counts), 0);
  return { records, unchanged: total(settled.unchanged ?? {}) };
}

const severalRequests = { type: 'import', ...warn('requests_repeated', {}) };

/**
 * Returns a warning for an import that was requested several times. The warning explains that the last response counts
 * the records of earlier requests as unchanged. Returns no warning if no record is unchanged, or if the summary already
 * contains this warning.
 */
export function repetitionWarnings({
  unchanged,
  warnings,
}: ImportResponse['summary']): ImportResponse['summary']['warnings'] {
  const isKnown = warnings.some(({ reason }) => reason === severalRequests.reason);
  return total(unchanged) === 0 || isKnown ? [] : [severalRequests];
}

interface JoinedImport extends Pick<ImportResponse['summary'], 'proved' | 'warnings'> {
  readonly orgIds: readonly string[];
  readonly createdOrgs: readonly string[];
  readonly counts: OutcomeCounts;
  readonly errors: ImportError[];
  readonly elsewhere?: ImportError[];
  readonly errorsOmitted: number;
  readonly warningsOmitted: number;
  readonly dryRun: boolean;
  readonly deletions?: {
    readonly counts: Readonly<Counts>;
    readonly listed: readonly Deletion[];
    readonly omitted: number;
  };
}

/** Converts the results of an import into ZITADEL to a response of this service, without the lists of ids. */
export function joinedResponse({
  orgIds,
  createdOrgs,
  counts,
  errors,
  elsewhere = [],
  proved,
  dryRun,
  deletions: { counts: deleted, listed, omitted } = { counts: {}, listed: [], omitted: 0 },
  ...joined
}: JoinedImport): ImportResponse {
  const { warnings, errorsOmitted, warningsOmitted } = joined;
  const { overwritten, skipped, unconfirmed, ...others } = counts;
  return {
    ...withoutEmpty({ errors, elsewhere }),
    success: orgIds.length === 0 ? {} : { orgs: orgIds.map((orgId) => ({ orgId })) },
    summary: {
      ...others,
      ...withoutEmpty({ createdOrgs: [...createdOrgs], overwritten, skipped, unconfirmed, deleted }),
      warnings,
      proved,
      idsOmitted: true,
      ...withoutEmpty({ dryRun, errorsOmitted, warningsOmitted, deletionsOmitted: omitted }),
    },
    ...withoutEmpty({ deletions: [...listed] }),
  };
}
