import { userInfo } from 'node:os';
import { exportFacts, progressFacts } from '../../functions/export/auditFacts.ts';
import type { OrganisationExport } from '../../functions/export/operation.ts';
import type { Audit } from '../../shared/audit/audit.ts';
import { cancelled } from '../../shared/errors/httpErrors.ts';
import type { ObjectLocation } from '../../shared/objectStorage/objectStorage.ts';
import type { ExportOptions } from './place.ts';

/** Returns the account of the operating system, which takes the place of a token in the audit trail. */
export function account() {
  return { account: userInfo().username };
}

/**
 * Yields an export's bytes, and puts the export on record.
 * @param object the object to which the bytes are written, if any
 */
export async function* auditedExport(
  audit: Audit,
  exported: OrganisationExport,
  options: ExportOptions,
  object?: ObjectLocation,
): AsyncGenerator<Uint8Array> {
  const audited = audit.call('export', {});
  const facts = { ...exportFacts({ ...options, responseOutput: object === undefined }, object), ...account() };
  await audited.begin(facts, (isComplete) => progressFacts({ export: exported, object }, isComplete));
  try {
    yield* exported.bytes;
    await audited.end();
  } catch (error) {
    await audited.end(error);
    throw error;
  } finally {
    // A reader that stops early has not got the export.
    await audited.end(cancelled());
  }
}
