import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { run } from '../../tools/program.ts';
import { readTerraform } from '../terraform/terraformFiles.ts';
import { type Fields, fieldsOf, isFields } from './google/json.ts';
import { type Applied, startProject, type Variables } from './terraform.ts';

const EXAMPLE = 'examples/production/terraform.tfvars';
const ARCHIVES = 'tests/archives';
const keys = 'projects/acme-keys/locations';

/** Another value of a variable. */
interface Change {
  readonly name: string;
  readonly value: unknown;
}

/** A value that the plan rejects, and the sentence in the error. */
interface RejectedChange extends Change {
  readonly sentence: RegExp;
}

const variables: readonly Change[] = [
  { name: 'dist_directory', value: 'tests/other-archives' },
  { name: 'alert_email', value: 'operations@example.com' },
  { name: 'notification_channels', value: ['projects/acme-identity/notificationChannels/2'] },
  { name: 'monthly_budget', value: { billing_account: '012345-6789AB-CDEF01', amount: 750 } },
  { name: 'monthly_budget', value: null },
  { name: 'requests_per_minute', value: 900 },
  { name: 'admin_requests_per_minute', value: 45 },
  { name: 'audit_retention_days', value: 365 },
  { name: 'kms_key', value: `${keys}/europe-west1/keyRings/identity/cryptoKeys/other` },
  { name: 'labels', value: { team: 'platform' } },
  { name: 'public_access', value: 'allUsers' },
];

const rejectedVariables: readonly RejectedChange[] = [
  { name: 'project_id', value: 'acme-other', sentence: /cannot move: set project_id and region back/ },
  { name: 'region', value: 'europe-west4', sentence: /kms_key must be the full name of a key in the region/ },
];

const attributes: readonly Change[] = [
  { name: 'domains', value: ['north.example.com', 'north.example.org'] },
  { name: 'exporters', value: [] },
  { name: 'importers', value: ['serviceAccount:exporter@acme-identity.iam.gserviceaccount.com'] },
  { name: 'cors_origins', value: [] },
  { name: 'min_instances', value: 2 },
  { name: 'max_instances', value: 10 },
  { name: 'memory', value: { import: 2048 } },
  { name: 'backup_days', value: 30 },
  { name: 'master_key_version', value: '2' },
];

const rejectedAttributes: readonly RejectedChange[] = [
  { name: 'domains', value: ['north.example.net'], sentence: /The first domain of north is new/ },
  { name: 'database', value: 'north-restored', sentence: /The instance north has the database north\./ },
  {
    name: 'database_kms_key',
    value: `${keys}/europe/keyRings/identity/cryptoKeys/other`,
    sentence: /The key of the database north cannot change/,
  },
  { name: 'location', value: 'nam5', sentence: /The database north is in eur3 and cannot move to nam5/ },
];

const namesOf = (changes: readonly Change[]) => changes.map(({ name }) => name).toSorted();

describe('the changes', () => {
  it('cover every variable', async () => {
    const names = Array.from((await readTerraform('variables.tf')).matchAll(/^variable "(\w+)"/gm), ([, name]) => name);
    expect([...new Set(namesOf([...variables, ...rejectedVariables]))]).toEqual(names.toSorted());
  });

  it('cover every attribute of an instance', async () => {
    const [, type = ''] =
      /type = map\(object\(\{\n([\s\S]*?)\n {2}\}\)\)/.exec(await readTerraform('variables_instances.tf')) ?? [];
    const names = [...type.matchAll(/^ +(\w+) += /gm)].map(([, name]) => name);
    expect([...new Set(namesOf([...attributes, ...rejectedAttributes]))]).toEqual(names.toSorted());
  });
});

describe('the production example, applied with the real provider', () => {
  let applied: Applied;
  let current: Variables;

  beforeAll(async () => {
    applied = await startProject({
      secrets: ['north-master-key', 'south-master-key'],
      accounts: ['exporter', 'importer'],
      channels: ['1234567890', '2'],
    });
    await cp(join(applied.directory, ARCHIVES), join(applied.directory, 'tests/other-archives'), { recursive: true });
    current = { ...(await exampleVariables(applied)), dist_directory: ARCHIVES };
    await applied.apply(current);
  });

  afterAll(() => applied[Symbol.asyncDispose]());

  const withVariable = ({ name, value }: Change): Variables => ({ ...current, [name]: value });

  const withAttribute = ({ name, value }: Change): Variables => {
    const instances = fieldsOf(current.instances);
    return { ...current, instances: { ...instances, north: { ...fieldsOf(instances.north), [name]: value } } };
  };

  /** Expects that nothing is left to change. */
  async function expectSettled(): Promise<void> {
    expect(await applied.planned(current)).toBe('');
    expect(applied.google.unexpected).toEqual([]);
  }

  /** Applies a change, and expects that it keeps data. */
  async function applyChange(changed: Variables): Promise<void> {
    const before = dataOf(applied);
    await applied.apply(changed);
    current = changed;
    expect(dataOf(applied)).toEqual(before);
    await expectSettled();
  }

  /** Expects that the plan rejects a change. */
  async function expectRejection(changed: Variables, sentence: RegExp): Promise<void> {
    const output = await applied.planned(changed).catch(String);
    expect(output.replace(/\s*\n[│\s]*/g, ' ')).toMatch(sentence);
  }

  it('leaves nothing to change', expectSettled);

  it('gives each account these roles', () => {
    const account = (member: string) => member.replace(/^serviceAccount:|@.*$/g, '');
    const grants = [...applied.project.policies].flatMap(([key, { bindings }]) =>
      bindings.flatMap(({ role, members, condition }) => {
        const scope = condition === undefined ? '' : ` if ${condition.expression}`;
        return members.map((member) => `${account(member)} ${role.slice(6)} ${key.split('/').at(-1)}${scope}`);
      }),
    );
    const onDatabase = 'acme-identity if resource.name == "projects/acme-identity/databases/north"';
    const sources = 'resource.name.startsWith("projects/_/buckets/gcf-v2-sources-123456789012-europe-west1-")';
    const ofSouth = /^south-|-south-|south-master-key$|databases\/south"$/;
    expect(grants.filter((grant) => !ofSouth.test(grant)).toSorted()).toEqual([
      'exporter storage.objectCreator acme-identity-north-exports',
      'identity-build artifactregistry.writer identity-functions',
      'identity-build logging.logWriter acme-identity',
      `identity-build storage.objectViewer acme-identity if ${sources}`,
      'identity-build storage.objectViewer acme-identity-identity-source',
      'importer storage.objectViewer acme-identity-north-imports',
      `north-export datastore.viewer ${onDatabase}`,
      'north-export iam.serviceAccountTokenCreator north-export@acme-identity.iam.gserviceaccount.com',
      'north-export secretmanager.secretAccessor north-master-key',
      'north-export storage.objectUser acme-identity-north-transfers',
      `north-import datastore.user ${onDatabase}`,
      'north-import secretmanager.secretAccessor north-master-key',
      'north-import storage.objectUser acme-identity-north-transfers',
      `north-otp-email datastore.user ${onDatabase}`,
    ]);
    const functions = ['remove-otp-email', 'export', 'import'].map((name) => {
      const key = `cloudfunctions/projects/acme-identity/locations/europe-west1/functions/north-${name}`;
      return fieldsOf(applied.project.held(key).serviceConfig);
    });
    const keyed = {
      secretEnvironmentVariables: [expect.objectContaining({ secret: 'north-master-key', version: '1' })],
    };
    expect(functions.map(({ ingressSettings }) => ingressSettings)).toEqual(Array(3).fill('ALLOW_INTERNAL_AND_GCLB'));
    expect(functions).toEqual([expect.not.objectContaining(keyed), ...Array(2).fill(expect.objectContaining(keyed))]);
  });

  it.each(variables)('applies another $name, and keeps data', (change) => applyChange(withVariable(change)));

  it.each(attributes)('applies another $name of an instance, and keeps data', async (change) => {
    const plan = await applied.planned(withAttribute(change));
    expect(plan).toMatch(/^ {2}# module\.(instance\["north"\]|edge)/m);
    expect(plan).not.toMatch(/^ {2}# module\.instance\["south"\]/m);
    await applyChange(withAttribute(change));
  });

  it.each(rejectedVariables)('rejects another $name in the plan', (change) =>
    expectRejection(withVariable(change), change.sentence),
  );

  it.each(rejectedAttributes)('rejects another $name of an instance in the plan', (change) =>
    expectRejection(withAttribute(change), change.sentence),
  );

  it('rejects another region with its key in the plan', async () => {
    const changed = { ...current, region: 'europe-west4', kms_key: `${keys}/europe-west4/keyRings/i/cryptoKeys/i` };
    await expectRejection(changed, /cannot move: set project_id and region back/);
  });

  it('leaves nothing to change after rejected plans', expectSettled);
});

/** The identities of the resources with data. */
function dataOf({ project }: Applied): Fields {
  const withData =
    /^(firestore\/.*\/databases\/[^/]+|logging\/.*\/buckets\/[^/]+|storage\/b\/[^/]+-(exports|imports|transfers))$/;
  const resources = [...project.resources].filter(([key]) => withData.test(key));
  return Object.fromEntries(
    resources.map(([key, { uid, createTime, timeCreated }]) => [key, uid ?? createTime ?? timeCreated]),
  );
}

/** Reads the variables of the example with Terraform. */
async function exampleVariables({ directory }: Applied): Promise<Variables> {
  const names = [...(await readTerraform(EXAMPLE)).matchAll(/^(\w+) += /gm)].map(([, name]) => name);
  const expression = `jsonencode({ ${names.map((name) => `${name} = var.${name}`).join(', ')} })`;
  const console = `printf %s "$0" | terraform -chdir=${directory} console -var-file=${EXAMPLE} -var=dist_directory=${ARCHIVES}`;
  const { stdout, stderr } = await run('sh', ['-c', console, expression]);
  const parsed: unknown = JSON.parse(String(JSON.parse(stdout || '""')) || '0');
  if (!isFields(parsed)) throw new Error(`the example cannot be read: ${stderr}`);
  return parsed;
}
