import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type LocalStart, startLocal } from '../support/instances/localStart.ts';
import { type TemporaryDirectory, temporaryDirectory } from '../support/processes/temporaryDirectory.ts';
import { installSchemathesis, runSchemathesis, type TestedInstance } from './schemathesis.ts';

const found = await installSchemathesis();
const python = 'python' in found ? found.python : '';

describe.skipIf(python === '')('the document at /openapi.json', () => {
  let directory: TemporaryDirectory = { path: '', remove: async () => {} };
  let local: LocalStart | undefined;
  let instance: TestedInstance = { url: '', token: '', bucket: '', key: '' };
  beforeAll(async () => {
    directory = await temporaryDirectory();
    local = await startLocal({ directory: directory.path });
    const key = await readFile(join(directory.path, 'storage', 'key.json'), 'base64');
    instance = { url: local.sourceUrl, token: local.sourceToken, bucket: 'identity-exports', key };
  });
  afterAll(async () => {
    await local?.stop();
    await directory.remove();
  });

  it('describes how the instance responds, whatever is sent to it', async () => {
    const { code, stdout, stderr } = await runSchemathesis(python, instance, directory.path);
    expect(code, `${stdout}${stderr}`).toBe(0);
    const [summary] = /\d+ generated, \d+ passed.*/.exec(stdout) ?? [];
    process.stdout.write(`schemathesis: ${summary}\n`);
    expect(stdout).toMatch(/Selected: 10\/10\n\s*Tested: 10\n/);
  });

  it('does not count as tested if every request is rejected', async () => {
    const refused = { ...instance, token: 'wrong' };
    const { code, stdout } = await runSchemathesis(python, refused, directory.path, ['--phases', 'examples']);
    expect(code).not.toBe(0);
    expect(stdout).toContain('Authentication failed');
  });
});
