import { existsSync } from 'node:fs';
import { readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { call, identity } from '../../support/command.ts';
import { exportFrom } from '../../support/http/wire.ts';
import { daysFromNow, describeDatabases, init, serve, tokenPattern } from '../../support/instances/commandInstance.ts';
import { testDirectory } from '../../support/places/servedPlace.ts';
import { temporaryDirectory } from '../../support/processes/temporaryDirectory.ts';

const remedy = 'specify a new file for the token';

describeDatabases('identity init', (newDatabase) => {
  let database: readonly string[] = [];
  beforeEach(async () => {
    database = await newDatabase();
  });

  it('takes the name of the instance and the lifetime of the token', async () => {
    const made = await init(database, '--name', 'north', '--expires', '12h');
    expect(daysFromNow(made.expiresAt)).toBeCloseTo(0.5, 1);
    const running = await serve(database);
    const instance = { url: running.ready[1] ?? '', token: made.token };
    const { orgs, manifest } = await exportFrom({ ...instance, database });
    await running.stop();
    expect(manifest.instance).toBe('north');
    expect(orgs).toMatchObject([
      { orgId: made.orgId, org: { name: 'north' }, machineUsers: [{ userId: made.userId }] },
    ]);
  });

  it('makes an organisation, a service user and a token for 30 days, and is refused the second time', async () => {
    expect(daysFromNow((await init(database)).expiresAt)).toBeCloseTo(30, 1);
    const { code, stdout, stderr } = await identity(['init', '--json', ...database]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/^identity: the instance is already initialised: .*pat create.*\n$/);
  });

  it('writes the token into a new file that only its owner can read, and names the command to serve in any directory', async () => {
    const directory = await temporaryDirectory();
    const file = join(directory.path, 'owner.pat');
    const { code, stdout } = await identity(['init', '--token-file', file, ...database]);
    expect(code).toBe(0);
    expect(stdout).toContain(`token in ${file}`);
    expect(stdout).toMatch(new RegExp(`\\n\\nNext\\n {2}identity serve ${database.join(' ')}\\n$`));
    expect(stdout).not.toContain('idpat_');
    expect(await readFile(file, 'utf8')).toMatch(tokenPattern);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    await directory.remove();
  });

  it.each([
    ['a file', (file: string) => writeFile(file, 'earlier')],
    ['a link', (file: string) => symlink('elsewhere', file)],
  ])('makes nothing where there is %s in place of the token', async (_, prepare) => {
    const file = join(await testDirectory(), 'owner.pat');
    await prepare(file);
    const { code, stderr } = await identity(['init', '--token-file', file, ...database]);
    expect({ code, stderr }).toEqual({ code: 64, stderr: `identity: ${file} exists: ${remedy}\n` });
    await init(database);
    const data = join(await testDirectory(), 'nw');
    await call(`init --data ${data} --token-file ${file}`, 64);
    expect(existsSync(data)).toBe(false);
  });

  it('refuses a name that no import would take', async () => {
    await call(['init', '--name', ' ', ...database], 64, /^identity: invalid name: .*\n$/);
    await init(database);
  });

  it('creates nothing if the token cannot be written', async () => {
    const { code, stderr } = await identity(['init', '--token-file', '/nonexistent/owner.pat', ...database]);
    const problem = '/nonexistent/owner.pat is in a directory that does not exist';
    expect({ code, stderr }).toEqual({ code: 64, stderr: `identity: ${problem}: ${remedy}\n` });
    await init(database);
  });
});
