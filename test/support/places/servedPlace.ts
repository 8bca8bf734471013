import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { z } from 'zod';
import type { StoreLocation } from '../../../shared/store/openStore.ts';
import { identityJson } from '../command.ts';
import { serve } from '../instances/commandInstance.ts';
import { temporaryDirectory } from '../processes/temporaryDirectory.ts';
import { keyEnvironment, type StoreKind } from '../stores/stores.ts';
import { databaseOptions, placeOfLocation } from './locations.ts';

const requestLine = z.looseObject({ route: z.string(), status: z.number() });
const created = z.object({ token: z.string(), orgId: z.string() });

/** An instance that is a place in two ways: by its database, and by its server. */
export interface ServedPlace {
  readonly location: StoreLocation;
  /** `sqlite:…` or `firestore:…`. */
  readonly database: string;
  readonly url: string;
  readonly tokenFile: string;
  readonly token: string;
  readonly orgId: string;
}

/** A server that logs its requests. */
export interface LoggedPlace extends ServedPlace {
  /** The route and status of each request so far. */
  readonly requests: () => string[];
}

/**
 * Initialises a database and serves it until the test has finished.
 * @param more options of the server
 * @param limits variables that set its limits
 */
export async function servedPlace(
  kind: StoreKind,
  more: readonly string[] = [],
  limits: Readonly<Record<string, string>> = {},
): Promise<LoggedPlace> {
  const location = await kind.newLocation();
  const env = keyEnvironment(location);
  const options = databaseOptions(location);
  const { token, orgId } = created.parse(await identityJson(['init', ...options], { env }));
  const running = await serve(options, more, { ...env, ...limits });
  onTestFinished(async () => void (await running.stop()));
  const tokenFile = join(await testDirectory(), 'owner.pat');
  await writeFile(tokenFile, `${token}\n`, { mode: 0o600 });
  const url = running.ready[1] ?? '';
  const lines = () => running.stderr().matchAll(/^.*"request finished".*$/gm);
  const requests = () =>
    Array.from(lines(), ([line]) => requestLine.parse(JSON.parse(line))).map(
      ({ route, status }) => `${route} ${status}`,
    );
  return { location, database: placeOfLocation(location), url, tokenFile, token, orgId, requests };
}

/** Makes a directory that is removed when the test has finished. */
export async function testDirectory(): Promise<string> {
  const directory = await temporaryDirectory();
  onTestFinished(() => directory.remove());
  return directory.path;
}
