import type { Writable } from 'node:stream';
import type { StoreLocation } from '../store/openStore.ts';
import { Audit } from './audit.ts';
import { createAuditLog } from './auditLog.ts';

/** The options of an instance's trail. */
interface AuditOptions {
  readonly storeLocation: StoreLocation;
  /**
   * Milliseconds for which a trail beside the database keeps its events; by default forever. Only a serving process has
   * the setting, so that no command deletes what the server is to keep.
   */
  readonly auditRetentionMs?: number;
}

/**
 * Opens the audit trail of an instance: a file beside an embedded database, otherwise log lines.
 * @param stream takes the log lines
 */
export async function openAudit(
  { storeLocation, auditRetentionMs }: AuditOptions,
  stream: Writable = process.stdout,
): Promise<Audit> {
  if (storeLocation.kind === 'firestore') return new Audit(createAuditLog(storeLocation.projectId, stream));
  const { AuditFile } = await import('./file/auditFile.ts');
  return new Audit(new AuditFile(storeLocation.directory, { retentionMs: auditRetentionMs }));
}
