import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { identity, identityResult } from '../../support/command.ts';
import { startLocalBucket } from '../../support/emulators/localBucket.ts';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { servedPlace, testDirectory } from '../../support/places/servedPlace.ts';
import { sqlite } from '../../support/stores/stores.ts';

const hash = { value: '$2y$04$WFGDvKNd2wXrNSQ.rfkcxeRdgFS3yBUz4fEtN2eTEGlx.WqlKf0By' };
const failedFile = z.strictObject({ orgs: z.array(z.record(z.string(), z.unknown())) });

/** Imports a file into a new instance with `--failed`. */
async function importWithFailed(orgs: readonly object[], more: readonly string[] = []) {
  const directory = await testDirectory();
  const { url, tokenFile } = await servedPlace(sqlite);
  const to = ['--to', url, '--token-file', tokenFile];
  const file = join(directory, 'source.json');
  const failed = join(directory, 'failed.json');
  await writeFile(file, JSON.stringify({ orgs }), { mode: 0o600 });
  const result = await identityResult(['import', file, ...to, '--failed', failed, ...more]);
  const read = async () => failedFile.parse(JSON.parse(await readFile(failed, 'utf8'))).orgs;
  return { directory, to, file, failed, result, read };
}

const invalid = { userId: 'bad', user: { userName: '', hashedPassword: hash } };

describe('import --failed', () => {
  it('writes only the failed records, with their organisations and secrets, for their owner', async () => {
    const orgs = [
      organisation('good', { humanUsers: [person('ada')] }),
      organisation('mixed', {
        humanUsers: [person('ben'), invalid],
        userGrants: [{ userId: 'nobody', projectId: 'none', roleKeys: [] }],
      }),
    ];
    const { failed, result, read } = await importWithFailed(orgs);
    expect(result).toMatchObject({ code: 3, failedFile: { place: failed, records: 2, missing: 0, partial: 0 } });
    const userGrants = [{ userId: 'nobody', projectId: 'none', roleKeys: [] }];
    expect(await read()).toEqual([organisation('mixed', { humanUsers: [invalid], userGrants })]);
    expect((await stat(failed)).mode & 0o777).toBe(0o600);
  });

  it('writes a file that can be corrected and imported', async () => {
    const orgs = [organisation('mixed', { humanUsers: [person('ben'), invalid] })];
    const { failed, to, read, directory } = await importWithFailed(orgs);
    const corrected = join(directory, 'corrected.json');
    const [mixed] = await read();
    const humanUsers = [{ ...person('bad'), user: { ...person('bad').user, hashedPassword: hash } }];
    await writeFile(corrected, JSON.stringify({ orgs: [{ ...mixed, humanUsers }] }), { mode: 0o600 });
    const again = ['import', corrected, ...to, '--failed', join(directory, 'again.json')];
    const result = await identityResult(again);
    expect(result).toMatchObject({ code: 0, summary: { created: { humanUsers: 1 }, unchanged: { org: 1 } } });
    expect(result).not.toHaveProperty('failedFile');
    await expect(stat(failed)).resolves.toBeDefined();
    await expect(stat(join(directory, 'again.json'))).rejects.toThrow('ENOENT');
  });

  it('prints that no record failed, or where the failed ones are', async () => {
    const { file, to, directory } = await importWithFailed([organisation('good', { humanUsers: [person('ada')] })]);
    const none = await identity(['import', file, ...to, '--failed', join(directory, 'other.json')]);
    expect(none.stdout).toContain('no record failed: the file for failed records is not written\n');
    await writeFile(file, JSON.stringify({ orgs: [organisation('good', { humanUsers: [invalid] })] }), { mode: 0o600 });
    const some = await identity(['import', file, ...to, '--failed', join(directory, 'other.json'), '--dry-run']);
    expect(some.stdout).toContain(
      `1 failed record in ${join(directory, 'other.json')}: correct these records, then import that file\n`,
    );
  });

  it('writes the second record of an id, not the first one, which was imported', async () => {
    const second = person('ada', { userName: 'second' });
    const orgs = [organisation('a', { humanUsers: [person('ada'), second] })];
    const { read } = await importWithFailed(orgs);
    expect(await read()).toMatchObject([{ humanUsers: [second] }]);
  });

  it('writes everything of an organisation that failed itself', async () => {
    const named = (orgId: string) => ({
      ...organisation(orgId, { humanUsers: [person(`of-${orgId}`)] }),
      org: { name: 'Same' },
    });
    const { read, result } = await importWithFailed([named('first'), named('second')]);
    expect(await read()).toEqual([named('second')]);
    expect(result).toMatchObject({ failedFile: { records: 2, missing: 0 } });
  });

  it('writes the person whose nested link failed', async () => {
    const idp = { name: 'idp', jwtEndpoint: 'e', issuer: 'i', keysEndpoint: 'k', headerName: 'h' };
    const linked = (userId: string) => person(userId, { idps: [{ configId: 'idp', externalUserId: 'same' }] });
    const humanUsers = [linked('ada'), linked('ben'), person('cy')];
    const { read, result } = await importWithFailed([
      organisation('a', { jwtIdps: [{ idpId: 'idp', idp }], humanUsers }),
    ]);
    expect(result).toMatchObject({ summary: { created: { humanUsers: 3, userLinks: 1 }, failed: { userLinks: 1 } } });
    expect(await read()).toMatchObject([{ humanUsers: [linked('ben')] }]);
  });

  it('writes the records that were stored without a failed record to which they refer', async () => {
    const role = (roleKey: string, displayName: unknown = 'R') => ({ projectId: 'P', roleKey, displayName });
    const action = (actionId: string, name = actionId) => ({ actionId, action: { name, script: 'x', timeout: '9s' } });
    const grant = { userId: 'ada', projectId: 'P', roleKeys: ['reader', 'writer'] };
    const right = organisation('a', {
      projects: [{ projectId: 'P', project: { name: 'P' } }],
      projectRoles: [role('reader'), role('writer')],
      humanUsers: [person('ada'), person('ben', { phone: { phone: '+41791234567' } })],
      actions: [action('first'), action('second')],
      triggerActions: [{ flowType: '1', triggerType: '1', actionIds: ['first', 'second'] }],
      userGrants: [grant, { userId: 'ben', projectId: 'P', roleKeys: ['reader'] }],
    });
    const wrong = {
      ...right,
      projectRoles: [role('reader'), role('writer', 5)],
      humanUsers: [person('ada'), person('ben', { phone: { phone: 'none' } })],
      actions: [action('first'), action('second', '')],
    };
    const { failed, to, read, result, directory } = await importWithFailed([wrong]);
    expect(result).toMatchObject({ failedFile: { records: 2, missing: 0, partial: 3 } });
    const [{ projects: _, ...rest } = {}] = await read();
    const humanUsers = [person('ben', { phone: { phone: '+41791234567' } })];
    expect(rest).toMatchObject({ triggerActions: right.triggerActions, userGrants: [grant] });
    const fixed = { ...rest, humanUsers, projectRoles: [role('writer')], actions: [action('second')] };
    await writeFile(failed, JSON.stringify({ orgs: [fixed] }), { mode: 0o600 });
    expect(await identityResult(['import', failed, ...to, '--on-conflict', 'overwrite'])).toMatchObject({ code: 0 });
    const file = join(directory, 'right.json');
    await writeFile(file, JSON.stringify({ orgs: [right] }), { mode: 0o600 });
    const compared = await identityResult(['compare', file, ...to.slice(1)]);
    expect(compared).toMatchObject({ code: 0 });
  });

  it('refuses an existing file, such as the source, before it imports anything', async () => {
    const { file, to } = await importWithFailed([organisation('a', { humanUsers: [invalid] })]);
    const before = await readFile(file, 'utf8');
    const { code, stderr } = await identity(['import', file, ...to, '--failed', file]);
    expect({ code, stderr }).toEqual({ code: 1, stderr: `identity: ${file} exists: choose another name\n` });
    expect(await readFile(file, 'utf8')).toBe(before);
  });

  it('writes the failed records of an instance and of standard input', async () => {
    const source = await importWithFailed([organisation('a', { humanUsers: [person('ada'), person('ben')] })]);
    const target = await importWithFailed([organisation('b', { humanUsers: [person('ada')] })]);
    const failed = join(source.directory, 'other.json');
    const [, url = '', , tokenFile = ''] = source.to;
    const [, toUrl = '', , toTokenFile = ''] = target.to;
    const tokens = ['--from-token-file', tokenFile, '--to-token-file', toTokenFile];
    const args = ['import', url, '--org', 'a', '--with', 'none', '--to', toUrl, ...tokens, '--failed', failed];
    expect(await identityResult(args)).toMatchObject({ code: 3, failedFile: { records: 1, missing: 0 } });
    expect(failedFile.parse(JSON.parse(await readFile(failed, 'utf8')))).toMatchObject({
      orgs: [{ orgId: 'a', humanUsers: [{ userId: 'ada' }] }],
    });
    const stdin = await readFile(source.file);
    const fromStream = ['import', '-', ...target.to, '--failed', join(source.directory, 'stream.json')];
    expect(await identityResult(fromStream, { stdin })).toMatchObject({ code: 3, failedFile: { records: 1 } });
  });

  it('writes the failed records of a compressed object in Cloud Storage', async () => {
    const bucket = await startLocalBucket();
    onTestFinished(() => bucket.close());
    const source = await importWithFailed([organisation('a', { humanUsers: [person('ada'), invalid] })]);
    const env = { STORAGE_EMULATOR_HOST: bucket.url };
    const object = 'gs://exports/source.json.gz';
    const credentials = ['--credentials-file', bucket.keyFile];
    const stored = await identity(['export', source.file, '--to', object, ...credentials], { env });
    expect(stored.code, stored.stderr).toBe(0);
    const failed = join(source.directory, 'of-object.json');
    const args = ['import', object, ...source.to, ...credentials, '--failed', failed];
    expect(await identityResult(args, { env })).toMatchObject({ code: 3, failedFile: { records: 1, missing: 0 } });
    expect(await readFile(failed)).toEqual(await readFile(source.failed));
  });
});
