import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from '../../../tools/freePort.ts';
import { root, run, startProgram } from '../../../tools/program.ts';

/** The reason why Caddy cannot start; undefined if it can. */
export const caddyMissing = await run('caddy', ['version']).then(
  ({ code }) => (code === 0 ? undefined : `caddy version ends with ${code}`),
  () => 'caddy is not installed (Debian: apt-get install caddy)',
);

/** A running Caddy server. */
export interface Caddy {
  readonly url: string;
  /** The PEM file of the certificate authority that signed its certificate. */
  readonly authority: string;
  readonly pid: number;
  stop(): Promise<void>;
}

/**
 * Starts Caddy with the Caddyfile of this repository in front of a service. Uses the name localhost, so that Caddy's
 * own authority signs the certificate. Its only additional settings prevent Caddy from using the ports 80 and 2019, and
 * from changing the trusted certificates of the machine.
 * @param directory the directory of its authority; the caller removes it
 */
export async function startCaddy(serviceUrl: string, directory: string): Promise<Caddy> {
  // Concurrently, so that the system assigns two different ports.
  const [port, httpPort] = await Promise.all([freePort(), freePort()]);
  const shipped = await readFile(join(root, 'hosting/Caddyfile'), 'utf8');
  const added = ['admin off', 'skip_install_trust', `http_port ${httpPort}`];
  const file = join(directory, 'Caddyfile');
  await writeFile(file, shipped.replace(/^\{$/m, ['{', ...added].join('\n')));
  const env = {
    IDENTITY_NAME: `https://localhost:${port}`,
    IDENTITY_UPSTREAM: new URL(serviceUrl).host,
    XDG_DATA_HOME: directory,
    XDG_CONFIG_HOME: directory,
    HOME: directory,
  };
  await mkdir(join(directory, 'caddy'));
  // The shell sends the log to standard error.
  const command = ['-c', 'exec caddy run --config "$0" --adapter caddyfile 2>&1', file];
  const running = await startProgram('sh', command, /serving initial configuration/, { env });
  return {
    url: `https://localhost:${port}`,
    authority: join(directory, 'caddy/pki/authorities/local/root.crt'),
    pid: running.pid,
    stop: async () => void (await running.stop('SIGKILL')),
  };
}
