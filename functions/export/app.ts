import type { AuditedCall } from '../../shared/audit/auditedCall.ts';
import type { Caller } from '../../shared/auth/authorise.ts';
import { requireOwner } from '../../shared/auth/requireOwner.ts';
import { checkOrganisations } from '../../shared/auth/tokenRestriction.ts';
import { watchAuthorisation } from '../../shared/auth/watchAuthorisation.ts';
import { parseDuration } from '../../shared/duration.ts';
import { invalidRequest, onlyObjectWritten, outputUnsupported, responseTooLarge } from '../../shared/errors/errors.ts';
import { cancelled, tooManyCalls } from '../../shared/errors/httpErrors.ts';
import type { Route } from '../../shared/http/app.ts';
import type { BodyBudget } from '../../shared/http/bodyBudget.ts';
import { ConcurrencyLimit } from '../../shared/http/concurrency.ts';
import { callSignal } from '../../shared/http/deadline.ts';
import { expectBody } from '../../shared/http/exchange.ts';
import { readJsonBody } from '../../shared/http/jsonBody.ts';
import { describeInstance } from '../../shared/instance.ts';
import type { WrittenObject } from '../../shared/objectStorage/objectStorage.ts';
import type { IgnoredField } from '../../shared/organisation/exportFile.ts';
import { type Store, storeForCall } from '../../shared/store/store.ts';
import { ignoredFields } from '../../shared/wire/ignoredFields.ts';
import { objectLocation, readRequest } from '../../shared/wire/requestMessage.ts';
import type { Ports } from '../ports.ts';
import { type ExportProgress, exportFacts, progressFacts } from './auditFacts.ts';
import { type ExportRequest, exportEndpoint, exportFields, exportRequest } from './contract.ts';
import { openSnapshot } from './openSnapshot.ts';
import { exportOrganisations } from './operation.ts';

const MAX_REQUEST_BYTES = 4_000_000;

/** Returns the route of `POST /admin/v1/export` (specification 4.2). */
export function routes(ports: Ports): readonly Route[] {
  const { store, now } = ports;
  const concurrency = new ConcurrencyLimit(ports.limits.exports, (limit) => tooManyCalls('exports', limit));
  return [
    {
      ...exportEndpoint,
      handler: (context) => {
        const audited = ports.audit.call('export', context.get('origin'));
        const authorise = (called: Store) =>
          requireOwner(called, context.req.header('authorization'), 'export', now(), audited.identify);
        return audited.watch(async () => {
          await authorise(store);
          expectBody(context.req.raw);
          concurrency.check();
          const bodies = context.get('bodies');
          return runExport({ ports, authorise, concurrency, bodies, audited }, context.req.raw);
        });
      },
    },
  ];
}

/** What an export needs beside its request. */
interface ExportRun {
  readonly ports: Ports;
  /** Returns the caller, and throws when it is no longer authorised. */
  readonly authorise: (store: Store) => Promise<Caller>;
  readonly concurrency: ConcurrencyLimit;
  readonly bodies: BodyBudget;
  readonly audited: AuditedCall;
}

async function runExport(run: ExportRun, request: Request): Promise<Response> {
  const { ports, authorise, concurrency, bodies: budget, audited } = run;
  using resources = new DisposableStack();
  const { snapshotLifetimeMs = Number.POSITIVE_INFINITY } = ports.store;
  const call = resources.use(callSignal(request.signal, Math.min(ports.limits.timeoutMs, snapshotLifetimeMs)));
  const store = storeForCall(ports.store, { signal: call.signal });
  resources.use(watchAuthorisation(() => authorise(store), call.end));
  const body = await readJsonBody(request, { maxBytes: MAX_REQUEST_BYTES, budget, signal: call.signal });
  const options = { ...readExportRequest(body), ignored: ignoredFields(body, exportFields) };
  if (options.timeout !== undefined) {
    call.limit(parseDuration(options.timeout, ports.limits.timeoutMs));
  }
  // The body may have taken its time, and the first bytes after it may be secrets.
  const caller = await authorise(store);
  checkOrganisations(caller.restriction, options.orgIds);
  resources.use(concurrency.enter());
  return await respond({ ...ports, store }, options, { signal: call.signal, audited, caller }, resources);
}

function timeoutMs({ limits }: Ports, { timeout }: ExportRequest): number | undefined {
  return timeout === undefined ? undefined : parseDuration(timeout, limits.timeoutMs);
}

function readExportRequest(body: unknown): ExportRequest {
  const request = readRequest(exportRequest, body);
  if (request.localOutput !== undefined) throw outputUnsupported('local_output');
  if (request.s3Output !== undefined) throw outputUnsupported('s3_output');
  if (!request.responseOutput && request.gcsOutput === undefined) {
    throw invalidRequest([
      { field: 'response_output', description: 'no output: set response_output to true, or gcs_output, or both' },
    ]);
  }
  return request;
}

/** One call of the export. */
interface ExportCall {
  readonly signal: AbortSignal;
  readonly audited: AuditedCall;
  readonly caller: Caller;
}

/** Exports to the bucket first, if requested, then starts the response from the same snapshot. */
async function respond(
  ports: Ports,
  request: ExportRequest & { readonly ignored: readonly IgnoredField[] },
  { signal, audited, caller: { userId, orgId } }: ExportCall,
  resources: DisposableStack,
): Promise<Response> {
  const location = request.gcsOutput && objectLocation(request.gcsOutput, 'gcs_output');
  const progress: ExportProgress = { export: undefined, object: location };
  await audited.begin(exportFacts(request, location), (isComplete) => progressFacts(progress, isComplete));
  await using asyncResources = new AsyncDisposableStack();
  const snapshot = asyncResources.use(await openSnapshot(ports.store, timeoutMs(ports, request), signal));
  const origin = { ...(await describeInstance(snapshot)), exportedBy: { userId, orgId } };
  const startExport = () => {
    progress.export = exportOrganisations(snapshot, request, origin, signal);
    return progress.export;
  };
  let written: WrittenObject | undefined;
  if (location !== undefined) {
    const upload = startExport();
    written = await ports.objectStorage.write(location, upload.bytes, signal);
    progress.object = written;
    if (!request.responseOutput) {
      await audited.end();
      return Response.json({ manifest: upload.manifest, object: written });
    }
  }
  const held = [resources.move(), asyncResources.move()] as const;
  return exportResponse(startExport().bytes, ports.limits.responseBytes, { held, signal, audited }, written);
}

/** What a response needs until its last byte. */
interface ResponseResources {
  /** What is disposed of with the last byte: the call's signal and the snapshot. */
  readonly held: readonly [Disposable, AsyncDisposable];
  /** Ends the response, even one whose client does not read. */
  readonly signal: AbortSignal;
  /** Puts the response's end on record, before its last byte is sent. */
  readonly audited: Pick<AuditedCall, 'end'>;
}

const HEADERS = { 'content-type': 'application/json' };

/**
 * Creates the response that carries the export file. Without a limit it is streamed; with one, the file is buffered,
 * so that the platform cannot truncate it. An error before the first byte is thrown; a later one closes the connection.
 * @param written the object to which the same file was written before
 * @throws IdentityError FAILED_PRECONDITION when the file is larger than `maxBytes`
 */
export async function exportResponse(
  bytes: AsyncIterable<Uint8Array>,
  maxBytes: number,
  { held, signal, audited }: ResponseResources,
  written?: WrittenObject,
): Promise<Response> {
  const content = withResources(bytes, held);
  if (Number.isFinite(maxBytes)) {
    const file = await collect(content, maxBytes, written);
    signal.throwIfAborted();
    await audited.end();
    // The platform's limit is higher for responses with a content length than for streamed ones.
    return new Response(file, { headers: { ...HEADERS, 'content-length': String(file.size) } });
  }
  const recorded = untilEnd(content, signal, audited);
  const first = await recorded.next();
  return new Response(streamUntil(signal, prepend(first, recorded)), { headers: HEADERS });
}

async function* withResources(
  bytes: AsyncIterable<Uint8Array>,
  [call, snapshot]: ResponseResources['held'],
): AsyncGenerator<Uint8Array> {
  using _call = call;
  await using _snapshot = snapshot;
  yield* bytes;
}

/** Puts the end of the bytes on record, whether they are complete, fail, or are read no further. */
async function* untilEnd(
  bytes: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
  audited: Pick<AuditedCall, 'end'>,
): AsyncGenerator<Uint8Array> {
  try {
    yield* bytes;
    await audited.end();
  } catch (error) {
    await audited.end(error);
    throw error;
  } finally {
    await audited.end(signal.reason ?? cancelled());
  }
}

/**
 * Streams the bytes until the signal aborts. The stream fails at once then, also while its reader waits for a client that
 * has stopped reading, so that the connection is closed and what is buffered does not leave.
 */
function streamUntil(signal: AbortSignal, bytes: AsyncGenerator<Uint8Array>): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        signal.addEventListener(
          'abort',
          () => {
            controller.error(signal.reason);
            void bytes.return(undefined);
          },
          { once: true },
        );
      },
      async pull(controller) {
        const { done, value } = await bytes.next();
        if (done === true) controller.close();
        else controller.enqueue(value);
      },
      async cancel() {
        await bytes.return(undefined);
      },
    },
    { highWaterMark: 0 },
  );
}

async function* prepend(
  first: IteratorResult<Uint8Array>,
  rest: AsyncGenerator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  try {
    if (!first.done) yield first.value;
    yield* rest;
  } finally {
    await rest.return(undefined);
  }
}

async function collect(
  bytes: AsyncIterable<Uint8Array>,
  maxBytes: number,
  written: WrittenObject | undefined,
): Promise<Blob> {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  for await (const part of bytes) {
    size += part.length;
    if (size > maxBytes)
      throw written === undefined ? responseTooLarge(maxBytes) : onlyObjectWritten(maxBytes, written);
    parts.push(Uint8Array.from(part));
  }
  return new Blob(parts);
}
