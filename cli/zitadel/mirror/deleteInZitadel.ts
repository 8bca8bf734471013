import { Code } from '@connectrpc/connect';
import { ManagementService } from '@zitadel/proto/zitadel/management_pb.js';
import { tokenForbidden, zitadelCallFailed } from '../../../shared/errors/placeErrors.ts';
import { zitadelSteps } from '../../../shared/organisation/sections/section.ts';
import { hasErrorId } from '../errorIds.ts';
import { recordKinds } from '../recordKinds.ts';
import { rpcClient } from '../rpc.ts';
import type { ZitadelConnection } from '../zitadelConnection.ts';
import type { DoomedRecord } from './doomedRecords.ts';

const DELETED_AT_ONCE = 8;

interface Deleting {
  readonly aggregateOf: (record: DoomedRecord) => string;
  readonly onDeleted: (record: DoomedRecord) => void;
  readonly onRefused: (record: DoomedRecord, message: string) => void;
}

/**
 * Deletes records in the reverse order of imports, so that a record is deleted before the records to which it refers.
 * ZITADEL rejects simultaneous changes of one aggregate, so the records of an aggregate are deleted one after the
 * other. Deleting a user can change other aggregates too, so deletions that ZITADEL refused are repeated one by one.
 */
export async function deleteRecords(
  connection: ZitadelConnection,
  records: readonly DoomedRecord[],
  { aggregateOf, onDeleted, onRefused }: Deleting,
): Promise<void> {
  const byStep = Map.groupBy(records, ({ section: { zitadelStep } }) => zitadelStep);
  for (const step of [...zitadelSteps, 'dropped' as const].toReversed()) {
    const refused: DoomedRecord[] = [];
    const aggregates = Map.groupBy(byStep.get(step) ?? [], aggregateOf).entries();
    const deleteNext = async () => {
      for (const [aggregateId, ofAggregate] of aggregates)
        for (const record of ofAggregate) {
          const message = await deleteRecord(connection, record, aggregateId);
          if (message === undefined) onDeleted(record);
          else refused.push(record);
        }
    };
    await Promise.all(Array.from({ length: DELETED_AT_ONCE }, deleteNext));
    for (const record of refused) {
      const message = await deleteRecord(connection, record, aggregateOf(record));
      if (message === undefined) onDeleted(record);
      else onRefused(record, message);
    }
  }
}

/**
 * Deletes a record. A record that ZITADEL does not have counts as deleted.
 * @returns ZITADEL's message if ZITADEL refuses to delete the record
 */
async function deleteRecord(
  connection: ZitadelConnection,
  { section, json, orgId }: DoomedRecord,
  aggregateId: string,
): Promise<string | undefined> {
  const { remove, absent = [] } = recordKinds[section.name];
  if (remove === 'never') throw new Error(`ZITADEL deletes no record of ${section.name}`);
  try {
    await remove(rpcClient(connection, ManagementService, { orgId }), json, aggregateId);
    return undefined;
  } catch (error) {
    connection.signal.throwIfAborted();
    if (!zitadelCallFailed.is(error) && !tokenForbidden.is(error)) throw error;
    const { status, message = error.text } = error.params;
    return status === Code[Code.NotFound] || hasErrorId(message, absent) ? undefined : message;
  }
}
