import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { MigrationPlan, MigrationResult } from '../../../cli/migrate/migrationTypes.ts';
import { identity } from '../command.ts';
import { type ServedPlace, testDirectory } from '../places/servedPlace.ts';
import { keyEnvironment } from '../stores/stores.ts';

/** The parameters of a migration in a test. */
export interface Migrating {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** An empty directory. */
  readonly cwd: string;
}

/** The options for a migration between two served instances. */
export function betweenServers(north: ServedPlace, south: ServedPlace): readonly string[] {
  const tokens = ['--from-token-file', north.tokenFile, '--to-token-file', south.tokenFile];
  return ['--from', north.url, '--to', south.url, ...tokens];
}

/** Prepares a migration from or to a database. */
export async function prepareMigration({ location }: Pick<ServedPlace, 'location'>): Promise<Migrating> {
  return { env: keyEnvironment(location), cwd: await testDirectory() };
}

/** Runs `identity migrate` to its result. */
export async function migrate(args: readonly string[], { env, cwd }: Migrating, code = 0): Promise<MigrationResult> {
  const ended = await identity(['migrate', ...args, '--json'], { env, cwd });
  expect(ended.code, `${ended.stdout}${ended.stderr}`).toBe(code);
  return readResult(ended.stdout);
}

/** Runs `identity migrate --dry-run`, and returns the plan. */
export async function planOf(args: readonly string[], { env, cwd }: Migrating): Promise<MigrationPlan> {
  const ended = await identity(['migrate', ...args, '--dry-run', '--json'], { env, cwd });
  expect(ended.code, `${ended.stdout}${ended.stderr}`).toBe(0);
  return JSON.parse(lastLine(ended.stdout));
}

function lastLine(stdout: string): string {
  return stdout.trim().split('\n').at(-1) ?? '';
}

/** Reads the result in the last line of `--json`. */
export function readResult(stdout: string): MigrationResult {
  const { event, ...result } = JSON.parse(lastLine(stdout));
  expect(event).toBe('result');
  return result;
}

/** Writes an export file, and returns its path. */
export async function exportFileWith(...orgs: readonly unknown[]): Promise<string> {
  const file = join(await testDirectory(), 'orgs.json');
  await writeFile(file, JSON.stringify({ orgs }));
  return file;
}
