import type { AuditedCall } from '../../shared/audit/audit.ts';
import type { Caller } from '../../shared/auth/authorise.ts';
import { requireOwner, watchAuthorisation } from '../../shared/auth/requireOwner.ts';
import { parseDuration } from '../../shared/duration.ts';
import { tooManyCalls } from '../../shared/errors/httpErrors.ts';
import type { Route } from '../../shared/http/app.ts';
import type { BodyBudget, ReceivedBody } from '../../shared/http/bodyStorage.ts';
import { ConcurrencyLimit } from '../../shared/http/concurrency.ts';
import { callSignal } from '../../shared/http/deadline.ts';
import type { LocalCall } from '../../shared/http/nodeResponse.ts';
import { receiveBody } from '../../shared/http/requestBody.ts';
import type { Store } from '../../shared/store/store.ts';
import type { Ports } from '../ports.ts';
import { deletionRoute } from '../transferCalls.ts';
import { deletionFacts, importFacts } from './auditFacts.ts';
import type { ImportSettings, InspectedFile } from './context.ts';
import { type ImportRequest, importEndpoint, uploadDeletionEndpoint } from './contract.ts';
import { importOrganisations, readBeginning } from './operation.ts';
import {
  adviceIfLarger,
  findSource,
  type ImportEnvelope,
  readEnvelope,
  requireMirrorOptions,
  requireOneSource,
} from './request/envelope.ts';
import { readQuery } from './request/fileRequest.ts';
import { KeptObject } from './request/keptObject.ts';
import { type ImportAnswer, type ImportClient, respond } from './results/respond.ts';
import { uniqueStamp } from './stamp.ts';
import { findUpload, openUpload } from './uploads.ts';

export function routes(ports: Ports): readonly Route[] {
  const concurrency = new ConcurrencyLimit(ports.limits.concurrentTransfers, (limit) =>
    tooManyCalls({ kind: 'imports', limit }),
  );
  return [
    {
      ...importEndpoint,
      handler: (context) => {
        const request = context.req.raw;
        const bodies = context.get('bodies');
        const audited = ports.audit.call('import', context.get('origin'));
        const authorise = (store: Store) =>
          requireOwner({ ...ports, store }, context.req.header('authorization'), 'import', audited.identify);
        const { shutdown, local } = context.env ?? {};
        return respond(context, ports.limits.responseBytes, (client) =>
          audited.run(async () => {
            await authorise(ports.store);
            concurrency.check();
            return runImport({ ...client, ports, authorise, concurrency, bodies, audited, shutdown, local }, request);
          }),
        );
      },
    },
    deletionRoute(ports, uploadDeletionEndpoint, { kind: 'imports', parameter: 'upload', operation: 'import' }),
  ];
}

interface ImportCall extends ImportClient {
  readonly ports: Ports;
  /** Returns the caller. Throws if the token is no longer valid, or if the caller has lost the permission. */
  readonly authorise: (store: Store) => Promise<Caller>;
  readonly concurrency: ConcurrencyLimit;
  readonly bodies: BodyBudget;
  readonly audited: AuditedCall;
  readonly shutdown: AbortSignal | undefined;
  readonly local: LocalCall | undefined;
}

async function runImport(
  { ports, authorise, concurrency, bodies, audited, shutdown, local, signal, events }: ImportCall,
  request: Request,
): Promise<ImportAnswer> {
  const { bcryptCost, limits, objectStorage } = ports;
  using call = callSignal(signal, limits.timeoutMs, shutdown);
  const called = ports.store.forCall({ signal: call.signal });
  using _watch = watchAuthorisation(() => authorise(called), call.end);
  const limitTime = ({ timeout }: Pick<ImportRequest, 'timeout'>) => {
    if (timeout !== undefined) call.limit(parseDuration(timeout, limits.timeoutMs));
  };
  // Rejects an invalid query before the file arrives.
  const options = readQuery(request);
  if (options !== undefined) limitTime(options);
  // Read this before the body, because calls without the instance's lock can change records while the body arrives.
  const beginning = await readBeginning(called, call.signal);
  const advice = adviceIfLarger(ports.transfers !== undefined);
  const isFile = options !== undefined;
  const received = {
    maxBytes: limits.requestBytes,
    adviceIfLarger: advice,
    isFile,
    budget: bodies,
    signal: call.signal,
  };
  const body = local?.readBody === undefined ? await receiveBody(request, received) : localBody(local.readBody);
  using kept = new DisposableStack();
  try {
    // Receiving the body can take minutes, so check that the token is still valid.
    const caller = await authorise(called);
    using place = concurrency.enter();
    const envelope: ImportEnvelope =
      options === undefined ? await readEnvelope(body) : { request: options, inline: [], isFile: true, ignored: [] };
    const { request: requested, ignored } = envelope;
    limitTime(requested);
    requireOneSource(envelope);
    requireMirrorOptions(requested);
    const uploading = { ports, store: called, caller, audited, signal: call.signal };
    if (requested.upload !== undefined) {
      const origin = request.headers.get('origin') ?? undefined;
      return await openUpload(uploading, { ...requested.upload, origin });
    }
    const source = await findSource(
      envelope,
      body,
      {
        objectStorage,
        findUpload: (id) => findUpload(uploading, id),
        keep: (object) => kept.use(new KeptObject(object, bodies)),
        maxBytes: limits.requestBytes,
        advice,
      },
      call.signal,
    );
    const onInspected = async (file: InspectedFile) => {
      await audited.begin(importFacts(requested, source, file), () => ({ counts: file.totals() }));
      events?.begin(file.progress);
    };
    const onProgress = () => events?.addProgress();
    const onWait = place.leave;
    const onLocked = async () => {
      place.enterAgain();
      // The wait for the instance's lock can take minutes, so check that the token is still valid.
      await authorise(called);
    };
    const callbacks = { onInspected, onProgress, onWait, onLocked, onDeleting: recordDeletions(audited) };
    const msLeft = () => call.msLeft;
    const importing = { ...requested, beginning, ignored, caller, bcryptCost, limits, msLeft, ...callbacks };
    const store = ports.store.forCall({ signal: call.signal, isBulk: true });
    return await importOrganisations(store, source, importing, uniqueStamp(ports.now()), call.signal);
  } finally {
    await body.close();
  }
}

function recordDeletions(audited: AuditedCall): NonNullable<ImportSettings['onDeleting']> {
  return (transaction, deleted) => audited.recordIn(transaction, 'import.deleted', deleted.map(deletionFacts));
}

/** Returns the body of a call in this process. Closing it does nothing, because the application has not stored it. */
function localBody(open: NonNullable<LocalCall['readBody']>): Pick<ReceivedBody, 'open' | 'close'> {
  return { open, close: async () => {} };
}
