import { code, table } from '../docs/markdown.ts';
import { redact } from './redact.ts';
import { describeStatement, openStatements } from './statements.ts';
import type { Finding } from './step.ts';

/** Describes the findings as a document: what was expected and observed, and which statements they settle. */
export function findingsDocument(findings: readonly Finding[], date: string, region: string): string {
  const rows = findings.map(({ statement, expected, observed, verdict }) => [
    describeStatement(statement),
    expected,
    redact(observed).replaceAll(/\s+/g, ' '),
    verdict,
  ]);
  const open = openStatements(findings.map(({ statement }) => statement));
  return [
    '# Findings in Google Cloud',
    `${code('npm run verify:cloud')} has observed these in a real project in ${region} on ${date}.`,
    table(
      ['statement in [operations-google-cloud.md](operations-google-cloud.md)', 'expected', 'observed', 'result'],
      rows,
    ),
    '## Not settled by a run',
    table(['statement', 'reason'], open),
  ].join('\n\n');
}
