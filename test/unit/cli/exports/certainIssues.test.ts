import { Readable } from 'node:stream';
import { expect, it } from 'vitest';
import { findCertainIssues } from '../../../../cli/exports/certainIssues.ts';
import { progressLines } from '../../../../cli/terminal/progress.ts';
import { defaultExportOptions } from '../../../../functions/export/contract.ts';
import { inspect } from '../../../../shared/exportFile/inspection.ts';
import { organisation, person } from '../../../support/fixtures/organisations.ts';

it('the trial of a file that was inspected reads it once', async () => {
  let reads = 0;
  const people = [person('1'), person('2', { userName: '' })];
  const file = { orgs: [organisation('acme', { humanUsers: people })] };
  const open = () => {
    reads++;
    return Readable.from([Buffer.from(JSON.stringify(file))]);
  };
  const { signal } = new AbortController();
  const inspection = await inspect({ open }, signal);
  reads = 0;
  const context = { output: progressLines({ write: () => true }), signal };
  const { errors } = await findCertainIssues({ open }, inspection, defaultExportOptions, context);
  expect({ reads, errors }).toMatchObject({ reads: 1, errors: [{ type: 'human_user', id: '2' }] });
});
