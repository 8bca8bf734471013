import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import type { MigrationResult } from '../../../cli/migrate/migrationTypes.ts';
import { type Running, startProgram } from '../../../tools/program.ts';
import { identity } from '../../support/command.ts';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { provedFile } from '../../support/fixtures/provedFile.ts';
import { startTcpProxy, type TcpProxy } from '../../support/http/tcpProxy.ts';
import { betweenServers, readResult } from '../../support/migrations/migrating.ts';
import { type RestartablePlace, restartablePlace } from '../../support/migrations/restartablePlace.ts';
import { testDirectory } from '../../support/places/servedPlace.ts';
import { type TransferBucket, transferBucket } from '../../support/places/transferPlace.ts';
import { identityProgram } from '../../support/processes/programs.ts';
import { sqlite } from '../../support/stores/stores.ts';
import { randomOf } from './random.ts';

const HASH = '$2a$04$0123456789012345678901uBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB';
/** The share of a side's bytes after which no kill is tried: no two migrations send equally many. */
const LATEST = 0.95;
const secrets = ['--with', 'passwords,otp,keys'];
/** The number of people that each organisation loses. */
const LOST = 50;
const mirror = ['--on-conflict', 'overwrite', '--mirror', '--max-deleted', '1000'];

type Side = 'source' | 'target';
const victims: readonly ('client' | Side)[] = ['client', 'source', 'target'];

/** The size of a migration, and the number of its kills. */
interface Killed {
  /** The numbers of people of the organisations. */
  readonly sizes: readonly number[];
  readonly rounds: number;
  readonly killsOfOneMigration: number;
  /** The limit of requests and responses, above which files pass through a bucket; by default there is none. */
  readonly bytes?: number;
  /** Whether the source has lost people since an earlier migration to each target: these must be deleted there. */
  readonly mirrors?: true;
}

/** An instance whose clients reach it through a network that can hold back any byte. */
interface NetworkedPlace extends RestartablePlace {
  readonly network: TcpProxy;
}

/** Two instances, and the bucket that they may have. */
type Places = Readonly<Record<Side, NetworkedPlace>> & { readonly bucket?: TransferBucket | undefined };

/** The bytes that pass through each network in a whole migration. */
type Traffic = readonly { readonly up: number; readonly down: number }[];

function networksOf({ source, target, bucket }: Places): readonly TcpProxy[] {
  return [source.network, target.network, ...(bucket === undefined ? [] : [bucket.network])];
}

/**
 * Migrates between two instances in rounds, each killed and repeated, and expects equal results. A kill takes place
 * while a byte of the migration is held back: no migration can have ended before, however fast the machine is.
 */
export async function expectMigratedAfterKills({
  sizes,
  rounds,
  killsOfOneMigration,
  bytes,
  mirrors,
}: Killed): Promise<void> {
  const random = randomOf('killed migration');
  const people = sizes.reduce((sum, size) => sum + size, 0);
  const bucket = bytes === undefined ? undefined : await transferBucket();
  const start = () => {
    if (bucket === undefined || bytes === undefined) return restartablePlace(sqlite);
    return restartablePlace(sqlite, {
      limits: { requestBytes: bytes, responseBytes: bytes },
      bucketUrl: bucket.network.url,
    });
  };
  const source = await networked(await start());
  const prepared: NetworkedPlace[] = [];
  if (mirrors === true) {
    await fill(source, withLost(sizes), 1);
    for (let target = 0; target <= rounds; target++) {
      prepared.push(await networked(await start()));
      expect((await identity(callBetween({ source, target: prepared[target] ?? source }))).code).toBe(0);
    }
  }
  await fill(source, sizes, 2);
  const nextTarget = async () => prepared.shift() ?? (await networked(await start()));
  const traffic = await wholeTraffic({ source, target: await nextTarget(), bucket });
  let struck = 0;
  for (let round = 0; round < rounds; round++) {
    const places = { source, target: await nextTarget(), bucket };
    const { result, kills } = await migrateKilled(places, killsOfOneMigration, traffic, random);
    struck += kills;
    expect(result).toMatchObject({
      outcome: 'done',
      moved: { organisations: sizes.length, records: people + sizes.length },
      proof: { unexpected: 0, expected: 0, sections: { humanUsers: { equal: people } }, sourceUnchanged: true },
      credentials: { withPassword: people, kept: people },
    });
  }
  process.stderr.write(`${struck} kills in ${rounds} migrations of ${people} people\n`);
  expect(struck).toBeGreaterThanOrEqual(rounds);
}

function withLost(sizes: readonly number[]): readonly number[] {
  return sizes.map((size) => size + LOST);
}

/** Fills a place with organisations of these sizes, and removes people above these sizes. */
async function fill({ database }: RestartablePlace, sizes: readonly number[], minute: number): Promise<void> {
  const organisations = sizes.map((size, index) => {
    const persons = Array.from({ length: size }, (_, number) =>
      person(`${index}-person-${number}`, { hashedPassword: { value: HASH } }),
    );
    return organisation(`organisation-${index}`, { humanUsers: persons });
  });
  const file = join(await testDirectory(), 'orgs.json');
  const proved = await provedFile(organisations, { readTime: `2026-01-02T03:0${minute}:00.000Z` });
  await writeFile(file, JSON.stringify(proved));
  expect((await identity(['import', file, '--to', database, ...mirror, '--yes'])).code).toBe(0);
}

async function networked(place: RestartablePlace): Promise<NetworkedPlace> {
  const network = await startTcpProxy(place.url);
  onTestFinished(() => network.close());
  return { ...place, url: network.url, network };
}

/** Returns the traffic of a migration that nothing interrupts. */
async function wholeTraffic(places: Places): Promise<Traffic> {
  const networks = networksOf(places);
  const passed = () => networks.map((network) => ({ up: network.bytes('up'), down: network.bytes('down') }));
  const before = passed();
  const ended = await identity(callBetween(places));
  expect(ended.code, ended.stderr).toBe(0);
  return passed().map(({ up, down }, index) => ({
    up: up - (before[index]?.up ?? 0),
    down: down - (before[index]?.down ?? 0),
  }));
}

function callBetween({ source, target }: Places): readonly string[] {
  return ['migrate', ...betweenServers(source, target), ...secrets, ...mirror, '--yes', '--json'];
}

/** The outcomes of a round of kills. */
interface Round {
  readonly result: MigrationResult;
  readonly kills: number;
}

/**
 * Migrates to a new target and kills up to this many times. A killed server is started again while the client waits
 * for it; a client that was killed, or has ended because of a server, is run again. It leaves no file in any case.
 */
async function migrateKilled(places: Places, maxKills: number, traffic: Traffic, random: () => number): Promise<Round> {
  const directory = await testDirectory();
  let running = await startMigration(places, directory);
  for (let kills = 0; ; ) {
    const ended = running.ended().then(() => undefined);
    const victim =
      kills < maxKills ? await Promise.race([strike(places, traffic, maxKills, random), ended]) : undefined;
    if (victim !== undefined) {
      if (victim === 'client') await running.stop('SIGKILL');
      else await places[victim].kill();
      await restart(places);
      process.stderr.write(`killed ${victim}\n`);
      kills++;
      if (victim !== 'client') continue;
    }
    const { code, stdout, stderr } = await running.ended();
    expect(await readdir(directory)).toEqual([]);
    if (code === 0) return { result: await checkMigrated(places, stdout), kills };
    expect(code, stderr).toBe(victim === 'client' ? null : 1);
    if (code === 1) expect(stderr).toMatch(/run the same command again: identity migrate |cannot be reached/);
    // A fault of this run that has not happened would block the next run, and no code would await it.
    await restart(places);
    running = await startMigration(places, directory);
  }
}

/** Starts killed servers again, and breaks the connections that hold back bytes. */
async function restart(places: Places): Promise<void> {
  const networks = networksOf(places);
  for (const network of networks) await network.refuse();
  for (const { start } of [places.source, places.target]) await start();
  for (const network of networks) await network.accept();
}

/** @param directory for the temporary files of the command */
function startMigration(places: Places, directory: string): Promise<Running> {
  const [command, script] = identityProgram;
  const env = { TMPDIR: directory, SQLITE_TMPDIR: directory };
  return startProgram(command, [script, ...callBetween(places)], /^/, { env });
}

/**
 * Holds back a byte in one of the networks; resolves with the victim to kill during that time.
 * Kills a migration several times, each time after an equally smaller part of its bytes.
 */
async function strike(places: Places, traffic: Traffic, kills: number, random: () => number): Promise<'client' | Side> {
  const networks = networksOf(places);
  const index = Math.floor(random() * networks.length);
  const [network, { up, down } = { up: 0, down: 0 }] = [networks[index], traffic[index]];
  const position = Math.floor((random() * LATEST * (up + down)) / kills);
  if (position < up) network?.stall('up', position);
  else network?.stall('down', position - up);
  await network?.struck();
  // An instance is killed while its own bytes, or those of the bucket, are held back.
  const possible = victims.filter(
    (victim) => victim === 'client' || (index === 0) === (victim === 'source') || index > 1,
  );
  return possible[Math.floor(random() * possible.length)] ?? 'client';
}

async function checkMigrated({ source, target }: Places, stdout: string) {
  const without = ['--exclude-org', source.orgId, '--exclude-org', target.orgId];
  const compared = await identity(['compare', source.database, target.database, ...without, ...secrets]);
  expect(compared).toMatchObject({ code: 0, stdout: expect.stringMatching(/^equal\n/) });
  return readResult(stdout);
}
