import { appendFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Applied, startProject, type Variables } from './terraform.ts';

const minimal = {
  project_id: 'acme-identity',
  region: 'europe-west1',
  alert_email: 'operations@example.com',
  dist_directory: 'tests/archives',
};
const north = { domains: ['id.example.com'] };
const south = { domains: ['south.example.com'] };

const withInstances = (instances: Variables): Variables => ({ ...minimal, instances });

describe('the configuration, applied with the real provider', () => {
  let applied: Applied;

  beforeAll(async () => {
    applied = await startProject({ secrets: ['north-master-key', 'south-master-key'] });
  });

  afterAll(() => applied[Symbol.asyncDispose]());

  /** Applies, and expects that nothing is left to change. */
  async function settle(variables: Variables): Promise<void> {
    await applied.apply(variables);
    expect(await applied.planned(variables)).toBe('');
    expect(applied.google.unexpected).toEqual([]);
  }

  const names = (part: string) => [...applied.project.resources.keys()].filter((key) => key.includes(part));

  const rolesOn = (key: string) =>
    applied.project.policies.get(key)?.bindings.map(({ role, members }) => ({ role, members: members.toSorted() }));

  it('creates an instance in a project without enabled services, while services and roles take effect with a delay', async () => {
    await settle(withInstances({ north }));
    expect(names('/functions/')).toHaveLength(3);
  });

  it('creates the bucket for transfers, with roles for the functions alone', () => {
    const bucket = 'storage/b/acme-identity-north-transfers';
    expect(applied.project.resources.get(bucket)).toMatchObject({
      iamConfiguration: { uniformBucketLevelAccess: { enabled: true }, publicAccessPrevention: 'enforced' },
      lifecycle: { rule: expect.arrayContaining([{ action: { type: 'Delete' }, condition: { age: 1 } }]) },
      softDeletePolicy: { retentionDurationSeconds: '0' },
    });
    const account = (name: string) => `north-${name}@acme-identity.iam.gserviceaccount.com`;
    const members = ['export', 'import'].map((name) => `serviceAccount:${account(name)}`);
    expect(rolesOn(bucket)).toEqual([{ role: 'roles/storage.objectUser', members }]);
    expect(rolesOn(`iam/projects/acme-identity/serviceAccounts/${account('export')}`)).toEqual([
      { role: 'roles/iam.serviceAccountTokenCreator', members: [`serviceAccount:${account('export')}`] },
    ]);
    expect(applied.project.answers('iamcredentials')).toBe(true);
  });

  it('releases changed rules, and deletes the former ones', async () => {
    const rules = join(applied.directory, '../firestore.rules');
    await appendFile(rules, '// changed\n');
    await settle(withInstances({ north }));
    expect(names('/rulesets/')).toHaveLength(1);
    expect(names('/releases/')).toEqual(['firebaserules/projects/acme-identity/releases/cloud.firestore/north']);
  });

  it('deploys a changed archive, and deletes the former one', async () => {
    await writeFile(join(applied.directory, 'tests/archives/export.zip'), 'another archive');
    await settle(withInstances({ north }));
    expect(names('/o/')).toHaveLength(3);
  });

  it('adds an instance', async () => {
    await settle(withInstances({ north, south }));
    expect(names('/functions/')).toHaveLength(6);
  });

  it('leaves master keys out of the state', async () => {
    const state = await readFile(join(applied.directory, 'terraform.tfstate'), 'utf8');
    expect(state).toContain('"google_secret_manager_secret_version"');
    expect(state).not.toMatch(/"secret_data": "[^"]/);
  });

  it('swaps the domains of two instances, and keeps their certificates', async () => {
    const before = names('/certificates/');
    await settle(withInstances({ north: south, south: north }));
    expect(names('/certificates/')).toEqual(before);
    await settle(withInstances({ north, south }));
  });

  it('moves an instance to another domain, and serves both domains in between', async () => {
    const [former, next] = [...north.domains, 'next.example.com'];
    const served = () => {
      const map = JSON.stringify(applied.project.held('compute/projects/acme-identity/global/urlMaps/identity'));
      const hosts = names('/certificateMapEntries/').map((key) => applied.project.held(key).hostname);
      return [former, next].filter((domain) => hosts.includes(domain) && map.includes(`"${domain}"`));
    };
    const withDomains = (...domains: readonly unknown[]) => withInstances({ north: { domains }, south });
    const certificates = names('/certificates/');
    await expectRejection({ north: { domains: [next] }, south }, 'The first domain of north is new');
    await settle(withDomains(former, next));
    expect(served()).toEqual([former, next]);
    expect(names('/certificates/')).toEqual(expect.arrayContaining(certificates));
    const { stdout } = await applied.terraform('output', '-json', 'dns_records');
    expect(stdout).toContain(`"name":"${next}."`);
    await settle(withDomains(next, former));
    expect(served()).toEqual([former, next]);
    await settle(withDomains(next));
    expect(served()).toEqual([next]);
    await settle(withDomains(next, former));
    await settle(withInstances({ north, south }));
  });

  /** Expects that the plan fails, with a sentence in its message. */
  async function expectRejection(instances: Variables, sentence: string): Promise<void> {
    const output = await applied.planned(withInstances(instances)).catch(String);
    expect(output.replace(/\s*\n[│\s]*/g, ' ')).toContain(sentence);
  }

  it.each([
    ['another id', { nord: north, south }],
    ['another id and another domain', { nord: { domains: ['nord.example.com'], database: 'north' }, south }],
    ['a new instance on the domain of another', { nord: north, north: { domains: ['old.example.com'] }, south }],
  ])('rejects %s in the plan', async (_, instances) => {
    applied.project.addSecret('nord-master-key');
    await expectRejection(instances, 'and the new instance nord would have none of its data');
  });

  it('rejects a missing version of a master key in the plan', async () => {
    const east = { domains: ['east.example.com'] };
    const secret = 'east-master-key';
    await expectRejection({ north, south, east }, `secrets/${secret}/versions/1' was not found`);
    applied.project.addSecret(secret, []);
    await expectRejection({ north, south, east }, `secrets/${secret}/versions/1' was not found`);
    applied.project.addSecret(secret);
    expect(await applied.planned(withInstances({ north, south, east }))).toContain('module.instance["east"]');
    const rotated = { ...north, master_key_version: '3' };
    await expectRejection({ north: rotated, south }, "secrets/north-master-key/versions/3' was not found");
  });

  it('removes an instance, passes its domain to another instance, and keeps its database', async () => {
    await settle(withInstances({ north: south }));
    expect(names('/functions/')).toHaveLength(3);
    expect(names('/databases/south')).toContain('firestore/projects/acme-identity/databases/south');
    expect(names('/releases/')).toHaveLength(1);
  });

  it('restores a removed instance after an import of its database and schedule', async () => {
    await settle(withInstances({ north: { domains: [...south.domains, ...north.domains] } }));
    await settle(withInstances({ north }));
    const database = 'projects/acme-identity/databases/south';
    const [schedule = ''] = names(`${database}/backupSchedules/`);
    const variables = withInstances({ north, south });
    await applied.import(variables, 'module.instance["south"].google_firestore_database.this', database);
    await applied.import(
      variables,
      'module.instance["south"].google_firestore_backup_schedule.daily',
      schedule.replace('firestore/', ''),
    );
    await settle(variables);
    expect(names('/functions/')).toHaveLength(6);
  });

  it('points an instance at a restored database after it has replaced the database in the state', async () => {
    const address = 'module.instance["south"].google_firestore_database.this';
    const restored = 'projects/acme-identity/databases/south-restored';
    const original = applied.project.held('firestore/projects/acme-identity/databases/south');
    applied.project.put(`firestore/${restored}`, { ...original, name: restored });
    const variables = withInstances({ north, south: { ...south, database: 'south-restored' } });
    await expect(applied.planned(variables)).rejects.toThrow('The instance south has the database south.');
    await applied.terraform('state', 'rm', address);
    await applied.import(variables, address, restored);
    await settle(variables);
    expect(
      JSON.stringify(
        applied.project.held('cloudfunctions/projects/acme-identity/locations/europe-west1/functions/south-export'),
      ),
    ).toContain('"FIRESTORE_DATABASE":"south-restored"');
  });

  it('plans a destroy without master keys if nothing is read', async () => {
    const secrets = [...applied.project.resources].filter(([key]) => key.startsWith('secretmanager/'));
    for (const [key] of secrets) applied.project.resources.delete(key);
    const variables = withInstances({ north, south: { ...south, database: 'south-restored' } });
    expect(await applied.planned(variables, '-destroy', '-refresh=false')).toContain('google_cloudfunctions2_function');
    for (const [key, secret] of secrets) applied.project.put(key, secret);
  });

  it('destroys everything except databases, their schedules and indexes, and audit trails', async () => {
    await applied.destroy(withInstances({ north, south: { ...south, database: 'south-restored' } }));
    const left = [...applied.project.resources.keys()].filter((key) => !key.startsWith('secretmanager/'));
    const kept =
      /^(firestore\/.*\/databases\/(north|south|south-restored)(\/|$)|logging\/.*\/buckets\/(north|south)-audit$)/;
    expect(left.filter((key) => !kept.test(key))).toEqual([]);
    const bindings = [...applied.project.policies.values()].flatMap((policy) => policy.bindings);
    expect(bindings).toEqual([]);
  });
});
