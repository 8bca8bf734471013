import { appendFile, cp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { root } from '../../tools/program.ts';
import type { Failure } from './google/faults.ts';
import { importIds } from './importIds.ts';
import { type Applied, startProject, type Variables } from './terraform.ts';

const FUNCTION = 'module.instance["north"].google_cloudfunctions2_function.this["export"]';
const HELD = 'cloudfunctions/projects/acme-identity/locations/europe-west1/functions/north-export';

/** A row of the manual with the address of a resource and its ID. */
const ROW = /^\| `((?:module\.|google_)\S+)` \| `(\S+)` \|$/gm;

/** Resources that are set instead of created, or whose ids Google generates: a second creation succeeds. */
const WITHOUT_CONFLICT =
  /_iam_|^google_(project_service|storage_bucket_object|firestore_field|firebaserules_ruleset|monitoring_\w+|billing_budget|secret_manager_secret_version|cloud_run_v2_service)$/;

/** Returns the type of the resource at an address. */
const kindOf = (address: string) => /(?:^|\.)(google_\w+)\.\w+(?:\[[^\]]*\])?$/.exec(address)?.[1] ?? '';

/** Each apply repeats what failed, and fails where the next resource depends on it. */
const MAXIMUM_APPLIES = 20;

const before: Variables = {
  project_id: 'acme-identity',
  region: 'europe-west1',
  alert_email: 'operations@example.com',
  monthly_budget: { billing_account: '012345-6789AB-CDEF01', amount: 100 },
  dist_directory: 'tests/archives',
  labels: { team: 'identity' },
  instances: {
    north: {
      domains: ['id.example.com'],
      exporters: ['serviceAccount:exporter@acme-identity.iam.gserviceaccount.com'],
    },
  },
};

/** Changes every resource that Terraform can update, and replaces some. */
const after: Variables = {
  ...before,
  alert_email: 'alerts@example.com',
  monthly_budget: { billing_account: '012345-6789AB-CDEF01', amount: 200 },
  dist_directory: 'tests/other-archives',
  requests_per_minute: 900,
  admin_requests_per_minute: 45,
  audit_retention_days: 365,
  labels: { team: 'platform' },
  kms_key: 'projects/acme-keys/locations/europe-west1/keyRings/identity/cryptoKeys/identity',
  instances: {
    north: {
      domains: ['id.example.com', 'id.example.org'],
      cors_origins: ['https://console.example.com'],
      master_key_version: '2',
    },
  },
};

describe('changes that fail, applied with the real provider', () => {
  let applied: Applied;

  beforeAll(async () => {
    applied = await startProject({ secrets: ['north-master-key'], accounts: ['exporter'] });
    const [archives, others] = ['tests/archives', 'tests/other-archives'].map((path) => join(applied.directory, path));
    if (archives === undefined || others === undefined) throw new Error('no archives');
    await cp(archives, others, { recursive: true });
    for (const name of ['removeOtpEmail', 'export', 'import'])
      await writeFile(join(others, `${name}.zip`), 'release 2');
    await applied.apply(before);
  });

  afterAll(() => applied[Symbol.asyncDispose]());

  /** Applies until an apply succeeds, while each change fails once. Returns the changes that failed. */
  async function applyWithFailures(variables: Variables, failure: Failure): Promise<readonly string[]> {
    applied.google.faults.start(failure);
    const errors: string[] = [];
    const succeeds = () =>
      applied.apply(variables).then(
        () => true,
        (error) => {
          errors.push(String(error));
          return false;
        },
      );
    while (!(await succeeds())) expect(errors.length, errors.at(-1)).toBeLessThan(MAXIMUM_APPLIES);
    expect(errors).not.toEqual([]);
    expect(errors.filter((error) => !error.includes('this change fails once'))).toEqual([]);
    const { failed, lost } = applied.google.faults;
    expect(lost).toEqual([]);
    applied.google.faults.start(undefined);
    expect(await applied.planned(variables)).toBe('');
    expect(applied.google.unexpected).toEqual([]);
    return failed;
  }

  it('repeats rejected requests in the next applies', async () => {
    await appendFile(join(applied.directory, '../firestore.rules'), '// changed\n');
    expect(updatedCollections(await applyWithFailures(after, 'rejected request'))).toEqual([
      'billingbudgets/budgets',
      'certificatemanager/certificateMapEntries',
      'certificatemanager/certificateMaps',
      'certificatemanager/certificates',
      'certificatemanager/dnsAuthorizations',
      'cloudfunctions/functions',
      'compute/addresses',
      'compute/forwardingRules',
      'compute/securityPolicies',
      'compute/urlMaps',
      'logging/buckets',
      'monitoring/alertPolicies',
      'monitoring/notificationChannels',
      'monitoring/uptimeCheckConfigs',
      'storage/b',
    ]);
  });

  it('repeats failed operations in the next applies', async () => {
    expect(updatedCollections(await applyWithFailures(before, 'failed operation'))).toEqual([
      'certificatemanager/certificateMapEntries',
      'certificatemanager/certificateMaps',
      'certificatemanager/certificates',
      'certificatemanager/dnsAuthorizations',
      'cloudfunctions/functions',
      'compute/addresses',
      'compute/forwardingRules',
      'compute/securityPolicies',
      'compute/urlMaps',
    ]);
  });

  it('prints the command that replaces a function whose deployment failed, although its settings are those of the configuration', async () => {
    applied.project.put(HELD, { ...applied.project.held(HELD), state: 'FAILED' });
    expect(await applied.planned(before)).toContain(`apply -replace='${FUNCTION.replaceAll('"', '\\"')}'`);
    await applied.apply(before, `-replace=${FUNCTION}`);
    expect(applied.project.held(HELD)).toMatchObject({ state: 'ACTIVE' });
    expect(await applied.planned(before)).toBe('');
  });

  it('imports the resources that exist but are not in the state, by the ids of the manual', async () => {
    const [schedule = ''] = [...applied.project.resources.keys()].filter((key) => key.includes('/backupSchedules/'));
    const rows = Object.entries(importIds).map(
      ([address, id]) => [address, id.replace(/SCHEDULE$/, schedule.split('/').at(-1) ?? '')] as const,
    );
    const manual = await readFile(join(root, 'docs/operations-google-cloud.md'), 'utf8');
    const shown = [...manual.matchAll(ROW)].map(([, address = '', id = '']) => [address, id]);
    expect(shown.length).toBeGreaterThan(3);
    expect(rows).toEqual(expect.arrayContaining(shown));
    const kinds = new Set(rows.map(([address]) => kindOf(address)));
    const listed = (await applied.terraform('state', 'list')).stdout.trim().split('\n').map(kindOf);
    const named = listed.filter((kind) => kind.startsWith('google_') && !WITHOUT_CONFLICT.test(kind));
    expect([...kinds].toSorted()).toEqual([...new Set(named)].toSorted());
    const resources = new Map(applied.project.resources);
    const removed = await applied.terraform('state', 'rm', ...rows.map(([address]) => address));
    expect(removed.stdout).toContain(`Successfully removed ${rows.length} resource instance(s).`);
    await expect(applied.apply(before)).rejects.toThrow('already exists');
    const imports = join(applied.directory, 'imports.tf');
    await writeFile(imports, rows.map(([to, id]) => `import {\n  to = ${to}\n  id = "${id}"\n}\n`).join(''));
    await applied.apply(before);
    await rm(imports);
    expect(await applied.planned(before)).toBe('');
    expect([...applied.project.resources.keys()].toSorted()).toEqual([...resources.keys()].toSorted());
  });

  it('prints the command that restores a log bucket which was deleted by hand', async () => {
    const key = 'logging/projects/acme-identity/locations/europe-west1/buckets/north-audit';
    const bucket = applied.project.held(key);
    applied.project.put(key, { ...bucket, lifecycleState: 'DELETE_REQUESTED' });
    expect(await applied.planned(before)).toContain(
      'gcloud logging buckets undelete north-audit --location=europe-west1 --project=acme-identity',
    );
    applied.project.put(key, bucket);
    expect(await applied.planned(before)).toBe('');
  });

  it('creates a log bucket that was deleted by hand, after its removal from the state', async () => {
    applied.project.resources.delete('logging/projects/acme-identity/locations/europe-west1/buckets/north-audit');
    await expect(applied.planned(before)).rejects.toThrow('404');
    await applied.terraform('state', 'rm', 'module.instance["north"].google_logging_project_bucket_config.audit');
    await applied.apply(before);
    expect(await applied.planned(before)).toBe('');
  });
});

/** The services and collections, such as `compute/urlMaps`, of the resources whose update failed. */
function updatedCollections(failed: readonly string[]): readonly string[] {
  const names = failed.flatMap((change) => {
    const [, patched, changed] =
      /^(?:(?:PATCH|PUT) (\S+)|POST (compute\/\S+)\/(?:setLabels|patchRule)) /.exec(change) ?? [];
    return patched ?? changed ?? [];
  });
  const resources = names.filter((name) => !name.endsWith('/iam')).map((name) => name.split('/'));
  return [...new Set(resources.map((parts) => `${parts[0]}/${parts.at(-2)}`))].toSorted();
}
