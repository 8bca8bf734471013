import { join } from 'node:path';
import { z } from 'zod';
import { run } from '../program.ts';
import type { Figure } from './figures.ts';
import {
  initialise,
  type MeasuredPlace,
  peakMegabytes,
  placeInDirectory,
  rawLoops,
  remove,
  type Server,
  serveInstance,
  serveLoop,
} from './measuredServer.ts';
import { exportUsers, importUsers, usersPerSecond } from './measureTransfers.ts';
import { importRequest } from './sample.ts';

const USERS_OF_SMALL_ORGANISATION = 10;
const loopResult = z.object({ milliseconds: z.number(), peakMegabytes: z.number() });

/** Measures the service, and for comparison, loops that process the same rows with SQLite alone. */
export async function measureInstance(directory: string, users: number): Promise<readonly Figure[]> {
  const place = placeInDirectory(directory);
  await initialise(place);
  const database = join(directory, 'identity.sqlite');
  const copy = join(directory, 'loop.sqlite');
  const imported = await importTwice(place, users);
  const write = await runLoop('write', database, copy);
  const lookUp = await runLoop('look-up', database);
  const { exported, removed } = await exportAndRemove(place, users);
  const read = await runLoop('read', database);
  const small = await transferSmallOrganisations(placeInDirectory(`${directory}-small`), users);
  await using loop = await serveLoop(copy);
  const removedByLoop = await removeFactors(loop, users);
  const transfers = [
    ['import', imported.new, write.milliseconds],
    ['import again', imported.again, lookUp.milliseconds],
    ['export with secrets', exported.milliseconds, read.milliseconds],
    ['import of small organisations', small.imported, imported.new],
    ['export of small organisations', small.exported, exported.milliseconds],
  ] as const;
  return [
    ...transfers.map(([title, service, limit]) => usersPerSecond(title, users, { service, limit })),
    { title: 'removal over 1 connection', unit: 'removals/s', service: removed.single, limit: removedByLoop.single },
    { title: 'removal over 32 connections', unit: 'removals/s', service: removed.many, limit: removedByLoop.many },
    { title: 'peak memory of imports', unit: 'MB', service: imported.peak, limit: write.peakMegabytes },
    { title: 'peak memory of exports', unit: 'MB', service: exported.peak, limit: read.peakMegabytes },
  ];
}

async function importTwice(place: MeasuredPlace, users: number) {
  await using server = await serveInstance(place);
  const body = importRequest(users);
  const isNew = await importUsers(server, body, { created: users });
  const again = await importUsers(server, body, { unchanged: users });
  return { new: isNew, again, peak: await peakMegabytes(server) };
}

async function exportAndRemove(place: MeasuredPlace, users: number) {
  await using server = await serveInstance(place);
  const exported = { milliseconds: await exportUsers(server), peak: await peakMegabytes(server) };
  return { exported, removed: await removeFactors(server, users) };
}

/**
 * Measures an import and an export of small organisations, each in a new process, like the import and the export of the
 * large organisation.
 */
async function transferSmallOrganisations(place: MeasuredPlace, users: number) {
  await initialise(place);
  const body = importRequest(users, users / USERS_OF_SMALL_ORGANISATION);
  const imported = await withServer(place, (server) => importUsers(server, body, { created: users }));
  return { imported, exported: await withServer(place, exportUsers) };
}

async function withServer<Result>(place: MeasuredPlace, work: (server: Server) => Promise<Result>): Promise<Result> {
  await using server = await serveInstance(place);
  return await work(server);
}

/**
 * Removes factors over 32 connections until the server is warm. Then measures removals, first over 1 connection, then
 * over 32.
 */
async function removeFactors(server: Server, users: number) {
  let number = 0;
  const next = () => number++;
  await remove(server, next, Math.floor(users * 0.2), 32);
  const single = await remove(server, next, Math.floor(users * 0.1), 1);
  const many = await remove(server, next, Math.floor(users * 0.5), 32);
  return { single, many };
}

async function runLoop(...args: readonly string[]): Promise<z.output<typeof loopResult>> {
  const { code, stdout, stderr } = await run(process.execPath, [...rawLoops, ...args]);
  if (code !== 0) throw new Error(`${args.join(' ')} failed: ${stderr}`);
  return loopResult.parse(JSON.parse(stdout));
}
