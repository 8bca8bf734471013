import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { allEndpoints } from '../../functions/endpoints.ts';
import { openApiDocument } from '../../shared/openapi/openApiDocument.ts';
import { run } from '../../tools/program.ts';
import { type TemporaryDirectory, temporaryDirectory } from '../support/processes/temporaryDirectory.ts';

/** Linters in fixed versions, which npx brings: each would add more packages than the project has. */
const linters = [
  {
    name: 'redocly',
    program: '@redocly/cli@2.77.0',
    args: ['lint', '--format=json', `--config=${join(import.meta.dirname, 'redocly.yaml')}`],
    // It exits with 0 after warnings.
    ok: /"totals": \{\s*"errors": 0,\s*"warnings": 0,\s*"ignored": 0/,
    broken: 'no-empty-servers',
  },
  {
    name: 'spectral',
    program: '@stoplight/spectral-cli@6.16.3',
    args: ['lint', '--fail-severity=hint', `--ruleset=${join(import.meta.dirname, 'spectral.yaml')}`],
    ok: /No results with a severity of 'hint' or higher found!/,
    broken: 'oas3-api-servers',
  },
];
const quiet = { REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
const npx = (program: string, ...args: readonly string[]) =>
  run('npx', ['--yes', '--prefer-offline', program, ...args], { env: quiet });

describe.each(linters)('$name', async ({ program, args, ok, broken }) => {
  const { code, stderr } = await npx(program, '--version');
  if (code !== 0) process.stderr.write(`skipped: npx cannot run ${program}: ${stderr.trim().split('\n').at(-1)}\n`);
  let directory: TemporaryDirectory = { path: '', remove: async () => {} };
  beforeAll(async () => {
    directory = await temporaryDirectory();
  });
  afterAll(() => directory.remove());
  const lint = async (document: object) => {
    const file = join(directory.path, 'openapi.json');
    await writeFile(file, JSON.stringify(document));
    return npx(program, ...args, file);
  };

  it.skipIf(code !== 0)('finds nothing in /openapi.json', async () => {
    const { code: exit, stdout } = await lint(openApiDocument(await allEndpoints()));
    expect({ exit, stdout }).toEqual({ exit: 0, stdout: expect.stringMatching(ok) });
  });

  it.skipIf(code !== 0)('finds what is missing in a document without servers', async () => {
    const { servers: _without, ...document } = openApiDocument(await allEndpoints());
    const { code: exit, stdout } = await lint(document);
    expect({ exit, stdout }).toEqual({ exit: 1, stdout: expect.stringContaining(broken) });
  });
});
