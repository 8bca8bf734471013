import { Audit } from '../../../shared/audit/audit.ts';
import type { AuditEvent } from '../../../shared/audit/auditEvent.ts';

/** A trail in memory, and the events that it has received. */
export interface MemoryTrail {
  readonly audit: Audit;
  readonly events: AuditEvent[];
}

/** Makes a trail in memory. `append` may fail, or delay an event. */
export function memoryTrail(append: (event: AuditEvent) => Promise<void> = async () => {}): MemoryTrail {
  const events: AuditEvent[] = [];
  const trail = {
    append: async (event: AuditEvent) => {
      await append(event);
      events.push(event);
    },
    close: async () => {},
  };
  return { audit: new Audit(trail), events };
}
