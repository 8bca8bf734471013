import type { JsonRecord } from './jsonRecord.ts';
import type { RecordFault } from './section.ts';

/** The triggers of each flow (contract 2.3): external and internal authentication, complement token and SAML response. */
const triggersOf: ReadonlyMap<unknown, readonly string[]> = new Map([
  ['1', ['1', '2', '3']],
  ['2', ['4', '5']],
  ['3', ['1', '2', '3']],
  ['4', ['6']],
]);
const triggers: ReadonlySet<unknown> = new Set([...triggersOf.values()].flat());

/** A trigger action names a flow and a trigger of that flow. */
export function checkTriggerAction({ flowType, triggerType }: JsonRecord): RecordFault | undefined {
  const fitting = triggersOf.get(flowType);
  if (fitting === undefined || !triggers.has(triggerType)) {
    return { id: 'COMMAND-Dfhj5', key: 'Errors.Flow.FlowTypeMissing' };
  }
  const fits = fitting.some((trigger) => trigger === triggerType);
  return fits ? undefined : { id: 'COMMAND-Dfgh6', key: 'Errors.Flow.WrongTriggerType' };
}

/** A member of an organisation holds roles of organisations only. */
export function checkOrganisationMember({ roles }: JsonRecord): RecordFault | undefined {
  const held: readonly unknown[] = Array.isArray(roles) ? roles : [];
  const fits = held.every((role) => typeof role === 'string' && role.startsWith('ORG_'));
  return fits ? undefined : { id: 'Org-4N8es', key: 'Errors.Org.MemberInvalid' };
}
