import { type AuditFacts, organisationFacts, recordedObject } from '../../shared/audit/auditEvent.ts';
import { setFlags } from '../../shared/wire/requestMessage.ts';
import type { ImportRequest } from './contract.ts';
import type { InspectedFile } from './operation.ts';
import type { FoundSource } from './request/envelope.ts';

/** What an import's first event says of its request. */
type RecordedRequest = Pick<ImportRequest, 'withKeys' | 'dryRun' | 'newOrgsOnly' | 'onConflict'>;

/** Returns the facts of an import's first event. */
export function importFacts(
  { withKeys, dryRun, newOrgsOnly, onConflict }: RecordedRequest,
  { location }: FoundSource,
  { digest, orgIds }: InspectedFile,
): AuditFacts {
  return {
    ...organisationFacts(orgIds),
    flags: [...setFlags({ withKeys, dryRun, newOrgsOnly }), `on_conflict=${onConflict}`],
    digest,
    object: recordedObject(location),
  };
}
