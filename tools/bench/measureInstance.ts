import { join } from 'node:path';
import { z } from 'zod';
import { run } from '../program.ts';
import type { Figure } from './figures.ts';
import {
  initialise,
  peakMegabytes,
  post,
  rawLoops,
  remove,
  type Server,
  serveInstance,
  serveLoop,
} from './measuredServer.ts';
import { importRequest } from './sample.ts';

const EXPORTS = 5;
const exportRequest = JSON.stringify({
  timeout: '10m',
  response_output: true,
  with_passwords: true,
  with_otp: true,
});
const importResponse = z.object({
  errors: z.undefined().optional(),
  summary: z.object({
    created: z.record(z.string(), z.number()),
    unchanged: z.record(z.string(), z.number()),
  }),
});
const loopResult = z.object({ milliseconds: z.number(), peakMegabytes: z.number() });

/**
 * Measures imports, exports, their memory and removals once: first of a new instance, then of the loops with the same
 * rows.
 */
export async function measureInstance(directory: string, users: number): Promise<readonly Figure[]> {
  await initialise(directory);
  const database = join(directory, 'identity.sqlite');
  const copy = join(directory, 'loop.sqlite');
  const imported = await importTwice(directory, users);
  const write = await runLoop('write', database, copy);
  const lookUp = await runLoop('look-up', database);
  const { exported, removed } = await exportAndRemove(directory, users);
  const read = await runLoop('read', database);
  await using loop = await serveLoop(copy);
  const removedByLoop = await removeFactors(loop, users);
  const perSecond = (milliseconds: number) => (users / milliseconds) * 1_000;
  const transfers = [
    ['import', imported.new, write.milliseconds],
    ['import again', imported.again, lookUp.milliseconds],
    ['export with secrets', exported.milliseconds, read.milliseconds],
  ] as const;
  return [
    ...transfers.map(([title, service, limit]): Figure => {
      return { title, unit: 'users/s', service: perSecond(service), limit: perSecond(limit) };
    }),
    { title: 'removal over 1 connection', unit: 'removals/s', service: removed.one, limit: removedByLoop.one },
    { title: 'removal over 32 connections', unit: 'removals/s', service: removed.many, limit: removedByLoop.many },
    { title: 'peak memory of imports', unit: 'MB', service: imported.peak, limit: write.peakMegabytes },
    { title: 'peak memory of exports', unit: 'MB', service: exported.peak, limit: read.peakMegabytes },
  ];
}

async function importTwice(directory: string, users: number) {
  await using server = await serveInstance(directory);
  const body = importRequest(users);
  const send = async (outcome: 'created' | 'unchanged') => {
    const { text, milliseconds } = await post(server, 'import', body);
    const { summary } = importResponse.parse(JSON.parse(text));
    if (summary[outcome].humanUsers !== users) throw new Error(`not all users were ${outcome}: ${text.slice(0, 500)}`);
    return milliseconds;
  };
  return { new: await send('created'), again: await send('unchanged'), peak: await peakMegabytes(server) };
}

async function exportAndRemove(directory: string, users: number) {
  await using server = await serveInstance(directory);
  let milliseconds = 0;
  for (let count = 0; count < EXPORTS; count++)
    milliseconds += (await post(server, 'export', exportRequest)).milliseconds;
  const exported = { milliseconds: milliseconds / EXPORTS, peak: await peakMegabytes(server) };
  return { exported, removed: await removeFactors(server, users) };
}

/** Removes factors over 32 connections until the server is warm, then over 1 and over 32. */
async function removeFactors(server: Server, users: number) {
  let number = 0;
  const next = () => number++;
  await remove(server, next, Math.floor(users * 0.2), 32);
  const one = await remove(server, next, Math.floor(users * 0.1), 1);
  const many = await remove(server, next, Math.floor(users * 0.5), 32);
  return { one, many };
}

async function runLoop(...args: readonly string[]): Promise<z.output<typeof loopResult>> {
  const { code, stdout, stderr } = await run(process.execPath, [...rawLoops, ...args]);
  if (code !== 0) throw new Error(`${args.join(' ')} failed: ${stderr}`);
  return loopResult.parse(JSON.parse(stdout));
}
