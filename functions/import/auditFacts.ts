import {
  type AuditFacts,
  MAX_RECORDED_CHARACTERS,
  MAX_RECORDED_ORGANISATIONS,
  organisationFacts,
  recordedObject,
} from '../../shared/audit/auditEvent.ts';
import { withoutEmpty } from '../../shared/defined.ts';
import { setFlags } from '../../shared/wire/requestMessage.ts';
import type { InspectedFile } from './context.ts';
import type { Deletion, ImportRequestOptions } from './contract.ts';
import type { FoundSource } from './request/envelope.ts';

export function importFacts(
  { ids: _, onConflict, maxDeleted, replaceChanged, ...flags }: ImportRequestOptions,
  { location }: FoundSource,
  { digest, orgIds }: InspectedFile,
): AuditFacts {
  return {
    ...organisationFacts(orgIds),
    ...withoutEmpty({ trial: flags.dryRun }),
    flags: [
      ...setFlags(flags),
      `on_conflict=${onConflict}`,
      ...(maxDeleted === undefined ? [] : [`max_deleted=${maxDeleted}`]),
      ...replaceChanged
        .slice(0, MAX_RECORDED_ORGANISATIONS)
        .map((orgId) => `replace_changed=${orgId.slice(0, MAX_RECORDED_CHARACTERS)}`),
    ],
    digest,
    object: recordedObject(location),
  };
}

export function deletionFacts({ type, orgId, id, name }: Deletion): AuditFacts {
  const recorded = (text: string) => text.slice(0, MAX_RECORDED_CHARACTERS);
  return {
    target: recorded(id),
    type,
    ...(name === undefined ? {} : { name: recorded(name) }),
    ...organisationFacts(orgId === '' ? [] : [orgId]),
  };
}
