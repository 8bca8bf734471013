import { readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { copyConfiguration } from './configurationCopy.ts';
import { readTerraform, terraformDirectory } from './terraformFiles.ts';
import { whyNoTerraform } from './whyNoTerraform.ts';

const NORTH = 'domains = ["north.example.com"]';

/** Instances that are rejected: an instance `north` with other settings, or an expression. */
const instances: Readonly<Record<string, string>> = {
  'an empty map': '{}',
  'a 26th instance': '{ for n in range(26) : format("at-%d", n) => { domains = [format("id-%d.example.com", n)] } }',
  'an id that is too short': `{ abc = { ${NORTH} } }`,
  'an id that is too long for a service account': `{ abcdefghijklmnopqrstu = { ${NORTH} } }`,
  'an id with capitals': `{ North = { ${NORTH} } }`,
  'an id that ends in a hyphen': `{ north- = { ${NORTH} } }`,
  'an id that no bucket can have': `{ google-north = { ${NORTH} } }`,
  'no domain': 'domains = []',
  'a domain with a scheme': 'domains = ["https://north.example.com"]',
  'a wildcard': 'domains = ["*.example.com"]',
  'a domain of one label': 'domains = ["localhost"]',
  'an address instead of a domain': 'domains = ["203.0.113.7"]',
  'a domain with capitals': 'domains = ["north.example.com", "North.example.com"]',
  'a domain that an instance lists twice': 'domains = ["id.example.com", "id.example.com"]',
  'two instances on one domain': `{ north = { ${NORTH} }, south = { ${NORTH} } }`,
  'two instances on one database': `{ north = { ${NORTH} }, south = { domains = ["s.example.com"], database = "north" } }`,
  'an unknown location': 'location = "europe"',
  'a user as an exporter': 'exporters = ["user:jane@example.com"]',
  'everyone as an importer': 'importers = ["allUsers"]',
  'an origin with a path': 'cors_origins = ["https://console.example.com/"]',
  'a fraction of an idle process': 'min_instances = 0.5',
  'functions without processes': 'max_instances = 0',
  'fewer processes than the minimum': 'min_instances = 5, max_instances = 4',
  'memory of an unknown function': 'memory = { exports = 1024 }',
  'more memory than one CPU can have': 'memory = { import = 8192 }',
  'backups longer than Firestore keeps them': 'backup_days = 99',
  'a master key whose version can change': 'master_key_version = "latest"',
  'a database key without its project': 'database_kms_key = "north"',
  'a database like a UUID': 'database = "f47ac10b-58cc-4372-a567-0e02b2c3d479"',
  'the default database': 'database = "(default)"',
};

const values: readonly (readonly [what: string, variable: string, value: string])[] = [
  ['a project number', 'project_id', '"123456789012"'],
  ['a project id of a domain', 'project_id', '"example.com:acme"'],
  ['a zone instead of a region', 'region', '"europe-west1-b"'],
  ['a directory without archives', 'dist_directory', '"tests"'],
  ['an invalid address', 'alert_email', '"operations"'],
  ['a channel without its project', 'notification_channels', '["1234567890"]'],
  ['a project as a billing account', 'monthly_budget', '{ billing_account = "123456789012", amount = 1 }'],
  ['a fraction of a budget', 'monthly_budget', '{ billing_account = "012345-6789AB-CDEF01", amount = 1.5 }'],
  ['too many requests a minute', 'requests_per_minute', '10001'],
  ['zero exports and imports a minute', 'admin_requests_per_minute', '0'],
  ['an audit trail longer than log buckets keep', 'audit_retention_days', '3651'],
  ['a key of another region', 'kms_key', '"projects/k/locations/us-east1/keyRings/k/cryptoKeys/k"'],
  ['a label with capitals', 'labels', '{ Team = "identity" }'],
  ['another kind of access', 'public_access', '"allAuthenticatedUsers"'],
  ...Object.entries(instances).map(([what, value]) => {
    if (value.startsWith('{')) return [what, 'instances', value] as const;
    return [what, 'instances', `{ north = { ${value.startsWith('domains') ? '' : `${NORTH}, `}${value} } }`] as const;
  }),
];

/** Writes a test of Terraform: the variables of its runs, and the runs. */
const testOf = (variables: string, ...runs: readonly string[]) => `
mock_provider "time" {}
mock_provider "google" {
  source = "./tests/mocks"
}
variables {
  ${variables}
  dist_directory = "tests/archives"
}
${runs.join('\n')}`;

const refusals = values.map(
  ([what, variable, value]) => `
run "rejects_${what.toLowerCase().replaceAll(' ', '_')}" {
  command = plan
  variables {
    ${variable} = ${value}
  }
  expect_failures = [var.${variable}]
}`,
);

const MINIMAL = 'examples/minimal/terraform.tfvars';

it('docs/deploying.md shows the minimal example', async () => {
  const [, shown] = /^```hcl\n([\s\S]*?)^```$/m.exec(await readTerraform('../docs/deploying.md')) ?? [];
  expect(shown).toBe(await readTerraform(MINIMAL));
});

it.skipIf(whyNoTerraform() !== undefined)('the examples can be applied, and invalid values cannot', async () => {
  await using copy = await copyConfiguration();
  const directory = join(copy.directory, 'tests');
  for (const name of await readdir(directory)) if (name.endsWith('.tftest.hcl')) await rm(join(directory, name));
  const minimal = await readTerraform(MINIMAL);
  const tests: Record<string, string> = { refusals: testOf(minimal, ...refusals) };
  for (const entry of await readdir(join(terraformDirectory, 'examples'), { withFileTypes: true }))
    if (entry.isDirectory())
      tests[entry.name] = testOf(await readTerraform(`examples/${entry.name}/terraform.tfvars`), 'run "applies" {}');
  for (const [name, text] of Object.entries(tests)) await writeFile(join(directory, `${name}.tftest.hcl`), text);
  const { failed, output } = await copy.check('.');
  // The check of the format rejects generated tests.
  expect(
    failed.filter((step) => step !== 'fmt'),
    output,
  ).toEqual([]);
});
