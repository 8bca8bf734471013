import { type AuditFacts, organisationFacts, recordedObject } from '../../shared/audit/auditEvent.ts';
import type { ObjectLocation } from '../../shared/objectStorage/objectStorage.ts';
import { setFlags } from '../../shared/wire/requestMessage.ts';
import type { ImportRequest } from './contract.ts';
import type { InspectedFile } from './operation.ts';
import type { FoundSource } from './source/envelope.ts';

/** What an import's first event says of its request. */
interface RecordedRequest extends Pick<ImportRequest, 'withKeys' | 'dryRun' | 'newOrgsOnly' | 'onConflict'> {
  readonly report?: ObjectLocation | undefined;
}

/** Returns the facts of an import's first event. */
export function importFacts(
  { withKeys, dryRun, newOrgsOnly, onConflict, report }: RecordedRequest,
  { location }: FoundSource,
  { digest, orgIds }: InspectedFile,
): AuditFacts {
  return {
    ...organisationFacts(orgIds),
    flags: [...setFlags({ withKeys, dryRun, newOrgsOnly }), `on_conflict=${onConflict}`],
    digest,
    object: recordedObject(location),
    report: recordedObject(report),
  };
}
