import { recordedRows } from './recordedRows.ts';
import type { Reference, Row } from './row.ts';
import seenOnZitadel from './seenOnZitadel.json' with { type: 'json' };
import { callerRows } from './statements/callers.ts';
import { exportRows } from './statements/exports.ts';
import { gatewayRows } from './statements/gateway.ts';
import { importCases } from './statements/importCases.ts';
import { importRows } from './statements/imports.ts';
import { jsonMapping } from './statements/jsonMapping.ts';
import { removalRows } from './statements/removal.ts';
import { repetitionRows } from './statements/repetitions.ts';
import type { Subjects } from './subjects.ts';

const seen: ReadonlySet<string> = new Set(seenOnZitadel.rows);

/** The rows that a server must pass that is measured against `reference`, in the order in which they have to be run. */
export function rows(subjects: Subjects, reference: Reference = 'ours'): Row[] {
  const table = [
    ...recordedRows(subjects, reference),
    ...jsonMapping(subjects),
    ...callerRows(subjects),
    ...gatewayRows(subjects),
    ...removalRows(subjects),
    ...importCases(subjects),
    ...importRows(subjects),
    ...repetitionRows(subjects),
    ...exportRows(subjects),
  ]
    .filter(({ feature }) => feature === 'documented' || feature === reference)
    .map((row) =>
      reference === 'zitadel' && !seen.has(`${row.origin}: ${row.name}`) ? { ...row, isUntried: true } : row,
    );
  return [...table.filter(({ danger }) => danger === undefined), ...table.filter(({ danger }) => danger !== undefined)];
}
