import { listPhases, readJournal } from './journal.ts';
import type { MigrationPlan } from './plan.ts';
import type { MigrationRun, Side } from './run.ts';

type Work = MigrationPlan['work'];

/** What ZITADELs import: as measured, since their trial sends nothing. */
const ZITADEL_PER_SECOND = 250;

/**
 * Estimates the requests and the time of a migration by what was measured: its export, and the trial of its import.
 * @param trialSeconds undefined where the target has tried nothing
 */
export function estimateWork(
  run: MigrationRun,
  { source, target }: { readonly source: Side; readonly target: Side },
  trialSeconds: number | undefined,
): Work {
  const { bytes = 0, records = 0, organisations = 0 } = run.state.exported ?? {};
  const exporting = listPhases(readJournal(run.directory)).findLast(({ phase }) => phase === 'exporting');
  const exportSeconds = exporting?.seconds ?? 0;
  const exports = [source, target].filter(({ kind }) => kind === 'zitadel').length;
  const calls = exports === 0 ? '' : `, by ${exports * organisations} calls of the ZITADEL`;
  const { name } = target.place;
  const moving = moveEstimate(target, records, trialSeconds ?? exportSeconds);
  const verb = target.place.takes === 'files' ? 'store' : 'import';
  return {
    requests: [`${verb} ${bytes} bytes of JSON: ${name}`, `read both sides and compare them${calls}`],
    seconds: moving.seconds + 2 * exportSeconds,
    perSecond: moving.seconds === 0 ? 0 : records / moving.seconds,
    measuredBy: moving.measuredBy,
  };
}

function moveEstimate(
  { kind, place }: Side,
  records: number,
  measuredSeconds: number,
): Pick<Work, 'seconds' | 'measuredBy'> {
  if (place.takes === 'files') return { seconds: 0, measuredBy: 'the export' };
  if (kind !== 'zitadel') return { seconds: measuredSeconds, measuredBy: 'the export and the trial' };
  return {
    seconds: records / ZITADEL_PER_SECOND,
    measuredBy: `the export, and ${ZITADEL_PER_SECOND} records a second, as ZITADELs import`,
  };
}
