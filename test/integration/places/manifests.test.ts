import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { identity } from '../../support/command.ts';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { post } from '../../support/http/wire.ts';
import { servedPlace, testDirectory } from '../../support/places/servedPlace.ts';
import { describeStores, keyEnvironment } from '../../support/stores/stores.ts';

const result = z.looseObject({ event: z.literal('result'), manifest: z.unknown().optional() });
const orgs = [organisation('acme', { humanUsers: [person('ada')] })];
const typo = {
  secrets: { passwords: false, otp: true, keys: false },
  ignored: [{ field: 'with_password', nearest: 'with_passwords' }],
};
const lines = [
  'the file carries the secrets otp',
  'ignored by the exporting instance: with_password: the nearest known field is with_passwords',
];

describeStores('the commands on places', (kind) => {
  it('show the secrets and the typo of a request that a manifest names', { timeout: 240_000 }, async () => {
    const { url, token, database, location } = await servedPlace(kind);
    const env = keyEnvironment(location);
    const instance = { url, token, database: undefined };
    await post(instance, 'import', { data_orgs: { orgs } });
    const request = { with_password: true, with_otp: true, org_ids: ['acme'], response_output: true };
    const exported = await post(instance, 'export', request);
    const directory = await testDirectory();
    const file = join(directory, 'a.json');
    await writeFile(file, exported.text);
    const copy = join(directory, 'b.json.gz');
    const calls = [
      ['export', file, '--to', copy],
      ['import', copy, '--to', database, '--dry-run'],
      ['inspect', copy],
    ];
    for (const call of calls) {
      const { code, stdout, stderr } = await identity([...call, '--json'], { env });
      expect(code, stderr).toBe(0);
      const { manifest, ...printed } = result.parse(JSON.parse(stdout.trim().split('\n').at(-1) ?? ''));
      expect(call[0] === 'inspect' ? manifest : printed).toMatchObject(typo);
    }
    for (const call of [['export', file, '--to', join(directory, 'c.json')], ...calls.slice(1)]) {
      const { stdout } = await identity(call, { env });
      for (const line of lines) expect(stdout.split('\n')).toContain(line);
    }
  });
});

describe('a manifest of another tool', () => {
  it.each([
    ['no object', '7'],
    ['other secrets', '{"version":1,"secrets":{"passwords":"yes"},"ignored":[7]}'],
  ])('is no matter of a copy: %s', async (_case, manifest) => {
    const directory = await testDirectory();
    const file = join(directory, 'a.json');
    await writeFile(file, `${JSON.stringify({ orgs }).slice(0, -1)},"manifest":${manifest}}`);
    const { code, stdout } = await identity(['export', file, '--to', join(directory, 'b.json')]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/^exported 1 organisations[^\n]*\n$/) });
  });
});
