import { describe, expect, it } from 'vitest';
import { configVariables, readConfig } from '../../shared/config.ts';
import { configurationInvalid } from '../../shared/errors/commandErrors.ts';
import { defaultLimits } from '../../shared/limits.ts';

const masterKey = Buffer.alloc(32, 'key').toString('base64');

describe('readConfig', () => {
  it('gives a self-hosted instance generous limits', () => {
    expect(readConfig({ DATA_DIR: '/data' })).toEqual({
      storeLocation: { kind: 'sqlite', directory: '/data' },
      corsOrigins: [],
      limits: defaultLimits('selfHosted'),
      maxTokenLifetimeMs: 90 * 86_400_000,
      auditRetentionMs: 400 * 86_400_000,
      trustedProxies: 0,
      shutdownMs: 9_000,
      describesInstance: false,
      logLevel: 'info',
      bcryptCost: 12,
    });
  });

  it("gives a function in the cloud the platform's limits", () => {
    const config = readConfig({ K_SERVICE: 'export', FIRESTORE_PROJECT: 'acme' });
    expect(config).toMatchObject({
      limits: { requestBytes: 32_000_000, responseBytes: 32_000_000 },
      trustedProxies: 1,
      describesInstance: false,
    });
  });

  it('knows that a function behind the load balancer of an instance stands for all of them', () => {
    const config = readConfig({ K_SERVICE: 'export', FIRESTORE_PROJECT: 'acme', HOSTING: 'load_balancer' });
    expect(config).toMatchObject({ trustedProxies: 2, describesInstance: true });
  });

  it('reads the variables that are set', () => {
    const config = readConfig({
      FIRESTORE_PROJECT: 'acme',
      FIRESTORE_DATABASE: 'eu',
      GOOGLE_CLOUD_PROJECT: 'other',
      MAX_REQUEST_BYTES: '1000',
      MAX_RESPONSE_BYTES: '2000',
      MAX_TIMEOUT: '5m30s',
      MAX_TOKEN_DAYS: '7',
      AUDIT_DAYS: '30',
      TRANSFER_BUCKET: 'acme-north-transfers',
      TRUSTED_PROXIES: '1',
      SHUTDOWN_SECONDS: '0',
      LOG_LEVEL: 'silent',
      CORS_ORIGINS: 'https://a.example, http://localhost:3000',
      HOSTING: 'load_balancer',
      BCRYPT_COST: '14',
      IDENTITY_MASTER_KEY: masterKey,
    });
    expect(config).toEqual({
      storeLocation: { kind: 'firestore', projectId: 'acme', databaseId: 'eu', masterKey },
      corsOrigins: ['https://a.example', 'http://localhost:3000'],
      limits: { ...defaultLimits('selfHosted'), requestBytes: 1000, responseBytes: 2000, timeoutMs: 330_000 },
      maxTokenLifetimeMs: 7 * 86_400_000,
      auditRetentionMs: 30 * 86_400_000,
      trustedProxies: 1,
      transferBucket: 'acme-north-transfers',
      shutdownMs: 0,
      describesInstance: true,
      logLevel: 'silent',
      bcryptCost: 14,
    });
  });

  it('falls back to GOOGLE_CLOUD_PROJECT and the default database', () => {
    expect(readConfig({ GOOGLE_CLOUD_PROJECT: 'acme' }).storeLocation).toEqual({
      kind: 'firestore',
      projectId: 'acme',
      databaseId: '(default)',
    });
  });

  it('prefers DATA_DIR to GOOGLE_CLOUD_PROJECT', () => {
    const { storeLocation } = readConfig({ DATA_DIR: '/data', GOOGLE_CLOUD_PROJECT: 'acme' });
    expect(storeLocation.kind).toBe('sqlite');
  });

  it('refuses DATA_DIR together with FIRESTORE_PROJECT', () => {
    expect(() => readConfig({ DATA_DIR: '/data', FIRESTORE_PROJECT: 'acme' })).toThrow('mutually exclusive');
  });

  it('treats an empty variable as unset', () => {
    expect(() => readConfig({ DATA_DIR: '' })).toThrow('set DATA_DIR or FIRESTORE_PROJECT');
    expect(readConfig({ DATA_DIR: '/data', MAX_TIMEOUT: '' }).limits.timeoutMs).toBe(3_600_000);
  });

  it('lists every problem in one error', () => {
    const env = {
      MAX_REQUEST_BYTES: '32MB',
      MAX_RESPONSE_BYTES: '0',
      MAX_TIMEOUT: '25h',
      MAX_TOKEN_DAYS: '0',
      SHUTDOWN_SECONDS: '-1',
      LOG_LEVEL: 'loud',
      CORS_ORIGINS: '*',
      HOSTING: 'cloud',
      BCRYPT_COST: '9',
      IDENTITY_MASTER_KEY: 'hunter2',
    };
    expect(() => readConfig(env)).toThrow(expect.toSatisfy(configurationInvalid.is));
    for (const name of [...Object.keys(env), 'DATA_DIR']) expect(() => readConfig(env)).toThrow(`${name} `);
  });

  it.each([
    'a.example',
    'https://a.example/',
    'https://a.example/path',
    'ftp://a.example',
    'https://a.example,',
    'null',
  ])('rejects %s as an origin', (origins) => {
    expect(() => readConfig({ DATA_DIR: '/data', CORS_ORIGINS: origins })).toThrow('CORS_ORIGINS must be origins');
  });

  it('never shows a value, which may be a secret put into the wrong variable', () => {
    for (const name of ['LOG_LEVEL', 'IDENTITY_MASTER_KEY'])
      expect(() => readConfig({ DATA_DIR: '/data', [name]: 'hunter2' })).not.toThrow('hunter2');
  });

  it.each(['9', '17', '1e1', '012', ' 12', 'twelve'])('rejects %j as the cost of bcrypt', (cost) => {
    const message = 'BCRYPT_COST must be a number from 10 to 16';
    expect(() => readConfig({ DATA_DIR: '/data', BCRYPT_COST: cost })).toThrow(message);
  });

  it.each(['BCRYPT_COST', 'FIRESTORE_DATABASE', 'LOG_LEVEL', 'MAX_TOKEN_DAYS', 'SHUTDOWN_SECONDS'])(
    'has the default for %s that the table of variables documents',
    (name) => {
      const variable = configVariables.find((one) => one.name === name);
      const implied = readConfig({ FIRESTORE_PROJECT: 'acme' });
      expect(readConfig({ FIRESTORE_PROJECT: 'acme', [name]: variable?.default })).toEqual(implied);
      expect(variable?.default).toBeTruthy();
    },
  );
});
