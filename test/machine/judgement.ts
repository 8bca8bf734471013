import { recordSection } from '../../shared/organisation/allSections.ts';
import type { RecordIssue, Reference } from '../../shared/organisation/relations.ts';
import { type ModelRecord, placeOf, type Rejection, targetsOf, textAt, textsAt } from './kinds.ts';
import type { Model } from './model.ts';
import { comparedContent } from './modelContent.ts';

/**
 * The reasons for which a record cannot be imported, whatever is stored under its id (zitadel 5.7), or undefined.
 * @param leftOut the ids of the project grants that the import does not carry
 */
export function rejectionOf(record: ModelRecord, model: Model, leftOut: ReadonlySet<string>): Rejection | undefined {
  const unfit = checks[record.section]?.(record);
  if (unfit !== undefined) return unfit;
  if (record.parent !== undefined && !isStoredAsInFile(record.parent, model)) return 'notCarried';
  for (const reference of recordSection(record.section).references ?? []) {
    for (const key of targetsOf(record, reference)) {
      const isLeftOut = reference.collection === 'projectGrants' && leftOut.has(key.join());
      if (isLeftOut && model.find(reference.collection, ...key) === undefined) return 'notCarried';
      const rejection = judgeTarget(record, reference, key, model);
      if (rejection !== undefined) return rejection;
    }
  }
  return undefined;
}

function judgeTarget(record: ModelRecord, reference: Reference, key: readonly string[], model: Model) {
  const target = model.find(reference.collection, ...key);
  if (target === undefined)
    return reference.keptIfMissing !== undefined && key.at(-1) !== '' ? undefined : reference.missing;
  const isOwn = target.orgId === record.orgId;
  if (isOwn) return reference.ifOwn === undefined ? targetIssue(record, target, model) : 'notCarried';
  if (reference.ifForeign === 'notCarried') return 'notCarried';
  return isPermitted(record, target, model)
    ? targetIssue(record, target, model)
    : (reference.ifForeign ?? targetIssue(record, target, model));
}

/** Whether a project grant lets an organisation refer to another organisation's record. */
function isPermitted(record: ModelRecord, target: ModelRecord, model: Model): boolean {
  if (record.section === 'userGrants' && target.section === 'projects')
    return grantTo(model, textAt(target, 'projectId'), record.orgId) !== undefined;
  return record.section === 'projectGrantMembers' && textAt(target, 'projectGrant.grantedOrgId') === record.orgId;
}

const roleMissing: RecordIssue = { id: 'COMMAND-mm9F4', key: 'Errors.Project.Role.NotFound' };
const grantMissing: RecordIssue = { id: 'COMMAND-4m9ff', key: 'Errors.Project.Grant.NotFound' };

/** The issue of a record whose target exists, but is not suitable. */
function targetIssue(record: ModelRecord, target: ModelRecord, model: Model): RecordIssue | undefined {
  if (record.section === 'appKeys' && !textAt(target, 'app.authMethodType').endsWith('_PRIVATE_KEY_JWT'))
    return { id: 'COMMAND-Dff54', key: 'Errors.Project.App.AuthMethodNoPrivateKeyJWT' };
  if (target.section !== 'projectGrants') return undefined;
  const isOfProject = textAt(target, 'projectGrant.projectId') === textAt(record, 'projectId');
  if (record.section === 'projectGrantMembers')
    return isOfProject ? undefined : { id: 'PROJECT-D8JxR', key: 'Errors.Project.Grant.NotFound' };
  if (!isOfProject || textAt(target, 'projectGrant.grantedOrgId') !== record.orgId)
    // No project grant has roles for the organisation that owns the project.
    return model.find('projects', textAt(record, 'projectId'))?.orgId === record.orgId ? roleMissing : grantMissing;
  const granted = textsAt(target, 'projectGrant.roleKeys[]');
  const areGranted = textsAt(record, 'roleKeys[]').every((role) => granted.includes(role));
  return areGranted ? undefined : roleMissing;
}

function isStoredAsInFile(parent: ModelRecord, model: Model): boolean {
  const stored = model.records.get(placeOf(parent));
  if (stored?.section !== parent.section || stored.orgId !== parent.orgId) return false;
  const { state = stored.json.state } = parent.json;
  const bare = { secrets: {}, factor: undefined };
  return (
    comparedContent({ ...parent, ...bare, json: { ...parent.json, state } }, model) ===
    comparedContent({ ...stored, ...bare }, model)
  );
}

/** The prefixes of the roles that members of a section may have. */
const rolePrefixes: Readonly<Record<string, string>> = {
  orgMembers: 'ORG_',
  projectMembers: 'PROJECT_',
  projectGrantMembers: 'PROJECT_GRANT_',
};

/** Returns a member without the invalid roles, if it has valid roles too. */
export function withValidRoles(record: ModelRecord): ModelRecord {
  const prefix = rolePrefixes[record.section];
  if (prefix === undefined) return record;
  const kept = textsAt(record, 'roles[]').filter((role) => role.startsWith(prefix));
  return kept.length === 0 ? record : { ...record, json: { ...record.json, roles: kept } };
}

/** @param none the issue of a member without a role */
const ofMembers = (none: RecordIssue, invalid: RecordIssue) => (record: ModelRecord) => {
  const roles = textsAt(record, 'roles[]');
  if (roles.length === 0) return none;
  return roles.every((role) => role.startsWith(rolePrefixes[record.section] ?? '')) ? undefined : invalid;
};
const ofKeys = (record: ModelRecord): RecordIssue | undefined =>
  textAt(record, 'expirationDate').startsWith('2001')
    ? { id: 'DOMAIN-dv3t5', key: 'Errors.AuthNKey.ExpireBeforeNow' }
    : undefined;
const isPem = (base64: string) => Buffer.from(base64, 'base64').toString().startsWith('-----BEGIN');
/** A text in a language has nothing to import if it is empty. */
const ofTexts = (record: ModelRecord) => (Object.keys(record.json).length > 1 ? undefined : 'notCarried');
const texts =
  'loginTexts initMessages passwordResetMessages verifyEmailMessages verifyPhoneMessages domainClaimedMessages passwordlessRegistrationMessages verifySmsOtpMessages verifyEmailOtpMessages inviteUserMessages';

/** The rules of single records, of sections that have any. */
const checks: Readonly<Record<string, (record: ModelRecord) => Rejection | undefined>> = {
  orgMembers: ofMembers(
    { id: 'ORG-4Mlfs', key: 'Errors.Invalid.Argument' },
    { id: 'Org-4N8es', key: 'Errors.Org.MemberInvalid' },
  ),
  projectMembers: ofMembers(
    { id: 'PROJECT-W8m4l', key: 'Errors.Project.Member.Invalid' },
    { id: 'PROJECT-3m9ds', key: 'Errors.Project.Member.Invalid' },
  ),
  projectGrantMembers: ofMembers(
    { id: 'PROJECT-8fi7G', key: 'Errors.Project.Grant.Member.Invalid' },
    { id: 'PROJECT-m9gKK', key: 'Errors.Project.Grant.Member.Invalid' },
  ),
  appKeys: ofKeys,
  machineKeys: (record) =>
    isPem(textAt(record, 'publicKey'))
      ? ofKeys(record)
      : { id: 'COMMAND-5F3h1', key: 'Errors.User.Machine.Key.Invalid' },
  triggerActions: (record) => {
    const actions = textsAt(record, 'actionIds[]');
    if (!['1', '2', '3', '4'].includes(textAt(record, 'flowType')))
      return { id: 'COMMAND-Dfhj5', key: 'Errors.Flow.FlowTypeMissing' };
    if (textAt(record, 'flowType') === '2' && textAt(record, 'triggerType') !== '4')
      return { id: 'COMMAND-Dfgh6', key: 'Errors.Flow.WrongTriggerType' };
    return actions.length === 0 ? { id: 'COMMAND-Nfh52', key: 'Errors.Flow.NoChanges' } : undefined;
  },
  ...Object.fromEntries(texts.split(' ').map((section) => [section, ofTexts])),
};

/** Returns the project grant of a project to an organisation. */
export function grantTo(model: Model, project: string, orgId: string): ModelRecord | undefined {
  return model
    .ofSection('projectGrants')
    .find(
      (grant) =>
        textAt(grant, 'projectGrant.projectId') === project && textAt(grant, 'projectGrant.grantedOrgId') === orgId,
    );
}
