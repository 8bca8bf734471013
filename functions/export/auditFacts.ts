import type { AuditedCall } from '../../shared/audit/audit.ts';
import { type AuditFacts, organisationFacts, recordedObject } from '../../shared/audit/auditEvent.ts';
import { withoutEmpty } from '../../shared/defined.ts';
import { cancelled } from '../../shared/errors/httpErrors.ts';
import type { ObjectLocation, WrittenObject } from '../../shared/objectStorage/objectStorage.ts';
import { setFlags } from '../../shared/wire/requestMessage.ts';
import { type ExportRequest, NO_ORGANISATION } from './contract.ts';
import type { OrganisationExport } from './operation.ts';

export interface ExportProgress {
  /**
   * The export in progress. A request for an object and a response runs two exports: first to the object, then to the
   * response.
   */
  export: OrganisationExport | undefined;
  object: ObjectLocation | WrittenObject | undefined;
  /** The object to which the response redirects the client. It is in the instance's bucket for transfers. */
  transfer?: WrittenObject;
}

interface RecordedRequest
  extends Pick<ExportRequest, 'withPasswords' | 'withOtp' | 'withKeys' | 'responseOutput'>,
    Partial<Pick<ExportRequest, 'orgsOnly'>> {
  readonly orgIds: readonly string[];
  readonly excludedOrgIds: readonly string[];
}

export function exportFacts(request: RecordedRequest, location: ObjectLocation | undefined): AuditFacts {
  const { orgIds, excludedOrgIds, withPasswords, withOtp, withKeys, orgsOnly = false, responseOutput } = request;
  const flags = { withPasswords, withOtp, withKeys, orgsOnly, responseOutput };
  return {
    ...organisationFacts(orgIds),
    ...withoutEmpty({ trial: orgIds.length === 1 && orgIds[0] === NO_ORGANISATION }),
    flags: [...setFlags(flags), ...(excludedOrgIds.length === 0 ? [] : [`excluded_org_ids=${excludedOrgIds.length}`])],
    object: recordedObject(location),
  };
}

export function progressFacts(progress: ExportProgress, isComplete: boolean): AuditFacts {
  if (progress.export === undefined) return {};
  const { counts, digest } = progress.export.manifest;
  const { object, transfer } = progress;
  const objects = { object: recordedObject(object), transfer: recordedObject(transfer) };
  return { counts, ...(isComplete ? { digest } : {}), ...objects };
}

/** Yields an export's bytes. Then records whether the export completed, failed, or was not read to the end. */
export async function* recordEnd(
  bytes: AsyncIterable<Uint8Array>,
  audited: Pick<AuditedCall, 'end'>,
): AsyncGenerator<Uint8Array> {
  try {
    yield* bytes;
    await audited.end();
  } catch (error) {
    await audited.end(error);
    throw error;
  } finally {
    await audited.end(cancelled());
  }
}
