import { readFile } from 'node:fs/promises';
import { resultBlocks } from '../../cli/migrate/migrationBlocks.ts';
import type { MigrationResult } from '../../cli/migrate/migrationTypes.ts';
import { renderPage } from '../../cli/report/page.ts';

/** The path of the sample report about the migration that the documentation describes first. */
export const SAMPLE_REPORT = 'docs/samples/report.html';

const at = (second: number) => `2026-01-01T09:00:0${second}.000Z`;

/** Fixed values for the fields of a migration's result that differ between runs. */
const changing: Readonly<Record<string, unknown>> = {
  startedAt: at(0),
  sourceReadAt: at(1),
  targetEqualAt: at(8),
  provedAt: at(8),
  finishedAt: at(8),
  seconds: 1,
};

/**
 * Matches an id that was generated, such as the id of the source's default organisation. Ids of the sample data do not
 * match.
 */
const generatedId = /\b(?!330000000000000)\d{18}\b/g;

/**
 * Texts that differ between runs, each with its replacement. The texts are the random part of a token's id, and the
 * directory of the token's file.
 */
const ofRun = [
  [/pat revoke [0-9a-f]{32}/g, `pat revoke ${'0'.repeat(32)}`],
  [/(?<=[ "])\/[^ "]*(?=\/\.local\/)/g, ''],
] as const;

/** Renders the report about the migration that the documentation describes first, with a fixed time and fixed ports. */
export async function sampleReport(file: string): Promise<string> {
  const json = await readFile(file, 'utf8');
  const read: MigrationResult = JSON.parse(json);
  const text = ofRun
    .reduce((changed, [pattern, fixed]) => changed.replace(pattern, fixed), json)
    .replaceAll(read.source.place, 'http://127.0.0.1:8080')
    .replaceAll(read.target.place, 'http://127.0.0.1:8081')
    .replace(generatedId, '300000000000000000');
  const result: MigrationResult = JSON.parse(text, (key, value: unknown) => changing[key] ?? value);
  const phases = result.phases.map((phase) => ({ ...phase, perSecond: phase.records }));
  // Sort the phases, because concurrent phases can report their progress in any order.
  const sorted = phases.toSorted((a, b) => (a.phase < b.phase ? -1 : 1));
  const { source, target } = result;
  return renderPage(`Migration from ${source.place} to ${target.place}`, resultBlocks({ ...result, phases: sorted }));
}
