import { describe, expect, it } from 'vitest';
import { configVariables, readConfig } from '../../shared/config.ts';
import { defaultLimits, limitDefinitions } from '../../shared/limits.ts';
import { functionEnvironment } from './terraformFiles.ts';

/** What Cloud Functions sets by itself: not for Terraform to set, since it would be refused. */
const setByThePlatform = ['K_SERVICE'];
/** What is for self-hosted instances, or has a better name in the cloud. */
const notInTheCloud = ['AUDIT_DAYS', 'DATA_DIR', 'GOOGLE_CLOUD_PROJECT', 'METRICS_PORT'];
/** What is for the command, which runs elsewhere. */
const forTheCommand = ['MAX_TOKEN_DAYS'];
/** What comes from Secret Manager, for the functions that need it. */
const secret = ['IDENTITY_MASTER_KEY'];
/** What has the right default in the cloud. */
const leftToDefaults = [
  'BCRYPT_COST',
  'LOG_LEVEL',
  'MAX_CLEAR_PASSWORDS',
  'MAX_CONCURRENT_TRANSFERS',
  'MAX_CONNECTIONS',
  'MAX_ORGANISATIONS',
  'MAX_REQUEST_BYTES',
  'TRUSTED_PROXIES',
];

const applied: Readonly<Record<string, string>> = {
  '${var.project_id}': 'acme-identity',
  '${google_firestore_database.this.name}': 'north',
  '${google_storage_bucket.transfer["transfers"].name}': 'acme-identity-north-transfers',
  '${join(",", var.cors_origins)}': 'https://console.example.com,https://other.example.com',
};

describe('the environment that Terraform gives the functions', () => {
  it('has the variables of the configuration, all but those that are not for it to set', async () => {
    const left = [...setByThePlatform, ...notInTheCloud, ...forTheCommand, ...secret, ...leftToDefaults];
    const limits = limitDefinitions.flatMap(({ variable }) => variable ?? []);
    const names = [...configVariables.map(({ name }) => name), ...limits].filter((name) => !left.includes(name));
    expect(Object.keys(await functionEnvironment()).toSorted()).toEqual(names.toSorted());
  });

  it("is a configuration: the instance's database, and limits just below those of the platform", async () => {
    const entries = Object.entries(await functionEnvironment());
    const environment = Object.fromEntries(entries.map(([name, value]) => [name, applied[value] ?? value]));
    const config = readConfig({ ...environment, K_SERVICE: 'north-import' });
    expect(config).toEqual({
      storeLocation: { kind: 'firestore', projectId: 'acme-identity', databaseId: 'north' },
      logLevel: 'info',
      corsOrigins: ['https://console.example.com', 'https://other.example.com'],
      limits: { ...defaultLimits('cloud'), timeoutMs: 3_540_000, responseBytes: 10_000_000 },
      maxTokenLifetimeMs: 90 * 86_400_000,
      auditRetentionMs: 400 * 86_400_000,
      trustedProxies: 2,
      shutdownMs: 9_000,
      describesInstance: true,
      transferBucket: 'acme-identity-north-transfers',
      bcryptCost: 12,
    });
  });
});
