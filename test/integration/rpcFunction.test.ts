import { join } from 'node:path';
import { beforeAll, describe } from 'vitest';
import { z } from 'zod';
import type { Instance } from '../support/deployments.ts';
import { describeRpcClients } from '../support/describeRpcClients.ts';
import { identityJson, identityProgram } from '../support/identityCommand.ts';
import { root, startProgram } from '../support/program.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';

// One database, served whole on one port by `identity serve`, and by the function alone.
let instance: Instance = { url: '', token: '', database: undefined };
let urlOfFunction = '';
beforeAll(async () => {
  const directory = await temporaryDirectory();
  const database = ['--data', directory.path];
  const { token } = z.looseObject({ token: z.string() }).parse(await identityJson(['init', ...database]));
  const [node, script] = identityProgram;
  const serving = await startProgram(node, [script, 'serve', ...database, '--port', '0'], /listening on (\S+)/);
  instance = { url: serving.ready[1] ?? '', token, database };
  const framework = join(root, 'node_modules', '.bin', 'functions-framework');
  const target = ['--source=functions/removeOtpEmail/index.ts', '--target=removeOtpEmail', '--port=0'];
  const env = { DATA_DIR: directory.path, LOG_LEVEL: 'info' };
  const started = await startProgram(process.execPath, [framework, ...target], /"url":"http:[^"]*:(\d+)"/, { env });
  urlOfFunction = `http://127.0.0.1:${started.ready[1]}`;
  return async () => {
    await serving.stop();
    await started.stop();
    await directory.remove();
  };
});

describe('identity serve', () => describeRpcClients(() => ({ url: instance.url, instance })));

describe('the function under functions-framework', () => describeRpcClients(() => ({ url: urlOfFunction, instance })));
