import type { Output } from '../command.ts';
import { printable } from '../printable.ts';
import { resumeCommand } from './atWork.ts';
import { readJournal } from './journal.ts';
import { readResult } from './makeResult.ts';
import { resultText } from './resultText.ts';
import { findWorker } from './runLock.ts';
import { type MigrationState, readState } from './state.ts';

/** What a migration has done, in the order in which it does it. */
const steps: readonly (readonly [text: string, isDone: (state: MigrationState) => boolean])[] = [
  ['exported', ({ exported }) => exported !== undefined],
  ['planned', ({ plannedAt }) => plannedAt !== undefined],
  ['agreed to', ({ consentedAt }) => consentedAt !== undefined],
  ['moved', ({ moved }) => moved !== undefined],
  ['proved', ({ finishedAt }) => finishedAt !== undefined],
];

/** Describes how far a migration has come, and what goes on with it. */
export async function describeStatus(directory: string): Promise<Output> {
  const state = await readState(directory);
  const pid = await findWorker(directory);
  const result = await readResult(directory);
  const failure = readJournal(directory).findLast(({ event }) => event === 'failed' || event === 'resumed');
  const problem = failure?.event === 'failed' ? failure.problem : undefined;
  const done = steps.filter(([, isDone]) => isDone(state)).map(([text]) => text);
  const isFinished = state.finishedAt !== undefined;
  const next = isFinished || pid !== undefined ? undefined : resumeCommand(directory);
  const lines = [
    `${directory}: from ${state.settings.from} to ${state.settings.to}, started at ${state.startedAt}`,
    `done: ${done.join(', ') || 'nothing'}`,
    ...(pid === undefined ? [] : [`process ${pid} works on it`]),
    ...(problem === undefined || isFinished ? [] : [`stopped: ${problem}`]),
    ...(next === undefined ? [] : [`go on with ${next}`]),
    ...(isFinished && result !== undefined ? resultText(result, directory).split('\n') : []),
  ];
  const { from, to } = state.settings;
  return {
    json: {
      event: 'result',
      directory,
      from,
      to,
      startedAt: state.startedAt,
      done,
      pid,
      problem,
      next,
      migration: result,
    },
    text: lines.map(printable).join('\n'),
  };
}
