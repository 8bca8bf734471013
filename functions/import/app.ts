import type { AuditedCall } from '../../shared/audit/audit.ts';
import { type Caller, checkOrganisations } from '../../shared/auth/authorise.ts';
import { requireOwner, watchAuthorisation } from '../../shared/auth/requireOwner.ts';
import { parseDuration } from '../../shared/duration.ts';
import { tooManyCalls } from '../../shared/errors/httpErrors.ts';
import type { Route } from '../../shared/http/app.ts';
import type { BodyBudget } from '../../shared/http/bodyStorage.ts';
import { ConcurrencyLimit } from '../../shared/http/concurrency.ts';
import { callSignal } from '../../shared/http/deadline.ts';
import { expectBody } from '../../shared/http/exchange.ts';
import { receiveBody } from '../../shared/http/requestBody.ts';
import { type Store, storeForCall } from '../../shared/store/store.ts';
import { objectLocation } from '../../shared/wire/requestMessage.ts';
import type { Ports } from '../ports.ts';
import { importFacts } from './auditFacts.ts';
import { type ImportResponse, importEndpoint } from './contract.ts';
import { type InspectedFile, importOrganisations, uniqueStamp } from './operation.ts';
import { acceptsEvents, eventResponse } from './results/eventResponse.ts';
import { fittedResponse } from './results/fittedResponse.ts';
import { ProgressEvents } from './results/progressEvents.ts';
import { importWithReport, type WholeReport } from './results/wholeReport.ts';
import { findSource, readEnvelope } from './source/envelope.ts';

const ADVICE_IF_LARGER = 'upload the file to a bucket and set data_orgsv1_gcs';

/** Returns the route of `POST /admin/v1/import` (specification 4.3). */
export function routes(ports: Ports): readonly Route[] {
  const { store, now } = ports;
  const concurrency = new ConcurrencyLimit(ports.limits.imports, (limit) => tooManyCalls('imports', limit));
  return [
    {
      ...importEndpoint,
      handler: async (context) => {
        const audited = ports.audit.call('import', context.get('origin'));
        const authorise = (called: Store) =>
          requireOwner(called, context.req.header('authorization'), 'import', now(), audited.identify);
        const request = context.req.raw;
        const requestId = context.get('requestId');
        const run = (call: Pick<ImportCall, 'signal' | 'events'>) =>
          audited.run(async () => {
            await authorise(store);
            expectBody(request);
            concurrency.check();
            const bodies = context.get('bodies');
            return runImport({ ...call, ports, authorise, concurrency, bodies, audited }, request);
          });
        const maxBytes = ports.limits.responseBytes;
        if (acceptsEvents(context)) {
          const left = new AbortController();
          const events = new ProgressEvents();
          const running = run({ signal: AbortSignal.any([request.signal, left.signal]), events });
          return await eventResponse(running, {
            events,
            requestId,
            trace: context.get('origin').trace,
            maxBytes,
            leave: () => left.abort(),
          });
        }
        const response = await run({ signal: request.signal });
        return new Response(fittedResponse(response, maxBytes), {
          headers: { 'content-type': 'application/json' },
        });
      },
    },
  ];
}

/** What an import needs beside its request. */
interface ImportCall {
  readonly ports: Ports;
  /** Returns the caller, and throws when it is no longer authorised. */
  readonly authorise: (store: Store) => Promise<Caller>;
  readonly concurrency: ConcurrencyLimit;
  readonly bodies: BodyBudget;
  readonly audited: AuditedCall;
  /** Aborts when the client disconnects. */
  readonly signal: AbortSignal;
  /** Takes the import's progress, if the client wants it. */
  readonly events?: ProgressEvents;
}

async function runImport(
  { ports, authorise, concurrency, bodies, audited, signal, events }: ImportCall,
  request: Request,
): Promise<ImportResponse> {
  using call = callSignal(signal, ports.limits.timeoutMs);
  const called = storeForCall(ports.store, { signal: call.signal });
  using _watch = watchAuthorisation(() => authorise(called), call.end);
  const body = await receiveBody(request, {
    maxBytes: ports.limits.requestBytes,
    adviceIfLarger: ADVICE_IF_LARGER,
    budget: bodies,
    signal: call.signal,
  });
  try {
    // The body may have taken its time.
    const caller = await authorise(called);
    using _place = concurrency.enter();
    const envelope = await readEnvelope(body.open());
    const { timeout, withKeys, onConflict, dryRun, reportGcs } = envelope.request;
    const { orgIds, excludedOrgIds, newOrgsOnly, ids } = envelope.request;
    checkOrganisations(caller.restriction, orgIds);
    if (timeout !== undefined) call.limit(parseDuration(timeout, ports.limits.timeoutMs));
    const report = reportGcs && objectLocation(reportGcs, 'report_gcs');
    const source = await findSource(envelope, body, ports.objectStorage, call.signal);
    const { passwordHashing, limits } = ports;
    const selection = { orgIds, excludedOrgIds, newOrgsOnly };
    const reported = { ids, ignored: envelope.ignored };
    const onInspected = async (file: InspectedFile) => {
      await audited.begin(importFacts(envelope.request, source, file), () => ({ counts: file.totals() }));
      events?.begin(file.progress);
    };
    const onPhase = () => events?.enterPhase();
    const options = {
      ...selection,
      ...reported,
      withKeys,
      onConflict,
      dryRun,
      caller,
      passwordHashing,
      limits,
      onInspected,
      onPhase,
    };
    const store = storeForCall(ports.store, { signal: call.signal, isBulk: true });
    const run = (whole?: WholeReport) =>
      importOrganisations(
        store,
        source,
        whole === undefined ? options : { ...options, whole },
        uniqueStamp(ports.now()),
        call.signal,
      );
    return report === undefined ? await run() : await importWithReport(ports.objectStorage, report, run, call.signal);
  } finally {
    await body.close();
  }
}
