import type { Context } from 'hono';
import type { AuditedCall } from '../../shared/audit/audit.ts';
import { requireOwner, watchAuthorisation } from '../../shared/auth/requireOwner.ts';
import { parseDuration } from '../../shared/duration.ts';
import { invalidRequest, outputUnsupported } from '../../shared/errors/errors.ts';
import { tooManyCalls } from '../../shared/errors/httpErrors.ts';
import type { Route } from '../../shared/http/app.ts';
import { ConcurrencyLimit } from '../../shared/http/concurrency.ts';
import { callSignal } from '../../shared/http/deadline.ts';
import type { HttpEnv } from '../../shared/http/nodeResponse.ts';
import { readJsonBody } from '../../shared/http/requestBody.ts';
import type { WrittenObject } from '../../shared/objectStorage/objectStorage.ts';
import { describeInstance } from '../../shared/store/instance.ts';
import type { Store } from '../../shared/store/store.ts';
import { ignoredFields } from '../../shared/wire/ignoredFields.ts';
import { objectLocation, readRequest } from '../../shared/wire/requestMessage.ts';
import type { Ports } from '../ports.ts';
import { deletionRoute, transferFacts } from '../transferCalls.ts';
import { type ExportProgress, exportFacts, progressFacts } from './auditFacts.ts';
import { type ExportRequest, exportEndpoint, exportFields, exportRequest, objectDeletionEndpoint } from './contract.ts';
import { exportOrganisations, openSnapshot } from './operation.ts';
import { createExportResponse } from './response.ts';
import { redirectToFile } from './transfer.ts';

const MAX_REQUEST_BYTES = 4_000_000;

export function routes(ports: Ports): readonly Route[] {
  const concurrency = new ConcurrencyLimit(ports.limits.concurrentTransfers, (limit) =>
    tooManyCalls({ kind: 'exports', limit }),
  );
  return [
    {
      ...exportEndpoint,
      handler(context) {
        const audited = ports.audit.call('export', context.get('origin'));
        return audited.watch(() => runExport({ ports, concurrency, audited }, context));
      },
    },
    deletionRoute(ports, objectDeletionEndpoint, { kind: 'exports', parameter: 'object', operation: 'export' }),
  ];
}

interface ExportRun {
  readonly ports: Ports;
  readonly concurrency: ConcurrencyLimit;
  readonly audited: AuditedCall;
}

/**
 * Writes the export to an object in a bucket, to the response, or to both. Both have the content of the same snapshot.
 */
async function runExport({ ports, concurrency, audited }: ExportRun, context: Context<HttpEnv>): Promise<Response> {
  const { limits, objectStorage, transfers } = ports;
  const request = context.req.raw;
  const authorise = (called: Store) =>
    requireOwner({ ...ports, store: called }, context.req.header('authorization'), 'export', audited.identify);
  await authorise(ports.store);
  concurrency.check();
  await using resources = new AsyncDisposableStack();
  const longestMs = Math.min(limits.timeoutMs, ports.store.advice().snapshotMs);
  const call = resources.use(callSignal(request.signal, longestMs, context.env?.shutdown));
  const { signal } = call;
  const store = ports.store.forCall({ signal });
  resources.use(watchAuthorisation(() => authorise(store), call.end));
  const body = await readJsonBody(request, { maxBytes: MAX_REQUEST_BYTES, budget: context.get('bodies'), signal });
  const options = readExportRequest(body);
  const timeoutMs = options.timeout === undefined ? undefined : parseDuration(options.timeout, limits.timeoutMs);
  if (timeoutMs !== undefined) call.limit(timeoutMs);
  // Receiving the body can take minutes. So check before the response sends secrets that the token is still valid.
  const caller = await authorise(store);
  resources.use(concurrency.enter());

  const location = options.gcsOutput && objectLocation(options.gcsOutput, 'gcs_output');
  const progress: ExportProgress = { export: undefined, object: location };
  await audited.begin(exportFacts(options, location), (isComplete) => progressFacts(progress, isComplete));
  const snapshot = resources.use(await openSnapshot(store, timeoutMs));
  const instance = await describeInstance(snapshot);
  const { userId, orgId } = caller;
  const origin = userId === undefined ? instance : { ...instance, exportedBy: { userId, orgId } };
  const selection = { ...options, ignored: ignoredFields(body, exportFields) };
  const startExport = () => {
    progress.export = exportOrganisations(snapshot, selection, origin, signal);
    return progress.export;
  };
  let written: WrittenObject | undefined;
  if (location !== undefined) {
    const upload = startExport();
    written = await objectStorage.write(location, upload.bytes, signal);
    progress.object = written;
    if (!options.responseOutput) {
      await audited.end();
      return Response.json({ manifest: upload.manifest, object: written });
    }
  }
  const facts = transferFacts(instance, caller);
  const limit = limits.responseBytes;
  const large = { request, transfers, facts, limit, written, progress, signal };
  const held = resources.move();
  return createExportResponse(startExport().bytes, limit, {
    held,
    signal,
    audited,
    redirect: (file, end) => redirectToFile(large, file, end),
  });
}

function readExportRequest(body: unknown): ExportRequest {
  const request = readRequest(exportRequest, body);
  if (request.localOutput !== undefined) throw outputUnsupported({ field: 'local_output' });
  if (request.s3Output !== undefined) throw outputUnsupported({ field: 's3_output' });
  if (!request.responseOutput && request.gcsOutput === undefined) {
    throw invalidRequest([
      { field: 'response_output', description: 'no output: set response_output to true, or gcs_output, or both' },
    ]);
  }
  return request;
}
