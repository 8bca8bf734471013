import { randomBytes } from 'node:crypto';
import type { Context } from 'hono';
import { recordedObject } from '../shared/audit/auditEvent.ts';
import type { Caller } from '../shared/auth/authorise.ts';
import { requireOwner } from '../shared/auth/requireOwner.ts';
import { invalidRequest } from '../shared/errors/errors.ts';
import { transferForeign, transferNotFound } from '../shared/errors/storageErrors.ts';
import type { Route } from '../shared/http/app.ts';
import { callSignal } from '../shared/http/deadline.ts';
import type { HttpEnv } from '../shared/http/nodeResponse.ts';
import { jsonResponse } from '../shared/http/responses.ts';
import type { TransferFacts, TransferKind, TransferObject, Transfers } from '../shared/objectStorage/transfers.ts';
import type { Endpoint } from '../shared/openapi/endpoint.ts';
import { describeInstance, type InstanceDescription } from '../shared/store/instance.ts';
import { transferId } from '../shared/wire/requestMessage.ts';
import type { Ports } from './ports.ts';

const ID_BYTES = 16;

/** Returns an id for an object in the bucket for transfers, which no other caller can guess. */
export function newTransferId(): string {
  return randomBytes(ID_BYTES).toString('base64url');
}

/** Returns the facts by which a later call recognises its own objects in the bucket for transfers. */
export function transferFacts({ instanceId = '' }: InstanceDescription, { userId = '' }: Caller): TransferFacts {
  return { instanceId, userId };
}

const NO_BUCKET = 'the instance has no bucket for transfers';

const missing: Readonly<Record<TransferKind, string>> = {
  exports: 'the object was deleted or has expired',
  imports: 'the upload is unfinished, was deleted or has expired; finish the upload, or open another upload',
};

/**
 * Finds an object in the bucket for transfers. The object must be complete, and the same caller must have created it.
 * @throws IdentityError NOT_FOUND for an unfinished, expired or deleted object; PERMISSION_DENIED for an object of
 * another caller or instance
 */
export async function findOwn(
  transfers: Transfers | undefined,
  kind: TransferKind,
  id: string,
  { instanceId, userId }: TransferFacts,
  signal: AbortSignal,
): Promise<TransferObject> {
  const name = `${kind}/${id}`;
  const object = await transfers?.find(kind, id, signal);
  if (object === undefined)
    throw transferNotFound({ name, problem: transfers === undefined ? NO_BUCKET : missing[kind] });
  if (object.facts.instanceId !== instanceId) throw transferForeign({ name, owner: 'instance' });
  if (object.facts.userId !== userId) throw transferForeign({ name, owner: 'caller' });
  return object;
}

interface Deletion {
  readonly kind: TransferKind;
  readonly parameter: string;
  readonly operation: 'export' | 'import';
}

export function deletionRoute(ports: Ports, endpoint: Endpoint, { kind, parameter, operation }: Deletion): Route {
  const { transfers, limits } = ports;
  return {
    ...endpoint,
    parameter,
    handler(context) {
      const audited = ports.audit.call(`${operation}-deletion`, context.get('origin'));
      return audited.run(async () => {
        using call = callSignal(context.req.raw.signal, limits.timeoutMs, context.env?.shutdown);
        const { signal } = call;
        const store = ports.store.forCall({ signal });
        const authorization = context.req.header('authorization');
        const caller = await requireOwner({ ...ports, store }, authorization, operation, audited.identify);
        const id = readId(context, parameter);
        const facts = transferFacts(await describeInstance(store), caller);
        const object = await findOwn(transfers, kind, id, facts, signal);
        await audited.begin({ object: recordedObject(object) });
        await transfers?.delete(kind, id, object.generation, signal);
        return jsonResponse({});
      });
    },
  };
}

function readId(context: Context<HttpEnv>, parameter: string): string {
  const { [parameter]: values = [] } = context.req.queries();
  if (values.length > 1)
    throw invalidRequest([{ field: parameter, description: `repeated ${values.length} times: specify it once` }]);
  const { data, error } = transferId.safeParse(values[0]);
  if (data !== undefined) return data;
  throw invalidRequest([{ field: parameter, description: error?.issues[0]?.message ?? '' }]);
}
