import { beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { identityJson } from '../../support/command.ts';
import { describeRpcClients } from '../../support/http/describeRpcClients.ts';
import { serveHosted } from '../../support/instances/commandInstance.ts';
import type { Instance } from '../../support/instances/deployments.ts';
import { startFunction } from '../../support/processes/programs.ts';
import { temporaryDirectory } from '../../support/processes/temporaryDirectory.ts';

// One database, served completely on one port by `identity serve`, and by the function alone.
let instance: Instance = { url: '', token: '', database: undefined };
let urlOfFunction = '';
let outputOfFunction = () => '';
beforeAll(async () => {
  const directory = await temporaryDirectory();
  const database = ['--data', directory.path];
  const { token } = z.looseObject({ token: z.string() }).parse(await identityJson(['init', ...database]));
  const serving = await serveHosted(database);
  instance = { url: serving.ready[1] ?? '', token, database };
  const started = await startFunction('removeOtpEmail', { DATA_DIR: directory.path, LOG_LEVEL: 'info' });
  urlOfFunction = started.url;
  outputOfFunction = started.stdout;
  return async () => {
    await serving.stop();
    await started.stop();
    await directory.remove();
  };
});

describe('the function under functions-framework', () => describeRpcClients(() => ({ url: urlOfFunction, instance })));

it('the log contains the reason for a rejected RPC whose HTTP status is 200, and nothing of its message', () => {
  const lines = outputOfFunction();
  for (const code of ['NOT_FOUND', 'PERMISSION_DENIED', 'UNAUTHENTICATED', 'INVALID_ARGUMENT']) {
    expect(lines).toMatch(
      new RegExp(`"route":"/zitadel.user.v2.UserService/RemoveOTPEmail","status":200,"rpcCode":"${code}"`),
    );
  }
  expect(lines).not.toContain(instance.token);
  expect(lines).not.toMatch(/notreal|x{200}/);
});
