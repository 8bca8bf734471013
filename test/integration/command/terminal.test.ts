import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { call, identity } from '../../support/command.ts';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { exportFileWith } from '../../support/migrations/migrating.ts';
import { databaseOptions } from '../../support/places/locations.ts';
import { servedPlace, testDirectory } from '../../support/places/servedPlace.ts';
import { identityProgram } from '../../support/processes/programs.ts';
import { identityAtTerminal, seenLines, terminalMissing } from '../../support/processes/terminal.ts';
import { keyEnvironment, sqlite } from '../../support/stores/stores.ts';

describe.skipIf(terminalMissing !== undefined)('a list at a terminal', () => {
  it('has heads and is aligned; in a pipe there are tabs', async () => {
    const { location, orgId } = await servedPlace(sqlite);
    const args = ['user', 'list', '--data', location.kind === 'sqlite' ? location.directory : ''];
    const env = keyEnvironment(location);
    const { stdout } = await identity(args, { env });
    const [[id = '', , kind, state, , name = ''] = []] = stdout.split('\n').map((line) => line.split('\t'));
    const cells = [id, orgId, kind, state, '       ', name].join('  ');
    const wide = await identityAtTerminal(args, [], { env, columns: 120 });
    expect(seenLines(wide)).toEqual([
      expect.stringMatching(/^id +organisation +kind +state +factors +user name$/),
      cells,
      '',
    ]);
    expect(wide.stdout).toContain('\u001b[1mid');
  });
});

it.skipIf(terminalMissing !== undefined)(
  'org delete shows names that cannot forge a row before its question',
  async () => {
    const { location, database } = await servedPlace(sqlite);
    const hostile = organisation('acme', { org: { name: 'Acme\u001b[2J\nforged\trow' } });
    await call(`import ${await exportFileWith(hostile)} --to ${database}`, 0);
    const args = ['org', 'delete', 'acme', ...databaseOptions(location)];
    const line = '  acme (Acme\\u{1b}[2J\\nforged\\trow): 0 people, 0 service users';
    const asked = await identityAtTerminal(args, [
      ['', 'y\r'],
      ['Delete?', 'n'],
    ]);
    expect(asked.code, asked.stdout).toBe(2);
    expect(seenLines(asked).filter((shown) => shown === line)).toHaveLength(2);
    const deleted = await identity([...args, '--yes']);
    expect(deleted).toMatchObject({ code: 0, stdout: `${line.trim()}\n1 record deleted\n` });
  },
);

describe.skipIf(terminalMissing !== undefined)('what is added between a question and its answer', () => {
  const orgs = (roles: readonly string[], ...people: readonly string[]) =>
    organisation('acme', {
      projects: [{ projectId: 'P', project: { name: 'P' } }],
      projectRoles: ['reader', 'writer'].map((roleKey) => ({ projectId: 'P', roleKey, displayName: roleKey })),
      humanUsers: people.map((id) => person(id)),
      userGrants: [{ userId: 'U1', projectId: 'P', roleKeys: roles }],
    });

  it.each([
    [
      'an organisation',
      'org delete acme',
      'Delete?',
      orgs(['reader'], 'U1', 'U2'),
      'users were added to organisation acme',
    ],
    [
      'a grant',
      'user-grant remove --user U1 --project P',
      'Remove?',
      orgs(['writer'], 'U1'),
      'grants of user U1 were added or changed',
    ],
  ])('is not deleted with %s', async (_what, command, question, later, added) => {
    const { location, database } = await servedPlace(sqlite);
    await call(['import', await exportFileWith(orgs(['reader'], 'U1')), '--to', database], 0);
    const importing = ['import', await exportFileWith(later), '--to', database, '--on-conflict', 'overwrite'];
    const args = [...command.split(' '), ...databaseOptions(location)];
    const refused = await identityAtTerminal(args, [[question, 'y', ...identityProgram, ...importing]]);
    expect(refused.code).toBe(1);
    const text = `nothing is deleted, because ${added} after you were asked to confirm: repeat the command`;
    expect(seenLines(refused)).toContain(`identity: ${text}`);
    const confirmed = await identityAtTerminal(args, [[question, 'y']]);
    expect(confirmed.code, confirmed.stdout).toBe(0);
  });
});

it.skipIf(terminalMissing !== undefined)(
  'help and questions at a terminal of unknown size have 80 columns',
  async () => {
    const { location, database } = await servedPlace(sqlite);
    await call(['import', await exportFileWith(organisation('acme')), '--to', database], 0);
    const shown = async (columns: number) => {
      const help = await identityAtTerminal(['help', 'migrate'], [], { columns });
      const deletion = ['org', 'delete', 'acme', ...databaseOptions(location)];
      const asked = await identityAtTerminal(deletion, [['Delete?', 'n']], { columns });
      expect(asked.code, asked.stdout).toBe(2);
      return [seenLines(help), seenLines(asked)];
    };
    expect(await shown(0)).toEqual(await shown(80));
  },
);

describe.skipIf(terminalMissing !== undefined)('Ctrl-D at a terminal interrupts', () => {
  const end = '\u0004';
  it('a confirmation', async () => {
    const { location, database } = await servedPlace(sqlite);
    await call(`import ${await exportFileWith(organisation('acme'))} --to ${database}`, 0);
    const args = ['org', 'delete', 'acme', ...databaseOptions(location)];
    const ended = await identityAtTerminal(args, [['Delete?', end]]);
    expect(ended.code, ended.stdout).toBe(130);
    expect(ended.stdout).toContain('interrupted: nothing is changed');
  });

  it.each([
    ['the question for a token', (_: string) => ['inspect', 'http://127.0.0.1:9'], 'The token for'],
    [
      'a choice',
      (database: string, folder: string) => ['migrate', '--from', database, '--to', join(folder, 'new.json')],
      'Which secrets should move?',
    ],
  ])('%s', async (_, args, question) => {
    const { database } = await servedPlace(sqlite);
    const ended = await identityAtTerminal(args(database, await testDirectory()), [[question, end]]);
    expect(ended.code, ended.stdout).toBe(130);
    expect(ended.stdout).toContain('interrupted: nothing is changed');
  });
});

it.skipIf(terminalMissing !== undefined)('serve shows at a terminal how to stop it', async () => {
  const data = join(await testDirectory(), 'north');
  await call(`init --data ${data}`, 0);
  const ended = await identityAtTerminal(['serve', '--port', '0', '--data', data], [['Ctrl-C stops', '\u0003']]);
  expect(ended.code).toBe(0);
  expect(seenLines(ended)).toContain('Ctrl-C stops the server');
});
