import { requirePermission } from '../../shared/auth/authorise.ts';
import { parseDuration } from '../../shared/duration.ts';
import { invalidRequest, outputUnsupported, responseTooLarge } from '../../shared/errors/errors.ts';
import type { Route } from '../../shared/http/app.ts';
import { callSignal } from '../../shared/http/deadline.ts';
import { readJsonBody } from '../../shared/http/requestBody.ts';
import { instanceName } from '../../shared/instance.ts';
import { objectLocation, readRequest } from '../../shared/wire/requestMessage.ts';
import type { Ports } from '../ports.ts';
import { type ExportRequest, exportEndpoint, exportRequest } from './contract.ts';
import { exportOrganisations } from './operation.ts';

type ExportPorts = Omit<Ports, 'maxRequestBytes'>;

const MAX_REQUEST_BYTES = 4_000_000;

/**
 * `POST /admin/v1/export` (specification 4.2): the export request; 200 with the document, or with what was written to a
 * bucket.
 */
export function routes(ports: ExportPorts): readonly Route[] {
  const { store, now } = ports;
  return [
    {
      ...exportEndpoint,
      handler: async (context) => {
        await requirePermission(store, context.req.header('authorization'), 'iam.write', now());
        return runExport(ports, context.req.raw);
      },
    },
  ];
}

async function runExport(ports: ExportPorts, request: Request): Promise<Response> {
  using resources = new DisposableStack();
  const call = resources.use(callSignal(request.signal, ports.maxTimeoutMs));
  const wanted = readExportRequest(await readJsonBody(request, MAX_REQUEST_BYTES, call.signal));
  if (wanted.timeout !== undefined) call.limit(parseDuration(wanted.timeout, ports.maxTimeoutMs));
  return await answer(ports, wanted, call.signal, resources);
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

/** Writes to the bucket first: only when the object is there does a response begin, from the same snapshot. */
async function answer(
  ports: ExportPorts,
  request: ExportRequest,
  signal: AbortSignal,
  resources: DisposableStack,
): Promise<Response> {
  const location = request.gcsOutput && objectLocation(request.gcsOutput, 'gcs_output');
  await using asyncResources = new AsyncDisposableStack();
  const snapshot = asyncResources.use(await ports.store.snapshot());
  const instance = await instanceName(snapshot);
  const begin = () => exportOrganisations(snapshot, request, instance, signal);
  if (location !== undefined) {
    const written = begin();
    const object = await ports.objectStorage.write(location, written.bytes, signal);
    if (!request.responseOutput) return Response.json({ manifest: written.manifest, object });
  }
  return exportResponse(begin().bytes, ports.maxResponseBytes, [resources.move(), asyncResources.move()]);
}

/** What a response holds open until its last byte is sent. */
type Held = readonly [Disposable, AsyncDisposable];

const HEADERS = { 'content-type': 'application/json' };

/**
 * The document as a response. It is streamed, unless there is a limit: then it is held back until it is complete, so
 * that nobody gets a document cut off by the platform. An error before the first bytes is thrown; a later one breaks the
 * connection off.
 * @throws IdentityError FAILED_PRECONDITION when it is larger than `maxBytes`
 */
export async function exportResponse(
  bytes: AsyncIterable<Uint8Array>,
  maxBytes: number | undefined,
  held: Held,
): Promise<Response> {
  const content = heldOpen(bytes, held);
  if (maxBytes !== undefined) {
    const whole = await collect(content, maxBytes);
    // The platform takes more of an answer whose length it knows than of one that is streamed.
    return new Response(whole, { headers: { ...HEADERS, 'content-length': String(whole.size) } });
  }
  const first = await content.next();
  return new Response(ReadableStream.from(after(first, content)), { headers: HEADERS });
}

async function* heldOpen(bytes: AsyncIterable<Uint8Array>, [call, snapshot]: Held): AsyncGenerator<Uint8Array> {
  using _call = call;
  await using _snapshot = snapshot;
  yield* bytes;
}

async function* after(first: IteratorResult<Uint8Array>, rest: AsyncGenerator<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    if (!first.done) yield first.value;
    yield* rest;
  } finally {
    await rest.return(undefined);
  }
}

async function collect(bytes: AsyncIterable<Uint8Array>, maxBytes: number): Promise<Blob> {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  for await (const part of bytes) {
    size += part.length;
    if (size > maxBytes) throw responseTooLarge(maxBytes);
    parts.push(Uint8Array.from(part));
  }
  return new Blob(parts);
}
