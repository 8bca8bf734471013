import { placeNotKnown } from '../../shared/errors/placeErrors.ts';
import { callInstance } from './httpCall.ts';
import { type CalledInstance, responseError } from './instanceErrors.ts';
import { clockAhead, type PlaceFacts } from './placeFacts.ts';
import { recognise } from './recognise.ts';

/** An instance with the token for it. */
export interface InstanceSettings extends CalledInstance {
  readonly token: string;
}

/** The operations of the interface that move organisations. */
export type Operation = 'export' | 'import';

/** What no export of this service holds (specification 8.4). */
export const ownLosses: readonly string[] = [
  'the policies, members, identity providers and factors of the instance',
  'passkeys and U2F factors, and personal access tokens',
  'sessions: each person logs in once after the migration',
];

/** Asks an instance of this service about itself and the token. */
export async function readFacts(settings: InstanceSettings, signal: AbortSignal): Promise<PlaceFacts> {
  const found = await recognise(settings.origin, signal);
  if (found.kind !== 'ours') throw placeNotKnown(settings.origin, 'it has changed since it was recognised');
  return {
    service: 'identity',
    version: found.version,
    // The interface tells neither.
    instance: undefined,
    defaultOrgId: undefined,
    domains: [],
    caller: undefined,
    mayExport: await isPermitted(settings, 'export', signal),
    mayImport: await isPermitted(settings, 'import', signal),
    clockAheadMs: clockAhead(found.time),
    limits: [
      'a request may have 1 GB where the target is self-hosted, and 32 MB in Cloud Functions: above, import from a bucket',
    ],
    exportLosses: ownLosses,
    importChanges: [],
  };
}

async function isPermitted(settings: InstanceSettings, operation: Operation, signal: AbortSignal): Promise<boolean> {
  const denial = await findDenial(settings, operation, signal);
  if (denial !== undefined && denial.code !== 'PERMISSION_DENIED') throw denial;
  return denial === undefined;
}

/**
 * Finds out whether a token permits an operation, by a request without content: only a caller with the permission learns
 * that it is invalid, and nothing happens.
 * @returns the error of a denied call
 */
export async function findDenial(settings: InstanceSettings, operation: Operation, signal: AbortSignal) {
  const { origin, token } = settings;
  async function* body() {
    yield Buffer.from('{}');
  }
  using response = await callInstance(
    origin,
    { method: 'POST', path: `/admin/v1/${operation}`, token, body: body() },
    signal,
  );
  return response.status === 400 ? undefined : responseError(settings, response);
}
