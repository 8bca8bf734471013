import { readFile, rm } from 'node:fs/promises';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { beforeAll, describe, vi } from 'vitest';
import { describeRpcClients } from '../support/http/describeRpcClients.ts';
import { init, serve } from '../support/instances/commandInstance.ts';
import type { Instance } from '../support/instances/deployments.ts';
import { caddyMissing, startCaddy } from '../support/processes/caddy.ts';
import { temporaryDirectory } from '../support/processes/temporaryDirectory.ts';

/** The directory of Caddy. gRPC's library reads the path of its authority when it is imported. */
const caddyDirectory = vi.hoisted(() => {
  const { mkdtempSync } = process.getBuiltinModule('node:fs');
  const { tmpdir } = process.getBuiltinModule('node:os');
  const directory = mkdtempSync(`${tmpdir()}/caddy-`);
  process.env.GRPC_DEFAULT_SSL_ROOTS_FILE_PATH = `${directory}/caddy/pki/authorities/local/root.crt`;
  return directory;
});

describe.skipIf(caddyMissing !== undefined)('clients of gRPC, gRPC-Web and Connect behind Caddy', () => {
  let instance: Instance = { url: '', token: '', database: undefined };
  let url = '';
  beforeAll(async () => {
    const directory = await temporaryDirectory();
    const database = ['--data', directory.path];
    const { token } = await init(database);
    const running = await serve(database, [], {});
    instance = { url: running.ready[1] ?? '', token, database };
    const caddy = await startCaddy(instance.url, caddyDirectory);
    url = caddy.url;
    const trusted = getCACertificates('default');
    setDefaultCACertificates([...trusted, await readFile(caddy.authority, 'utf8')]);
    return async () => {
      setDefaultCACertificates(trusted);
      await caddy.stop();
      await running.stop();
      await directory.remove();
      await rm(caddyDirectory, { recursive: true });
    };
  });

  describeRpcClients(() => ({ url, instance }));
});
