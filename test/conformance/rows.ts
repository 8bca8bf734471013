import { recordedRows } from './recordedRows.ts';
import type { Row } from './row.ts';
import { callerRows } from './statements/callers.ts';
import { exportRows } from './statements/exports.ts';
import { gatewayRows } from './statements/gateway.ts';
import { importCases } from './statements/importCases.ts';
import { importRows } from './statements/imports.ts';
import { jsonMapping } from './statements/jsonMapping.ts';
import { removalRows } from './statements/removal.ts';
import type { Subjects } from './subjects.ts';

/** The whole table, in the order in which it has to be run. */
export function rows(subjects: Subjects): Row[] {
  return [
    ...recordedRows(subjects),
    ...jsonMapping(subjects),
    ...callerRows(subjects),
    ...gatewayRows(),
    ...removalRows(subjects),
    ...importCases(subjects),
    ...importRows(subjects),
    ...exportRows(subjects),
  ];
}
