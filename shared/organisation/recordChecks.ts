import { type JsonRecord, textAt, textsAt } from '../json/jsonObject.ts';
import type { RecordFault } from './section.ts';

/** The triggers of each flow (contract 2.3): external and internal authentication, complement token and SAML response. */
const triggersOf: ReadonlyMap<unknown, readonly string[]> = new Map([
  ['1', ['1', '2', '3']],
  ['2', ['4', '5']],
  ['3', ['1', '2', '3']],
  ['4', ['6']],
]);
const triggers: ReadonlySet<unknown> = new Set([...triggersOf.values()].flat());

/** A trigger action names a flow, a trigger of that flow, and actions: without any it would change nothing. */
export function checkTriggerAction({ flowType, triggerType, actionIds }: JsonRecord): RecordFault | undefined {
  const fitting = triggersOf.get(flowType);
  if (fitting === undefined || !triggers.has(triggerType)) {
    return { id: 'COMMAND-Dfhj5', key: 'Errors.Flow.FlowTypeMissing' };
  }
  const fits = fitting.some((trigger) => trigger === triggerType);
  if (!fits) return { id: 'COMMAND-Dfgh6', key: 'Errors.Flow.WrongTriggerType' };
  return actionIds === undefined ? { id: 'COMMAND-Nfh52', key: 'Errors.Flow.NoChanges' } : undefined;
}

/** A member of an organisation holds roles of organisations only. */
export function checkOrganisationMember({ roles }: JsonRecord): RecordFault | undefined {
  const held: readonly unknown[] = Array.isArray(roles) ? roles : [];
  const fits = held.every((role) => typeof role === 'string' && role.startsWith('ORG_'));
  return fits ? undefined : { id: 'Org-4N8es', key: 'Errors.Org.MemberInvalid' };
}

/** What ZITADEL takes for an e-mail address, which is less than the rule of the field lets through (contract 3.4). */
const label = '[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?';
const emailAddress = new RegExp(`^[\\w.!#$%&'*+/=?^\`{|}~-]+@${label}(?:\\.${label})*$`);

/** A person has an e-mail address of ASCII characters. */
export function checkPerson(record: JsonRecord): RecordFault | undefined {
  const fits = emailAddress.test(textAt(record, 'user.email.email', ''));
  return fits ? undefined : { id: 'EMAIL-599BI', key: 'Errors.User.Email.Invalid' };
}

/** The project grant that a user's grant hangs on is of that project, to the user grant's organisation, of those roles. */
export function checkUsedProjectGrant(grant: JsonRecord, record: JsonRecord, orgId: string): RecordFault | undefined {
  const isOfProject = textAt(grant, 'projectGrant.projectId', orgId) === record.projectId;
  if (!isOfProject || textAt(grant, 'projectGrant.grantedOrgId', orgId) !== orgId) {
    return { id: 'COMMAND-4m9ff', key: 'Errors.Project.Grant.NotFound' };
  }
  const granted = new Set(textsAt(grant, 'projectGrant.roleKeys[]', orgId));
  const fits = textsAt(record, 'roleKeys[]', orgId).every((role) => granted.has(role));
  return fits ? undefined : { id: 'COMMAND-mm9F4', key: 'Errors.Project.Role.NotFound' };
}

/** An application that has keys logs in with them. */
export function checkApplicationOfKey(application: JsonRecord): RecordFault | undefined {
  const fits = textAt(application, 'app.authMethodType', '').endsWith('_PRIVATE_KEY_JWT');
  return fits ? undefined : { id: 'COMMAND-Dff54', key: 'Errors.Project.App.AuthMethodNoPrivateKeyJWT' };
}
