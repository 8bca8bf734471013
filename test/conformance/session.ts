import { type CleanUp, cleanUp } from './cleanUp.ts';
import { madeOrganisations } from './madeOrganisations.ts';
import type { Options } from './options.ts';
import { asOwner } from './owner.ts';
import { prepare } from './prepare.ts';
import type { Result } from './report.ts';
import type { Row } from './row.ts';
import { rows } from './rows.ts';
import { reason, type Target } from './runRow.ts';
import { notRun, runTable, type TableResults } from './runTable.ts';
import { newSubjects, newZitadelSubjects, type Subjects } from './subjects.ts';
import { removeViewer, zitadelTokens } from './zitadelCallers.ts';

/** What ends a run early. */
export interface Interrupts {
  /** Ends the rows; what they created is still removed. */
  readonly stop: AbortSignal;
  /** Ends the removal too. */
  readonly abandon: AbortSignal;
}

/** What a run found, and what it left. */
export interface Session extends TableResults {
  readonly cleaned: CleanUp;
}

/** Prepares a server, runs the table on it, and removes what that created. It never rejects, so that there is a report. */
export async function runSession(
  options: Options,
  { stop, abandon }: Interrupts,
  onResult: (result: Result) => void,
): Promise<Session> {
  const { baseUrl, tokens, reference, settleMs, restartMs } = options;
  const subjects = reference === 'zitadel' ? newZitadelSubjects() : newSubjects();
  const table = chosen(rows(subjects, reference), options);
  if (table.length === 0) return { results: [], halted: NO_ROWS, cleaned: { removed: [], left: [] } };
  const made = madeOrganisations(subjects.isOwn);
  const target = { baseUrl, tokens, spent: [], settleMs, signal: stop, onExchange: made.onExchange };
  const outcome = await prepared(target, subjects, options).then(
    (ready) => runTable(table, ready, { restartMs, onResult }),
    (error: unknown) => unprepared(table, stop, error),
  );
  const ask = asOwner(baseUrl, tokens.owner, { signal: abandon });
  const hasMember = reference === 'zitadel' && made.ids().length > 0;
  const membership = hasMember ? await removeViewer(ask, subjects.callers.viewer) : undefined;
  const cleaned = await cleanUp(ask, made.ids(), { limitMs: settleMs, signal: abandon }).catch((error: unknown) => ({
    removed: [],
    left: made.ids(),
    why: `the suite failed: ${reason(error)}`,
  }));
  return { ...outcome, cleaned: { ...cleaned, membership } };
}

const NO_ROWS = 'no row has a name that --only and --skip leave';

function chosen(table: readonly Row[], { only, skip }: Options): Row[] {
  return table.filter(({ name }) => (only?.test(name) ?? true) && skip?.test(name) !== true);
}

async function prepared(target: Target, subjects: Subjects, { reference, settleMs }: Options): Promise<Target> {
  const { baseUrl, tokens, signal } = target;
  const spent = await prepare(baseUrl, tokens.owner, subjects, target);
  if (reference === 'ours') return { ...target, spent };
  const made = await zitadelTokens(asOwner(baseUrl, tokens.owner, { signal }), subjects, { limitMs: settleMs, signal });
  return { ...target, spent, tokens: { ...tokens, ...made } };
}

function unprepared(table: readonly Row[], stop: AbortSignal, error: unknown): TableResults {
  const halted = stop.aborted ? 'the run was interrupted' : `the server could not be prepared: ${reason(error)}`;
  return { results: notRun(table, halted), halted };
}
