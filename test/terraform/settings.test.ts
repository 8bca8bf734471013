import { expect, it } from 'vitest';
import { configVariables, readConfig } from '../../shared/config.ts';
import { defaultLimits, limitDefinitions } from '../../shared/limits.ts';
import { functionEnvironment, functionSettings } from './terraformFiles.ts';

/** The variables that Terraform does not set, by the reason. */
const notSet = {
  'the platform sets it': ['K_SERVICE'],
  'for self-hosted instances, or has a better name in the cloud': [
    'AUDIT_DAYS',
    'DATA_DIR',
    'GOOGLE_CLOUD_PROJECT',
    'METRICS_PORT',
  ],
  'for the command': ['MAX_TOKEN_DAYS'],
  'comes from Secret Manager': ['IDENTITY_MASTER_KEY'],
  'has the right default': [
    'BCRYPT_COST',
    'LOG_LEVEL',
    'MAX_CLEAR_PASSWORDS',
    'MAX_CONCURRENT_TRANSFERS',
    'MAX_CONNECTIONS',
    'MAX_ORGANISATIONS',
    'MAX_REQUEST_BYTES',
    'TRUSTED_PROXIES',
  ],
};

it('the longest id of an instance leaves room for the names of service accounts, which have at most 30 characters', async () => {
  for (const { account } of Object.values(await functionSettings()))
    expect('an-instance-of-20-ch-'.length + account.length).toBeLessThan(31);
});

it('Terraform sets the variables of the configuration, except those with a reason', async () => {
  const limits = limitDefinitions.flatMap(({ variable }) => variable ?? []);
  const own = Object.keys(await functionEnvironment()).filter((name) => !name.startsWith('NODE_'));
  const names = [...own, ...Object.values(notSet).flat()];
  expect(names.toSorted()).toEqual([...configVariables.map(({ name }) => name), ...limits].toSorted());
});

it("Terraform's environment is a configuration with the instance's database, and limits below the platform's", async () => {
  const applied: Readonly<Record<string, string>> = { '${join(",", var.cors_origins)}': 'https://console.example.com' };
  const entries = Object.entries(await functionEnvironment());
  const environment = Object.fromEntries(
    entries.map(([name, value]) => [name, applied[value] ?? value.replace(/^\$\{.*\}$/, 'acme-identity')]),
  );
  expect(readConfig({ ...environment, K_SERVICE: 'north-import' })).toMatchObject({
    storeLocation: { kind: 'firestore', projectId: 'acme-identity', databaseId: 'acme-identity' },
    corsOrigins: ['https://console.example.com'],
    limits: { ...defaultLimits('cloud'), timeoutMs: 3_540_000, responseBytes: 10_000_000 },
    shutdownMs: 9_000,
    describesInstance: true,
    transferBucket: 'acme-identity',
  });
});
