import { mkdir } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { configureLog } from '../shared/log.ts';
import { type Addresses, localCommands } from './localCommands.ts';
import { fillWithSample, startInstance } from './localInstance.ts';
import { createServiceAccount } from './storage/serviceAccountKey.ts';
import { startStorage } from './storage/storageServer.ts';

const BUCKET = 'identity-exports';
const FIRST_PORT = '8080';
const LAST_PORT = 65_533;

// Log requests only if standard error is a terminal, because a person then reads the log.
configureLog(process.stderr.isTTY ? 'info' : 'warn', process.stderr);
try {
  await startLocal(process.env.LOCAL_DIR ?? '.local', firstPort(process.env.PORT ?? FIRST_PORT));
} catch (error) {
  process.stderr.write(`${errorMessage(error)}\n`);
  process.exit(1);
}

async function startLocal(directory: string, port: number): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const key = join(directory, 'storage', 'key.json');
  const storage = await startStorage({
    directory: join(directory, 'storage', 'objects'),
    port: port + 2,
    account: await createServiceAccount({ file: key, name: 'local' }),
    bucket: BUCKET,
  });
  const { url: storageUrl } = storage;
  const source = await startInstance({
    storageUrl,
    name: 'source',
    directory: join(directory, 'source'),
    port,
    fill: fillWithSample,
  });
  const target = await startInstance({
    storageUrl,
    name: 'target',
    directory: join(directory, 'target'),
    port: port + 1,
    fill: async () => {},
  });
  const addresses = {
    source,
    target,
    file: join(directory, 'export.json'),
    bucket: BUCKET,
    key,
  };
  process.stdout.write(welcome(addresses, storageUrl, source.docsUrl));
  await stopSignal();
  process.stdout.write('\nstopping\n');
  await Promise.all([source.close(), target.close()]);
  await storage.close();
}

function welcome(addresses: Addresses, storageUrl: string, docsUrl: string): string {
  const shown = withRelativePaths(addresses);
  const commands = localCommands(shown).map(({ title, line }) => `# ${title}\n${line}\n`);
  return [
    `source  ${addresses.source.url}  with sample data`,
    `target  ${addresses.target.url}  empty`,
    `storage ${storageUrl}  a stand-in for Cloud Storage with the bucket ${addresses.bucket}`,
    `docs    ${docsUrl}  calls the operations as the owner of source`,
    '',
    ...commands,
    'Ctrl-C stops everything.',
    '',
  ].join('\n');
}

function withRelativePaths(addresses: Addresses): Addresses {
  const shorten = (path: string) => relative('.', path) || path;
  const { source, target, file, key } = addresses;
  return {
    ...addresses,
    source: { ...source, tokenFile: shorten(source.tokenFile) },
    target: { ...target, tokenFile: shorten(target.tokenFile) },
    file: shorten(file),
    key: shorten(key),
  };
}

function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => resolve());
  });
}

function firstPort(text: string): number {
  const port = Number(text);
  if (/^\d{1,5}$/.test(text) && port >= 1 && port <= LAST_PORT) return port;
  throw new RangeError(`invalid PORT=${text}: set it to a number from 1 to ${LAST_PORT}`);
}

function errorMessage(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if ('code' in error && error.code === 'EADDRINUSE' && 'port' in error)
    return `port ${error.port} is in use: set PORT to a free port (three consecutive ports are needed)`;
  return error instanceof RangeError || 'code' in error ? error.message : (error.stack ?? error.message);
}
