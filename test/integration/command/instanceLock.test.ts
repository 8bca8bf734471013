import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { commands } from '../../../cli/commands/commands.ts';
import { openStore } from '../../../shared/store/openStore.ts';
import type { Store } from '../../../shared/store/store.ts';
import { call, identity } from '../../support/command.ts';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { init } from '../../support/instances/commandInstance.ts';
import { temporaryDirectory } from '../../support/processes/temporaryDirectory.ts';

/** The commands on an existing instance, each with its arguments; `serve` runs until it is ended. */
const calls: Readonly<Record<string, readonly string[]>> = {
  serve: ['--port', '0'],
  rekey: [],
  backup: ['BACKUP'],
  audit: [],
  'migrate prepare': ['--token-file', 'TOKEN'],
  'otp-email remove': ['U'],
  'otp-email enable': ['U'],
  'user list': [],
  'user lock': ['U'],
  'user unlock': ['U'],
  'user delete': ['V', '--yes'],
  'service-user create': ['robot'],
  'service-user delete': ['R'],
  'pat create': ['--user', 'U'],
  'pat list': ['--user', 'U'],
  'pat revoke': ['--all', '--user', 'U'],
  'member add': ['--user', 'U', '--role', 'ORG_OWNER', '--org', 'A'],
  'member remove': ['--user', 'U', '--role', 'ORG_OWNER', '--org', 'A'],
  'member list': [],
  'user-grant list': ['--user', 'U'],
  'user-grant remove': ['--user', 'U', '--project', 'P', '--yes'],
  'org list': [],
  'org delete': ['B', '--yes'],
};

/** The commands that change users without the lock: the specification names them. */
const changing = [
  'otp-email remove',
  'otp-email enable',
  'user lock',
  'user unlock',
  'service-user create',
  'pat create',
  'pat revoke',
  'member add',
  'member remove',
  'migrate prepare',
];

/** Reads the commands in the specification's table of operations that hold the lock. */
async function listedCommands(lock: 'alone' | 'none'): Promise<readonly string[]> {
  const text = await readFile(new URL('../../../docs/specification.md', import.meta.url), 'utf8');
  const [row = ''] = text.split('\n').filter((line) => line.startsWith('|') && line.endsWith(`| ${lock} |`));
  const quoted = [...row.matchAll(/`(?:identity )?([^`]+)`/g)].map(([, name = '']) => name);
  return quoted.filter((name) => name !== 'on_conflict' && !name.startsWith('"'));
}

describe('a command', () => {
  let directory = '';
  let store: Store;
  beforeAll(async () => {
    const made = await temporaryDirectory();
    directory = join(made.path, 'north');
    await init(['--data', directory]);
    const machineUsers = [{ userId: 'R', user: { userName: 'R', name: 'R' } }];
    const projects = [{ projectId: 'P', project: { name: 'P' } }];
    const userGrants = [{ userId: 'U', projectId: 'P' }];
    const humanUsers = [person('U'), person('V')];
    const orgs = [organisation('A', { humanUsers, machineUsers, projects, userGrants }), organisation('B')];
    const file = join(made.path, 'file.json');
    await writeFile(file, JSON.stringify({ orgs }));
    await call(`import ${file} --to sqlite:${directory}`, 0);
    store = await openStore({ kind: 'sqlite', directory });
    return async () => {
      await store.close();
      await made.remove();
    };
  });

  it.each(Object.entries(calls))('%s waits for an import if the specification says so', async (name, given) => {
    const { signal } = new AbortController();
    await using _import = await store.lock.take({ mode: 'shared', operation: 'import', caller: 'ada', signal });
    const end = new AbortController();
    let waits = false;
    const onStderr = (text: string) => {
      waits ||= /^waiting for another operation to end: import, which ada began at \d{4}-\S+Z$/m.test(text);
      if (waits) end.abort(new Error('ended'));
    };
    const onStdout = () => {
      if (name === 'serve') end.abort(new Error('ended'));
    };
    const args = given.map((one) => (['BACKUP', 'TOKEN'].includes(one) ? join(directory, '..', one) : one));
    const call = [...name.split(' '), ...args, '--data', directory];
    const { code, stderr } = await identity(call, { signal: end.signal, onStdout, onStderr });
    expect([waits, code], stderr).toEqual(waits ? [true, 130] : [false, 0]);
    if (waits) expect(stderr).toMatch(/\nidentity: interrupted: nothing was changed; repeat the command\n$/);
    expect(waits).toBe((await listedCommands('alone')).includes(name));
    expect((await listedCommands('none')).includes(name)).toBe(!waits && changing.includes(name));
  });

  /** Calls a command twice: both have found what they delete before the first one deletes it. Returns what they print. */
  async function callTwice(...call: readonly string[]): Promise<string[]> {
    const { signal } = new AbortController();
    const other = await store.lock.take({ mode: 'alone', operation: 'import', caller: 'ada', signal });
    const ended: ReturnType<typeof identity>[] = [];
    for (const _again of [1, 2]) {
      const { promise: waits, resolve } = Promise.withResolvers<void>();
      const onStderr = (text: string) => {
        if (text.includes('waiting for another operation')) resolve();
      };
      ended.push(identity([...call, '--data', directory], { onStderr }));
      await waits;
    }
    await other[Symbol.asyncDispose]();
    const both = await Promise.all(ended);
    expect(both.map(({ code }) => code)).toEqual([0, 0]);
    return both.flatMap(({ stdout }) => stdout.trim().split('\n')).sort();
  }

  it('org delete reports the organisations that another command has deleted while it waited', async () => {
    expect(await callTwice('org', 'delete', 'B', '--yes')).toEqual([
      '0 records deleted',
      '1 record deleted',
      'B (Organisation B): 0 people, 0 service users',
      'B (Organisation B): 0 people, 0 service users',
      'another command has deleted B in the meantime',
    ]);
  });

  it('user delete reports that another command has deleted the user while it waited', async () => {
    expect(await callTwice('user', 'delete', 'V', '--yes')).toEqual([
      'another command has deleted person V in the meantime',
      'person V is deleted',
    ]);
  });

  it('service-user delete reports that another command has deleted the user while it waited', async () => {
    expect(await callTwice('service-user', 'delete', 'R')).toEqual([
      'another command has deleted service user R in the meantime',
      'service user R is deleted',
    ]);
  });

  it('on an existing instance is called by this test', () => {
    const existing = commands.filter(({ instance }) => instance === 'existing').map(({ name }) => name);
    expect(Object.keys(calls)).toEqual(existing);
  });
});
