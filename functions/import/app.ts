import { randomInt } from 'node:crypto';
import { tmpdir } from 'node:os';
import { admit } from '../../shared/auth/admit.ts';
import type { Bucket } from '../../shared/bucket/bucket.ts';
import type { ImportAnswer } from '../../shared/contract/importAnswer.ts';
import { parseDuration } from '../../shared/duration.ts';
import { callSignal } from '../../shared/http/deadline.ts';
import { receiveBody } from '../../shared/http/requestBody.ts';
import type { Route } from '../../shared/http/route.ts';
import { importEndpoint } from '../../shared/openapi/endpoints/import.ts';
import type { Store } from '../../shared/store/store.ts';
import { documentSource } from './documentSource.ts';
import { readEnvelope } from './importEnvelope.ts';
import { importOrganisations } from './importOrganisations.ts';

/** What the function works with. */
export interface ImportPorts {
  readonly store: Store;
  readonly bucket: Bucket;
  readonly now: () => Date;
  /** Milliseconds that a call may take where it names no `timeout`, and at most. */
  readonly maxTimeoutMs: number;
  readonly maxRequestBytes: number;
}

/** What is held of a body in memory; what is larger is kept in a temporary file. */
const MEMORY_BYTES = 8 * 1024 * 1024;
const ADVICE_IF_LARGER = 'upload the file to a bucket and set data_orgsv1_gcs';

/** `POST /admin/v1/import` (interface 4.3): the import request; 200 with what became of every record. */
export function importRoutes(ports: ImportPorts): readonly Route[] {
  const { store, now } = ports;
  return [
    {
      ...importEndpoint,
      handler: async (context) => {
        await admit(store, context.req.header('authorization'), 'iam.write', now());
        return Response.json(await runImport(ports, context.req.raw));
      },
    },
  ];
}

async function runImport(ports: ImportPorts, request: Request): Promise<ImportAnswer> {
  using call = callSignal(request.signal, ports.maxTimeoutMs);
  const limits = { maxBytes: ports.maxRequestBytes, memoryBytes: MEMORY_BYTES, directory: tmpdir() };
  const body = await receiveBody(request, { ...limits, adviceIfLarger: ADVICE_IF_LARGER, signal: call.signal });
  try {
    const envelope = await readEnvelope(body.open());
    const { timeout, withKeys, onConflict, dryRun } = envelope.request;
    if (timeout !== undefined) call.limit(parseDuration(timeout, ports.maxTimeoutMs));
    const source = await documentSource(envelope, body, ports.bucket, call.signal);
    const options = { withKeys, onConflict, dryRun };
    return await importOrganisations(ports.store, source, options, uniqueStamp(ports.now()), call.signal);
  } finally {
    await body.close();
  }
}

/** The time of now, made different from any other import's by three random digits for its microseconds. */
function uniqueStamp(now: Date): string {
  return now.toISOString().replace('Z', `${String(randomInt(1000)).padStart(3, '0')}Z`);
}
