import { type AuditFacts, organisationFacts, recordedObject } from '../../shared/audit/auditEvent.ts';
import { setFlags } from '../../shared/wire/requestMessage.ts';
import type { InspectedFile } from './context.ts';
import type { ImportRequestOptions } from './contract.ts';
import type { FoundSource } from './request/envelope.ts';

/** Returns the facts of an import's first event. It has all flags of the request except `ids`. */
export function importFacts(
  { ids: _, onConflict, ...flags }: ImportRequestOptions,
  { location }: FoundSource,
  { digest, orgIds }: InspectedFile,
): AuditFacts {
  return {
    ...organisationFacts(orgIds),
    ...(flags.dryRun ? { trial: true } : {}),
    flags: [...setFlags(flags), `on_conflict=${onConflict}`],
    digest,
    object: recordedObject(location),
  };
}
