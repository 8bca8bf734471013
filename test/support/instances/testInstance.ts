import { expect } from 'vitest';
import { z } from 'zod';
import { routes as exportRoutes } from '../../../functions/export/app.ts';
import { routes as importRoutes } from '../../../functions/import/app.ts';
import { importResponse } from '../../../functions/import/contract.ts';
import { routes as userRoutes } from '../../../functions/removeOtpEmail/app.ts';
import { initialise } from '../../../shared/accounts/initialise.ts';
import type { Audit } from '../../../shared/audit/audit.ts';
import { DAY_MS } from '../../../shared/clock.ts';
import { exportFile } from '../../../shared/exportFile/manifest.ts';
import { createApp } from '../../../shared/http/app.ts';
import { defaultLimits, type Limits } from '../../../shared/limits.ts';
import { configureLog } from '../../../shared/log.ts';
import type { ObjectStorage } from '../../../shared/objectStorage/objectStorage.ts';
import type { Transfers } from '../../../shared/objectStorage/transfers.ts';
import type { Store, Write } from '../../../shared/store/store.ts';
import { memoryTrail } from '../audit/memoryTrail.ts';
import { openTestStore, type StoreKind } from '../stores/stores.ts';
import { watchedStore } from '../stores/watchedStore.ts';

const record = z.record(z.string(), z.unknown());
const counts = z.record(z.string(), z.number());
// Checks the contract of the response first, then the types of the fields that tests read.
const untyped = (value: unknown) => value;

/** The fields of an export file that tests read. */
export const exportedFile = exportFile.transform(untyped).pipe(
  z.strictObject({
    orgs: z.array(z.looseObject({ orgId: z.string() })),
    manifest: z.looseObject({ counts, digest: z.string() }),
  }),
);
const reported = z.object({ type: z.string(), id: z.string().optional(), message: z.string() });
const ofError = reported.extend({ reason: z.string(), params: z.record(z.string(), z.string()).optional() });
/** The response to an import with status 200: errors in ZITADEL's fields, and their reasons. */
export const importReport = importResponse
  .transform(untyped)
  .pipe(
    z.strictObject({
      errors: z.array(ofError).optional(),
      success: z.strictObject({ orgs: z.array(z.looseObject({ orgId: z.string() })).optional() }),
      summary: z.looseObject({
        created: counts,
        unchanged: counts,
        failed: counts,
        notCarried: counts,
        warnings: z.array(reported.extend({ reason: z.string().optional() })),
        deleted: counts.optional(),
        proved: z.boolean(),
      }),
      deletions: z.array(z.looseObject({ type: z.string(), id: z.string() })).optional(),
    }),
  )
  .transform(({ errors, ...report }) => ({
    ...report,
    errors: errors?.map((error) => reported.parse(error)),
    reasons: errors?.map(({ message: _, ...reason }) => reason) ?? [],
  }));

/** An export file, and its bytes. */
export interface Exported extends z.infer<typeof exportedFile> {
  readonly bytes: string;
}

/** The response to an import. */
export type Report = z.infer<typeof importReport>;

/** An instance in this process: the functions over a store, called by its owner. */
export interface TestInstance {
  /** The id of its default organisation. */
  readonly orgId: string;
  /** The id of its owner. */
  readonly userId: string;
  /** The token of its owner. */
  readonly token: string;
  readonly app: ReturnType<typeof createApp>;
  /** Imports or exports, and returns the response whatever its status. */
  attempt(operation: 'import' | 'export', body: unknown): Promise<{ status: number; text: string }>;
  /** Imports, and expects a report. */
  import(body: unknown): Promise<Report>;
  /** Imports, and expects an error. Returns its body and status. */
  refusedImport(body: unknown): Promise<{ status: number; body: Record<string, unknown> }>;
  /**
   * Exports all organisations except the default organisation; by default, with everything that a request can include.
   */
  export(request?: object): Promise<Exported>;
}

const noBucket = () => Promise.reject(new Error('these tests have no bucket'));
const noStorage: ObjectStorage = { write: noBucket, pin: noBucket };

/** Needs 1/256 of the default's time. */
const bcryptCost = 4;

/** The replaceable parts of an instance: a bucket, or its own store with faults. */
export type ReplacedPorts = {
  readonly audit?: Audit;
  readonly now?: () => Date;
  readonly store?: Store;
  readonly objectStorage?: ObjectStorage;
  readonly transfers?: Transfers | undefined;
  readonly limits?: Partial<Limits>;
};

/** Initialises a store, and serves the functions with it. Sends text bodies unchanged. */
export async function testInstance(store: Store, name = 'test', replaced: ReplacedPorts = {}): Promise<TestInstance> {
  return servedInstance(store, await initialise(store, { name }, DAY_MS, new Date()), replaced);
}

/** Serves the functions with an initialised store, for the owner of a token. */
export function servedInstance(
  store: Store,
  { orgId, userId, token }: Pick<TestInstance, 'orgId' | 'userId' | 'token'>,
  replaced: ReplacedPorts = {},
): TestInstance {
  configureLog('silent');
  const now = () => new Date();
  // Tests of concurrency run more concurrent calls than an operator would allow.
  const unlimited = { concurrentTransfers: Number.POSITIVE_INFINITY };
  const limits = { ...defaultLimits('selfHosted'), timeoutMs: 600_000, ...unlimited, ...replaced.limits };
  const { audit } = memoryTrail();
  const ports = { store, objectStorage: noStorage, audit, now, bcryptCost, ...replaced, limits };
  const routes = [...importRoutes(ports), ...exportRoutes(ports), ...userRoutes(ports)];
  const app = createApp({ routes, limits });
  const send = async (path: string, body: unknown) => {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const response = await app.request(path, { method: 'POST', body: text, headers });
    return { status: response.status, text: await response.text() };
  };
  return {
    orgId,
    userId,
    token,
    app,
    attempt: (operation, body) => send(`/admin/v1/${operation}`, body),
    async import(body) {
      const { status, text } = await send('/admin/v1/import', body);
      expect({ status, text }, text).toMatchObject({ status: 200 });
      return importReport.parse(JSON.parse(text));
    },
    async refusedImport(body) {
      const { status, text } = await send('/admin/v1/import', body);
      expect(status, text).toBeGreaterThanOrEqual(400);
      return { status, body: record.parse(JSON.parse(text)) };
    },
    async export(request) {
      const everything = { excluded_org_ids: [orgId], with_passwords: true, with_otp: true, with_keys: true };
      const { status, text } = await send('/admin/v1/export', { ...everything, response_output: true, ...request });
      expect({ status, text }, text).toMatchObject({ status: 200 });
      return { ...exportedFile.parse(JSON.parse(text)), bytes: text };
    },
  };
}

/** Creates an instance whose writes can be counted. */
export async function countedInstance(kind?: StoreKind) {
  let writes: Write[] = [];
  const store = await openTestStore(kind);
  const instance = await testInstance(
    watchedStore(store, (some) => {
      writes.push(...some);
    }),
  );
  return {
    instance,
    store,
    writesOf: async <Result>(work: () => Promise<Result>) => {
      writes = [];
      return { result: await work(), writes: writes.length };
    },
  };
}
