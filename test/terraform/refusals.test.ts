import { it } from 'vitest';
import { expectSuccess } from './generatedTest.ts';
import { whyNoTerraform } from './whyNoTerraform.ts';

/** A value that a variable rejects: what it is, the variable, and the value in Terraform's language. */
type Refusal = readonly [what: string, variable: string, value: string];

const NORTH = 'domains = ["north.example.com"]';

/** An instance `north` whose settings end with others, or begin with other domains. */
const north = (settings: string) => `{ north = { ${settings.startsWith('domains') ? '' : `${NORTH}, `}${settings} } }`;

/** An instance with another id. */
const named = (id: string) => `{ ${id} = { ${NORTH} } }`;

const instances: readonly (readonly [what: string, value: string])[] = [
  ['an empty map of instances', '{}'],
  [
    'a 26th instance',
    '{ for n in range(26) : format("instance-%02d", n) => { domains = [format("id-%d.example.com", n)] } }',
  ],
  ['an id that is too short', named('abc')],
  ['an id that is too long for a service account', named('abcdefghijklmnopqrstu')],
  ['an id with capitals', named('North')],
  ['an id that begins with a digit', named('"1north"')],
  ['an id that ends in a hyphen', named('north-')],
  ['an id that no bucket can have', named('google-north')],
  ['an instance without a domain', north('domains = []')],
  ['a domain with a scheme', north('domains = ["https://north.example.com"]')],
  ['a domain with a path', north('domains = ["north.example.com/id"]')],
  ['a domain with a wildcard', north('domains = ["*.example.com"]')],
  ['a domain of one label', north('domains = ["localhost"]')],
  ['an address instead of a domain', north('domains = ["203.0.113.7"]')],
  ['a domain that ends in a dot', north('domains = ["north.example.com."]')],
  ['a domain with capitals', north('domains = ["north.example.com", "North.example.com"]')],
  ['a domain that an instance lists twice', north('domains = ["id.example.com", "id.example.com"]')],
  ['two instances on one domain', `{ north = { ${NORTH} }, south = { ${NORTH} } }`],
  ['an unknown location', north('location = "europe"')],
  ['a user as an exporter', north('exporters = ["user:jane@example.com"]')],
  ['everyone as an importer', north('importers = ["allUsers"]')],
  ['an origin with a path', north('cors_origins = ["https://console.example.com/"]')],
  ['a negative number of idle processes', north('min_instances = -1')],
  ['a fraction of an idle process', north('min_instances = 0.5')],
  ['too many idle processes', north('min_instances = 11')],
  ['memory of an unknown function', north('memory = { exports = 1024 }')],
  ['more memory than one CPU can have', north('memory = { import = 8192 }')],
  ['backups longer than Firestore keeps them', north('backup_days = 99')],
  ['functions without processes', north('max_instances = 0')],
  ['fewer processes than the minimum', north('min_instances = 5, max_instances = 4')],
  ['a master key whose version can change', north('master_key_version = "latest"')],
  ['a database key without its project', north('database_kms_key = "north"')],
  ['a database like a UUID', north('database = "f47ac10b-58cc-4372-a567-0e02b2c3d479"')],
  ['a database that is too short', north('database = "abc"')],
  ['the default database', north('database = "(default)"')],
  [
    'two instances on one database',
    `{ north = { ${NORTH} }, south = { domains = ["south.example.com"], database = "north" } }`,
  ],
];

const refusals: readonly Refusal[] = [
  ...instances.map(([what, value]) => [what, 'instances', value] as const),
  ['a project id that is too short', 'project_id', '"acme"'],
  ['a project number', 'project_id', '"123456789012"'],
  ['a project id of a domain', 'project_id', '"example.com:acme"'],
  ['a zone instead of a region', 'region', '"europe-west1-b"'],
  ['a continent instead of a region', 'region', '"EU"'],
  ['a directory without archives', 'dist_directory', '"tests"'],
  ['an invalid address', 'alert_email', '"operations"'],
  ['a notification channel without its project', 'notification_channels', '["1234567890"]'],
  [
    'the number of a project as a billing account',
    'monthly_budget',
    '{ billing_account = "123456789012", amount = 1 }',
  ],
  ['a budget of zero', 'monthly_budget', '{ billing_account = "012345-6789AB-CDEF01", amount = 0 }'],
  ['a fraction of a budget', 'monthly_budget', '{ billing_account = "012345-6789AB-CDEF01", amount = 1.5 }'],
  ['zero requests a minute', 'requests_per_minute', '0'],
  ['a fraction of a request', 'requests_per_minute', '1.5'],
  ['too many requests a minute', 'requests_per_minute', '10001'],
  ['zero exports and imports a minute', 'admin_requests_per_minute', '0'],
  ['an audit trail of zero days', 'audit_retention_days', '0'],
  ['a fraction of a day of the audit trail', 'audit_retention_days', '1.5'],
  ['an audit trail longer than log buckets keep', 'audit_retention_days', '3651'],
  ['a key of another region', 'kms_key', '"projects/k/locations/us-east1/keyRings/k/cryptoKeys/k"'],
  ['a label with capitals', 'labels', '{ Team = "identity" }'],
  ['another kind of access', 'public_access', '"allAuthenticatedUsers"'],
];

/** Writes a test of Terraform with a run for each value that a variable rejects. */
function refusalsTest(): string {
  const runs = refusals.map(
    ([what, variable, value]) => `
run "rejects_${what.toLowerCase().replaceAll(' ', '_')}" {
  command = plan
  variables {
    ${variable} = ${value}
  }
  expect_failures = [var.${variable}]
}
`,
  );
  return `
mock_provider "time" {}

mock_provider "google" {}

variables {
  project_id     = "acme-identity"
  region         = "europe-west1"
  dist_directory = "tests/archives"
  alert_email    = "operations@example.com"
  instances      = { north = { ${NORTH} } }
}
${runs.join('')}`;
}

it.skipIf(whyNoTerraform() !== undefined)('the variables reject values that cannot be applied', async () => {
  await expectSuccess({ refusals: refusalsTest() });
});
