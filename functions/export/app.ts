import { admit } from '../../shared/auth/admit.ts';
import type { Bucket } from '../../shared/bucket/bucket.ts';
import { objectLocation } from '../../shared/contract/bucketRequest.ts';
import { type ExportRequest, exportRequest } from '../../shared/contract/exportRequest.ts';
import { readRequest } from '../../shared/contract/requestMessage.ts';
import { parseDuration } from '../../shared/duration.ts';
import { invalidRequest, outputUnsupported } from '../../shared/errors/errors.ts';
import { callSignal } from '../../shared/http/deadline.ts';
import { readJsonBody } from '../../shared/http/jsonBody.ts';
import type { Route } from '../../shared/http/route.ts';
import { instanceName } from '../../shared/instance.ts';
import { exportEndpoint } from '../../shared/openapi/endpoints/export.ts';
import type { Store } from '../../shared/store/store.ts';
import { exportOrganisations } from './exportOrganisations.ts';
import { exportResponse } from './exportResponse.ts';

/** What the function works with. */
export interface ExportPorts {
  readonly store: Store;
  readonly bucket: Bucket;
  readonly now: () => Date;
  /** Milliseconds that a call may take where it names no `timeout`, and at most. */
  readonly maxTimeoutMs: number;
  /** Bytes that a response may have; undefined where it can be streamed without limit. */
  readonly maxResponseBytes: number | undefined;
}

const MAX_REQUEST_BYTES = 4_000_000;

/** `POST /admin/v1/export` (interface 4.2): the export request; 200 with the document, or with what was written to a bucket. */
export function exportRoutes(ports: ExportPorts): readonly Route[] {
  const { store, now } = ports;
  return [
    {
      ...exportEndpoint,
      handler: async (context) => {
        await admit(store, context.req.header('authorization'), 'iam.write', now());
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
  const snapshot = asyncResources.adopt(await ports.store.snapshot(), (open) => open.close());
  const instance = await instanceName(snapshot);
  const begin = () => exportOrganisations(snapshot, request, instance, signal);
  if (location !== undefined) {
    const written = begin();
    const object = await ports.bucket.write(location, written.bytes, signal);
    if (!request.responseOutput) return Response.json({ manifest: written.manifest, object });
  }
  return exportResponse(begin().bytes, ports.maxResponseBytes, [resources.move(), asyncResources.move()]);
}
