import { mkdir } from 'node:fs/promises';
import { PassThrough } from 'node:stream';
import { expect, it, onTestFinished } from 'vitest';
import { usageError } from '../../../../cli/command.ts';
import {
  interruptionText,
  MigrationRun,
  readMigrationState,
  workAlone,
  writeMigrationState,
} from '../../../../cli/migrate/migrationRun.ts';
import { exportPath } from '../../../../cli/migrate/runDirectory.ts';
import { progressLines } from '../../../../cli/progress.ts';
import { organisationsExist } from '../../../../shared/errors/errors.ts';
import { migrationStopped, placeRefused } from '../../../../shared/errors/placeErrors.ts';
import { migrationState } from '../../../support/migrations/migrationState.ts';
import { temporaryDirectory } from '../../../support/processes/temporaryDirectory.ts';

const state = migrationState('north.json', 'sqlite:./south');

it('a migration that is interrupted before its verification reports the sent records, not the stored ones', () => {
  const confirmedAt = '2026-11-22T20:00:00.000Z';
  const stored = { place: 'sqlite:./south' };
  expect(interruptionText({ ...state, confirmedAt, moved: { stored } })).toBe(
    'all records were sent to sqlite:./south; not verified yet',
  );
  expect(interruptionText({ ...state, confirmedAt })).toBe('records that reached sqlite:./south remain');
  expect(interruptionText(state)).toBe('nothing is changed');
});

function surroundings() {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  return { stdin, stdout, stderr, environment: {}, now: new Date(), signal: new AbortController().signal };
}

it('the state of a migration keeps the figures of the last attempt at each phase until the next step', async () => {
  const { path, remove } = await temporaryDirectory();
  onTestFinished(remove);
  const output = progressLines({ write: () => undefined });
  const run = new MigrationRun(path, state, { output, signal: new AbortController().signal });
  const finish = (seconds: number, succeeded: boolean) =>
    run.output.finish(
      { phase: 'importing', seconds, records: 90, unchanged: 50, perSecond: 0, secondsLeft: undefined, isEnding: true },
      succeeded,
    );
  finish(2, false);
  finish(4, true);
  const attempt = { phase: 'importing', seconds: 4, records: 90, unchanged: 50, perSecond: 10, succeeded: true };
  expect(run.phases).toMatchObject([attempt]);
  await run.advance({ confirmedAt: '2026-11-22T20:01:00.000Z' });
  finish(1, false);
  await run.advance({});
  expect((await readMigrationState(path)).phases).toMatchObject([
    attempt,
    { phase: 'importing', seconds: 1, succeeded: false },
  ]);
});

it.each([
  [
    'offers no resumption if an organisation exists in the target',
    organisationsExist({ orgIds: ['acme'] }).toJson(),
    false,
  ],
  ['offers a resumption after another error with the same message', { code: 6 }, true],
])('an interrupted migration %s, by the name of the error', async (_sentence, body, isOffered) => {
  const { path, remove } = await temporaryDirectory();
  onTestFinished(remove);
  await writeMigrationState(path, state);
  const refused = placeRefused(
    { place: 'https://south.example', reason: 'reworded' },
    { cause: { ...body, message: 'reworded' } },
  );
  const work = workAlone({ ...surroundings(), options: { json: true } }, path, 'started', () =>
    Promise.reject(refused),
  );
  await expect(work).rejects.toSatisfy((error) => migrationStopped.is(error) === isOffered);
});

it('a migration fails with its own error if its export cannot be deleted then, which is a note', async () => {
  const { path, remove } = await temporaryDirectory();
  onTestFinished(remove);
  await writeMigrationState(path, state);
  await mkdir(exportPath(path));
  const call = surroundings();
  const stopping = () => Promise.reject(usageError('the original error'));
  const work = workAlone({ ...call, options: { json: true } }, path, 'started', stopping);
  await expect(work).rejects.toThrow('the original error');
  expect(call.stderr.read().toString()).toMatch(/^could not clean up the run directory: .*is a directory.*\n$/);
});
