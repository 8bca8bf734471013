import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { z } from 'zod';
import type { StoreLocation } from '../../../shared/store/openStore.ts';
import { identityJson } from '../command.ts';
import { serve, serveHosted } from '../instances/commandInstance.ts';
import { temporaryDirectory } from '../processes/temporaryDirectory.ts';
import { keyEnvironment, type StoreKind } from '../stores/stores.ts';
import { databaseOptions, placeOfLocation } from './locations.ts';

const requestLine = z.looseObject({ route: z.string(), status: z.number() });
const created = z.object({ token: z.string(), orgId: z.string() });

/** An instance with two forms as a place: its database and its server. */
export interface ServedPlace {
  readonly location: StoreLocation;
  /** The text `sqlite:…` or `firestore:…`. */
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

type Variables = Readonly<Record<string, string | undefined>>;
type Serve = (
  options: readonly string[],
  env: Variables,
  location: StoreLocation,
) => Promise<{ url: string; stop: () => Promise<unknown> }>;

/**
 * Initialises a database and serves it in the process that all tests share. The server stops when the test ends.
 * @param limits variables that set its limits
 */
export function servedPlace(kind: StoreKind, limits: Variables = {}): Promise<ServedPlace> {
  return newPlace(kind, async (options, env) => {
    const { ready, stop } = await serveHosted(options, [], { ...env, ...limits });
    return { url: ready[1] ?? '', stop };
  });
}

/** Like `servedPlace`, but in its own process, which logs. */
export async function loggedPlace(kind: StoreKind, limits: Variables = {}): Promise<LoggedPlace> {
  let log = () => '';
  const place = await newPlace(kind, async (options, env) => {
    const running = await serve(options, [], { ...env, ...limits });
    log = running.stderr;
    return { url: running.ready[1] ?? '', stop: running.stop };
  });
  const lines = () => log().matchAll(/^.*"request finished".*$/gm);
  const requests = () =>
    Array.from(lines(), ([line]) => requestLine.parse(JSON.parse(line))).map(
      ({ route, status }) => `${route} ${status}`,
    );
  return { ...place, requests };
}

/** Initialises a database and starts its server. The server stops when the test ends. */
export async function newPlace(kind: StoreKind, start: Serve): Promise<ServedPlace> {
  const location = await kind.newLocation();
  const env = keyEnvironment(location);
  const options = databaseOptions(location);
  const { token, orgId } = created.parse(await identityJson(['init', ...options], { env }));
  const { url, stop } = await start(options, env, location);
  onTestFinished(async () => void (await stop()));
  const tokenFile = join(await testDirectory(), 'owner.pat');
  await writeFile(tokenFile, `${token}\n`, { mode: 0o600 });
  return { location, database: placeOfLocation(location), url, tokenFile, token, orgId };
}

/** Creates a directory. The end of the test removes it. */
export async function testDirectory(): Promise<string> {
  const directory = await temporaryDirectory();
  onTestFinished(() => directory.remove());
  return directory.path;
}
