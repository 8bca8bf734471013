import { z } from 'zod';
import { bcryptCosts } from './bcryptCosts.ts';
import { DAY_MS } from './clock.ts';
import { configurationInvalid } from './errors/commandErrors.ts';
import { type Limits, readLimits } from './limits.ts';
import { type LogLevel, logLevels } from './log.ts';
import type { StoreLocation } from './store/openStore.ts';
import { parseMasterKeys } from './store/secrets/masterKey.ts';

/** Durations are in milliseconds. */
export interface Config {
  readonly storeLocation: StoreLocation;
  readonly corsOrigins: readonly string[];
  readonly limits: Limits;
  readonly maxTokenLifetimeMs: number;
  readonly auditRetentionMs: number;
  readonly trustedProxies: number;
  readonly shutdownMs: number;
  readonly logLevel: LogLevel;
  readonly bcryptCost: number;
  /** The port of `/metrics`. Undefined if metrics are off. */
  readonly metricsPort: number | undefined;
  /** The bucket for exports and uploads above the size limits; undefined if the instance has no such bucket. */
  readonly transferBucket: string | undefined;
  /** True if `/openapi.json` of this function also describes the endpoints of the other functions. */
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

export const port = z
  .string()
  .refine(
    (text) => /^\d{1,5}$/.test(text) && Number(text) < 65_536,
    'must be a port from 0 to 65535 (0 selects a free port)',
  )
  .transform(Number);

const origins = z.string().transform((text, context) => {
  const list = text.split(',').map((origin) => origin.trim());
  if (list.every((origin) => /^https?:/.test(origin) && URL.parse(origin)?.origin === origin)) return list;
  context.addIssue('must be origins such as https://console.example.com, separated by commas');
  return z.NEVER;
});

const proxies = z.string().regex(/^\d$/, 'must be a number from 0 to 9').transform(Number);

/**
 * The ways in which an instance is hosted. Depending on the hosting, clients call a process, the URL of a single
 * function, or a load balancer in front of several functions.
 */
const hostings = ['process', 'function', 'load_balancer'] as const;
type Hosting = (typeof hostings)[number];

const environment = z.object({
  AUDIT_DAYS: days.default(400 * DAY_MS),
  BCRYPT_COST: bcryptCost.default(bcryptCosts.default),
  CORS_ORIGINS: origins.default([]),
  DATA_DIR: z.string().optional(),
  FIRESTORE_DATABASE: z.string().default('(default)'),
  FIRESTORE_PROJECT: z.string().optional(),
  GOOGLE_CLOUD_PROJECT: z.string().optional(),
  HOSTING: z.enum(hostings, `must be one of ${hostings.join(', ')}`).optional(),
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
  SHUTDOWN_SECONDS: seconds.default(9_000),
  TRANSFER_BUCKET: z.string().optional(),
  TRUSTED_PROXIES: proxies.optional(),
});

/**
 * For each way of hosting, the number of addresses that proxies append to `X-Forwarded-For`. At a function's URL,
 * Google's front end appends the client's address. A load balancer appends two addresses: the client's and its own.
 */
const proxiesOfHosting: Readonly<Record<Hosting, number>> = { process: 0, function: 1, load_balancer: 2 };

type Environment = z.output<typeof environment>;

export interface ConfigVariable {
  readonly name: string;
  readonly meaning: string;
  readonly default: string;
}

// The type requires an entry for each variable, so the compiler reports a missing entry.
const descriptions: Record<keyof Environment, [meaning: string, fallback: string]> = {
  DATA_DIR: [
    'directory of the embedded database; mutually exclusive with FIRESTORE_PROJECT',
    'none (Firestore is used)',
  ],
  FIRESTORE_PROJECT: ['Google Cloud project of the Firestore database', 'GOOGLE_CLOUD_PROJECT'],
  GOOGLE_CLOUD_PROJECT: ['default of FIRESTORE_PROJECT, unless DATA_DIR is set', 'none'],
  FIRESTORE_DATABASE: ['name of the Firestore database', '(default)'],
  IDENTITY_MASTER_KEY: [
    'key that encrypts the secrets in the database: 32 bytes in base64 or hex; during a rotation, the new key, a comma and the old key',
    'master.key in DATA_DIR; with Firestore, no default: exports, imports and `identity rekey` need the variable',
  ],
  HOSTING: [
    'what clients call: this process (`process`), a function (`function`), or the load balancer of an instance (`load_balancer`; the function removeOtpEmail then describes all operations)',
    'process (with K_SERVICE: function)',
  ],
  K_SERVICE: ['set by Google Cloud; selects the limits of the cloud', 'none (self-hosted)'],
  CORS_ORIGINS: [
    'origins of web pages that may call the service, separated by commas, such as https://console.example.com',
    'none',
  ],
  LOG_LEVEL: [`log level: ${logLevels.join(', ')}`, 'info'],
  MAX_TOKEN_DAYS: ['longest lifetime, in days, of the tokens that the command creates', '90'],
  METRICS_PORT: ['port of 127.0.0.1 at which `identity serve` offers /metrics for Prometheus', 'none'],
  BCRYPT_COST: [
    `cost of bcrypt for clear passwords in imports, from ${min} to ${max}; at 12, a hash takes a quarter of a second; each step doubles the time`,
    String(bcryptCosts.default),
  ],
  TRANSFER_BUCKET: [
    'bucket in Cloud Storage for exports above MAX_RESPONSE_BYTES and files above MAX_REQUEST_BYTES; self-hosted instances do not use it',
    'none',
  ],
  AUDIT_DAYS: ['days for which an embedded database keeps the events of its audit trail', '400'],
  TRUSTED_PROXIES: [
    'number of addresses that trusted proxies append to X-Forwarded-For, from which the audit trail takes the address of the client; above 0, `identity serve` can listen on any address',
    '0, 1 or 2, which depends on HOSTING',
  ],
  SHUTDOWN_SECONDS: [
    'seconds in which running requests may finish after SIGTERM; exports and imports are interrupted seven seconds earlier',
    '9',
  ],
};

/**
 * All variables that `readConfig` reads, except those of limits. Tests compare this list with the documentation and
 * with Terraform.
 */
export const configVariables: readonly ConfigVariable[] = Object.entries(descriptions).map(
  ([name, [meaning, fallback]]) => ({ name, meaning, default: fallback }),
);

/**
 * Reads the configuration from environment variables. An empty variable counts as unset. `DATA_DIR` takes precedence
 * over `GOOGLE_CLOUD_PROJECT`, which many machines set for other reasons.
 * @throws IdentityError CONFIGURATION_INVALID if a variable is invalid; the error lists all problems
 */
export function readConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const setVariables = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''));
  const { data, error } = environment.safeParse(setVariables);
  const storeLocation = readLocation(setVariables);
  const problems = error?.issues.map(({ path, message }) => `${path.join('.')} ${message}`) ?? [];
  if (typeof storeLocation === 'string') problems.push(storeLocation);
  const isCloud = setVariables.K_SERVICE !== undefined;
  const limits = readLimits(setVariables, isCloud ? 'cloud' : 'selfHosted', problems);
  if (data === undefined || typeof storeLocation === 'string' || problems.length > 0)
    throw configurationInvalid({ problems: problems.map((line) => `\n  ${line}`).join('') });
  const hosting = data.HOSTING ?? (isCloud ? 'function' : 'process');
  return {
    storeLocation,
    corsOrigins: data.CORS_ORIGINS,
    limits,
    maxTokenLifetimeMs: data.MAX_TOKEN_DAYS,
    auditRetentionMs: data.AUDIT_DAYS,
    trustedProxies: data.TRUSTED_PROXIES ?? proxiesOfHosting[hosting],
    shutdownMs: data.SHUTDOWN_SECONDS,
    logLevel: data.LOG_LEVEL,
    bcryptCost: data.BCRYPT_COST,
    metricsPort: data.METRICS_PORT,
    transferBucket: data.TRANSFER_BUCKET,
    describesInstance: hosting === 'load_balancer',
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
