import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { identity } from '../../support/command.ts';
import { organisation } from '../../support/fixtures/organisations.ts';
import { migrate, prepareMigration } from '../../support/migrations/migrating.ts';
import { servedPlace, testDirectory } from '../../support/places/servedPlace.ts';
import { sqlite } from '../../support/stores/stores.ts';
import { people } from '../../support/zitadel/files.ts';
import { filledZitadel } from '../../support/zitadel/placeOfZitadel.ts';

const all = ['--with', 'passwords,otp,keys'];
const project = (projectId: string) => ({ projectId, project: { name: `Project ${projectId}` } });
const app = (appId: string) => ({ appId, app: { projectId: '1', name: `App ${appId}` } });
const action = (actionId: string) => ({
  actionId,
  action: { name: `action${actionId}`, script: 'return', timeout: '10s' },
});
const acme = organisation('acme', {
  humanUsers: people(2),
  projects: [project('1'), project('2')],
  oidcApps: [app('11'), app('12')],
  apiApps: [app('13')],
  actions: [action('21'), action('22')],
});
/** The records of `acme` that are inactive in the ZITADEL. */
const inactive = [
  { section: 'projects', type: 'project', key: 'projectId', id: '2', state: 'PROJECT_STATE_INACTIVE' },
  { section: 'oidcApps', type: 'oidc_app', key: 'appId', id: '12', state: 'APP_STATE_INACTIVE' },
  { section: 'apiApps', type: 'api_app', key: 'appId', id: '13', state: 'APP_STATE_INACTIVE' },
  { section: 'actions', type: 'action', key: 'actionId', id: '22', state: 'ACTION_STATE_INACTIVE' },
];

/** A ZITADEL with `acme`, in which some records are switched off. */
async function source() {
  const filled = await filledZitadel([acme]);
  const { contents } = filled.zitadel;
  for (const { section, id, state } of inactive)
    contents.put('acme', section, id, { ...contents.find('acme', section, id), state });
  return { ...filled, from: ['--from', filled.zitadel.url, '--from-token-file', filled.tokenFile] };
}

describe('a migration out of a ZITADEL', () => {
  it('keeps projects, applications and actions inactive in an instance', async () => {
    const { zitadel, tokenFile, from } = await source();
    const north = await servedPlace(sqlite);
    const migrating = await prepareMigration(north);
    const result = await migrate([...from, '--to', north.database, ...all, '--yes'], migrating);
    expect(result).toMatchObject({ outcome: 'done', proof: { expected: 0, unexpected: 0 } });
    const file = join(await testDirectory(), 'north.json');
    await identity(['export', north.database, '--to', file, '--org', 'acme'], migrating);
    const [exported] = JSON.parse(await readFile(file, 'utf8')).orgs;
    for (const { section, key, id, state } of inactive)
      expect(exported[section]).toContainEqual(expect.objectContaining({ [key]: id, state }));
    expect(JSON.stringify(exported).match(/_STATE_INACTIVE/g)).toHaveLength(inactive.length);
    // The state that the ZITADEL has now differs.
    zitadel.contents.put('acme', 'projects', '1', { ...project('1'), state: 'PROJECT_STATE_INACTIVE' });
    const sides = ['compare', zitadel.url, north.database, '--token-file', tokenFile, '--org', 'acme'];
    expect(await identity(sides, migrating)).toMatchObject({
      code: 3,
      stdout: expect.stringContaining('state: "PROJECT_STATE_INACTIVE" | (absent)'),
    });
  });

  it('names those that another ZITADEL activates', async () => {
    const { from } = await source();
    const { zitadel, tokenFile } = await filledZitadel([]);
    const to = ['--to', zitadel.url, '--to-token-file', tokenFile];
    const migrating = { env: {}, cwd: await testDirectory() };
    const { stdout } = await identity(['migrate', 'plan', ...from, ...to, ...all, '--json'], migrating);
    const { leftToDo } = JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
    for (const { type, id } of inactive) {
      const message = expect.stringMatching(/^ZITADEL activates this record/);
      expect(leftToDo).toContainEqual(expect.objectContaining({ type, id, message }));
    }
    expect(await migrate([...from, ...to, ...all, '--yes'], migrating)).toMatchObject({ proof: { unexpected: 0 } });
  });
});
