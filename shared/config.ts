// The configuration of a process, read from environment variables.

import { z } from 'zod';
import { DAY_MS } from './clock.ts';
import { configurationInvalid } from './errors/commandErrors.ts';
import { type Limits, readLimits } from './limits.ts';
import { type LogLevel, logLevels } from './log.ts';
import { bcryptCosts, type PasswordHashing, passwordAlgorithms } from './passwordHashing.ts';
import type { StoreLocation } from './store/openStore.ts';
import { parseMasterKeys } from './store/secrets/masterKey.ts';

/** The validated configuration. Times are milliseconds. */
export interface Config {
  readonly storeLocation: StoreLocation;
  /** Origins whose pages may call this service from a browser. */
  readonly corsOrigins: readonly string[];
  readonly limits: Limits;
  /** The longest lifetime of a new token. */
  readonly maxTokenLifetimeMs: number;
  /** The time for which the audit trail beside an embedded database is kept. */
  readonly auditRetentionMs: number;
  /** The number of addresses that trusted proxies append to `X-Forwarded-For`. */
  readonly trustedProxies: number;
  readonly shutdownMs: number;
  readonly logLevel: LogLevel;
  readonly passwordHashing: PasswordHashing;
  /** The local port of the metrics; undefined for none. */
  readonly metricsPort: number | undefined;
  /** The bucket for exports and uploads that exceed a response or a request; undefined for none. */
  readonly transferBucket: string | undefined;
  /** Whether `/openapi.json` of one function describes all functions of the instance. */
  readonly describesInstance: boolean;
}

const seconds = z
  .string()
  .regex(/^(0|[1-9]\d{0,3})$/, 'must be a number of seconds from 0 to 9999')
  .transform((text) => Number(text) * 1000);
const days = z
  .string()
  .regex(/^[1-9]\d{0,3}$/, 'must be a number of days from 1 to 9999')
  .transform((text) => Number(text) * DAY_MS);

const { min, max } = bcryptCosts;
const bcryptCost = z
  .string()
  .refine(
    (text) => /^\d\d$/.test(text) && Number(text) >= min && Number(text) <= max,
    `must be a number from ${min} to ${max}`,
  )
  .transform(Number);

/** The schema of a port to listen on. */
export const port = z
  .string()
  .refine(
    (text) => /^\d{1,5}$/.test(text) && Number(text) < 65_536,
    'must be a port from 0 to 65535 (0 picks a free one)',
  )
  .transform(Number);

const origins = z.string().transform((text, context) => {
  const list = text.split(',').map((origin) => origin.trim());
  if (list.every((origin) => /^https?:/.test(origin) && URL.parse(origin)?.origin === origin)) return list;
  context.addIssue('must be origins such as https://console.example.com, separated by commas');
  return z.NEVER;
});

const proxies = z.string().regex(/^\d$/, 'must be a number from 0 to 9').transform(Number);

const environment = z.object({
  AUDIT_DAYS: days.default(400 * DAY_MS),
  BCRYPT_COST: bcryptCost.default(bcryptCosts.default),
  CORS_ORIGINS: origins.default([]),
  DATA_DIR: z.string().optional(),
  FIRESTORE_DATABASE: z.string().default('(default)'),
  FIRESTORE_PROJECT: z.string().optional(),
  GOOGLE_CLOUD_PROJECT: z.string().optional(),
  IDENTITY_MASTER_KEY: z
    .string()
    .refine(
      (text) => parseMasterKeys(text) !== undefined,
      'must be keys of 32 bytes in base64 or hex, separated by commas, such as the output of openssl rand -base64 32',
    )
    .optional(),
  K_SERVICE: z.string().optional(),
  LOG_LEVEL: z.enum(logLevels, `must be one of ${logLevels.join(', ')}`).default('info'),
  MAX_TOKEN_DAYS: days.default(90 * DAY_MS),
  METRICS_PORT: port.optional(),
  OPENAPI_SCOPE: z.enum(['function', 'instance'], 'must be function or instance').default('function'),
  PASSWORD_HASH: z.enum(passwordAlgorithms, `must be ${passwordAlgorithms.join(' or ')}`).default('bcrypt'),
  SHUTDOWN_SECONDS: seconds.default(9_000),
  TRANSFER_BUCKET: z.string().optional(),
  TRUSTED_PROXIES: proxies.optional(),
});

/** Google's load balancer appends the client's address and its own. */
const CLOUD_PROXIES = 2;

type Environment = z.output<typeof environment>;

/** An environment variable. */
export interface ConfigVariable {
  readonly name: string;
  readonly meaning: string;
  /** The description of the value when the variable is unset or empty. */
  readonly default: string;
}

// As a record, so that the compiler reports a variable without a description.
const descriptions: Record<keyof Environment, [meaning: string, fallback: string]> = {
  DATA_DIR: [
    'directory of the embedded database; mutually exclusive with FIRESTORE_PROJECT',
    'none (Firestore is used)',
  ],
  FIRESTORE_PROJECT: ['Google Cloud project of the Firestore database', 'GOOGLE_CLOUD_PROJECT'],
  GOOGLE_CLOUD_PROJECT: ['default of FIRESTORE_PROJECT, unless DATA_DIR is set', 'none'],
  FIRESTORE_DATABASE: ['name of the Firestore database', '(default)'],
  IDENTITY_MASTER_KEY: [
    'key that encrypts the secrets in the database: 32 bytes in base64 or hex; while keys are rotated, the new one, a comma and the old one',
    'master.key in DATA_DIR; none with Firestore, where exports, imports and `identity rekey` need it',
  ],
  K_SERVICE: ['set by Google Cloud; selects the limits of the cloud', 'none (self-hosted)'],
  CORS_ORIGINS: [
    'origins whose pages may call from a browser, separated by commas, such as https://console.example.com',
    'none',
  ],
  LOG_LEVEL: [`log level: ${logLevels.join(', ')}`, 'info'],
  MAX_TOKEN_DAYS: ['longest lifetime, in days, of the tokens that the command creates', '90'],
  METRICS_PORT: ['port of 127.0.0.1 at which identity serve offers /metrics for Prometheus', 'none'],
  OPENAPI_SCOPE: [
    'scope of /openapi.json of the function removeOtpEmail: its own operation (function), or all of them (instance)',
    'function',
  ],
  PASSWORD_HASH: [
    'hash of clear passwords in imports: bcrypt, which ZITADEL always verifies, or argon2id, which it verifies only if its configuration enables it',
    'bcrypt',
  ],
  BCRYPT_COST: [
    `cost of bcrypt, from ${min} to ${max}; each step doubles the time, which is a quarter of a second of a core at 12`,
    String(bcryptCosts.default),
  ],
  TRANSFER_BUCKET: [
    'bucket in Cloud Storage for exports that exceed a response and uploads that exceed a request; only the functions use it',
    'none',
  ],
  AUDIT_DAYS: ['days for which the audit trail of an embedded database is kept', '400'],
  TRUSTED_PROXIES: [
    'number of addresses that trusted proxies append to X-Forwarded-For, from which the audit trail takes the address of the client; above 0, `serve` may listen on any address; 0 ignores the header',
    '0 (in the cloud: 2)',
  ],
  SHUTDOWN_SECONDS: [
    'seconds that running requests get to finish after SIGTERM; exports and imports end seven seconds before',
    '9',
  ],
};

/** Every variable that `readConfig` reads, except those of limits. Tests compare the documentation and Terraform with it. */
export const configVariables: readonly ConfigVariable[] = Object.entries(descriptions).map(
  ([name, [meaning, fallback]]) => ({ name, meaning, default: fallback }),
);

/**
 * Reads the configuration from environment variables. An empty variable counts as unset.
 * `DATA_DIR` takes precedence over `GOOGLE_CLOUD_PROJECT`, which many machines set for other reasons.
 *
 * @throws IdentityError CONFIGURATION_INVALID, which lists every problem
 */
export function readConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const setVariables = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''));
  const { data, error } = environment.safeParse(setVariables);
  const storeLocation = readLocation(setVariables);
  const problems = error?.issues.map(({ path, message }) => `${path.join('.')} ${message}`) ?? [];
  if (typeof storeLocation === 'string') problems.push(storeLocation);
  const limits = readLimits(setVariables, setVariables.K_SERVICE === undefined ? 'selfHosted' : 'cloud', problems);
  if (data === undefined || typeof storeLocation === 'string' || problems.length > 0)
    throw configurationInvalid({ problems: problems.map((line) => `\n  ${line}`).join('') });
  return {
    storeLocation,
    corsOrigins: data.CORS_ORIGINS,
    limits,
    maxTokenLifetimeMs: data.MAX_TOKEN_DAYS,
    auditRetentionMs: data.AUDIT_DAYS,
    trustedProxies: data.TRUSTED_PROXIES ?? (data.K_SERVICE === undefined ? 0 : CLOUD_PROXIES),
    shutdownMs: data.SHUTDOWN_SECONDS,
    logLevel: data.LOG_LEVEL,
    passwordHashing:
      data.PASSWORD_HASH === 'bcrypt' ? { algorithm: 'bcrypt', cost: data.BCRYPT_COST } : { algorithm: 'argon2id' },
    metricsPort: data.METRICS_PORT,
    transferBucket: data.TRANSFER_BUCKET,
    describesInstance: data.OPENAPI_SCOPE === 'instance',
  };
}

function readLocation(env: Readonly<Record<string, string | undefined>>): StoreLocation | string {
  const { DATA_DIR, FIRESTORE_PROJECT, GOOGLE_CLOUD_PROJECT, FIRESTORE_DATABASE = '(default)' } = env;
  const masterKey = env.IDENTITY_MASTER_KEY;
  if (DATA_DIR !== undefined && FIRESTORE_PROJECT !== undefined)
    return 'DATA_DIR and FIRESTORE_PROJECT are mutually exclusive: unset one of them';
  if (DATA_DIR !== undefined) return { kind: 'sqlite', directory: DATA_DIR, masterKey };
  const projectId = FIRESTORE_PROJECT ?? GOOGLE_CLOUD_PROJECT;
  if (projectId === undefined) return 'no database: set DATA_DIR or FIRESTORE_PROJECT';
  return { kind: 'firestore', projectId, databaseId: FIRESTORE_DATABASE, masterKey };
}
