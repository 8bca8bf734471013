import { type JsonObject, textAt, valueAt } from '../../../shared/json/jsonObject.ts';
import { hasStates, keepsOwner, type Release } from './behaviour.ts';
import { userStateEvents } from './closing.ts';
import { type Contents, elements } from './contents.ts';
import { creationEvents } from './importEvents.ts';
import {
  ALREADY,
  firstPhase,
  type ImportRun,
  loginNameScope,
  type Row,
  secondPhase,
  thirdPhase,
} from './importRows.ts';

/** An entry of an import's `errors`. */
interface Fault {
  readonly type: string;
  readonly id: string;
  readonly message: string;
}

/** The end of an import at its timeout. Written records stay. */
export class DeadlineError extends Error {}

/** The texts that ZITADEL writes to the organisation in whose context it handles the request. */
const messageTexts = [
  'initMessages',
  'passwordResetMessages',
  'verifyEmailMessages',
  'domainClaimedMessages',
  'passwordlessRegistrationMessages',
];

/** Imports organisations. Returns the errors, and the organisations that the import reached. */
export function importAll(run: ImportRun, orgs: readonly JsonObject[]): { errors: Fault[]; reached: string[] } {
  const errors: Fault[] = [];
  const reached: JsonObject[] = [];
  for (const org of orgs) {
    const error = createOrganisation(run, org);
    if (error !== undefined) errors.push(error);
    const orgId = textAt(org, 'orgId', '');
    // ZITADEL also tries the content of deleted organisations, and lists these as done.
    if (!run.contents.organisations.has(orgId) && !run.contents.deletedIds.has(orgId)) continue;
    reached.push(org);
    for (const row of firstPhase) errors.push(...importSection(run, org, row));
    importTexts(run, org);
  }
  for (const phase of [secondPhase, thirdPhase])
    for (const org of reached) for (const row of phase) errors.push(...importSection(run, org, row));
  return { errors, reached: reached.map((org) => textAt(org, 'orgId', '')) };
}

function createOrganisation(
  { contents, write, host, callerId, release }: ImportRun,
  org: JsonObject,
): Fault | undefined {
  const id = textAt(org, 'orgId', '');
  const name = textAt(org, 'org.name', '');
  const fault = (message: string) => ({ type: 'org', id, message });
  if (contents.deletedIds.has(id)) return fault(refusalOfDeleted[release]);
  if (contents.organisations.has(id))
    return fault(`ID=${release === '2.71' ? 'ORG-lapo2m' : 'ORG-lapo2n'} Message=Errors.Org.AlreadyExisting`);
  if (name === '') return fault('ID=COMM-deLSk Message=Errors.Org.Invalid');
  const folded = (text: string) => text.trim().toLowerCase();
  if ([...contents.organisations.values()].some((other) => folded(other.name) === folded(name)))
    return fault('ID=V3-DKcYh Message=Errors.Org.AlreadyExists');
  write();
  const state = hasStates(release) ? textAt(org, 'orgState', '') : '';
  contents.create(id, name, state || 'ORG_STATE_ACTIVE');
  const added = { aggregateType: 'org', aggregateId: id, type: 'org.added', payload: { name } };
  const domainName = `${name
    .toLowerCase()
    .replaceAll(' ', '-')
    .replaceAll(/[^a-z0-9-]/g, '')}.${host}`;
  const domain = { orgId: id, domainName, isVerified: true, isPrimary: true };
  const member = { userId: callerId, roles: ['ORG_OWNER'] };
  if (callerId !== undefined) contents.put(id, 'orgMembers', callerId, member);
  contents.put(id, 'domains', domainName, domain);
  const ofMember = callerId === undefined ? [] : creationEvents('orgMembers', member, id);
  const closed = { aggregateType: 'org', aggregateId: id, type: 'org.deactivated' };
  const ofState = state === 'ORG_STATE_INACTIVE' ? [closed] : [];
  contents.append(id, [added, ...ofState, ...creationEvents('domains', domain, id), ...ofMember], callerId);
  return undefined;
}

/** The errors about a deleted organisation. */
const refusalOfDeleted: Readonly<Record<Release, string>> = {
  '2.71': 'ID=ORG-lapo2m Message=Errors.Org.AlreadyExisting',
  '4.0': 'ID=COMMA-Bd2jj Message=Errors.Org.Domain.AlreadyExists',
  '2026-07': `${ALREADY}.Member.AlreadyExists`,
};

function importSection(run: ImportRun, org: JsonObject, row: Row): Fault[] {
  const { section, type, id, key = id, exists, refuses, stored } = row;
  const { contents } = run;
  const orgId = textAt(org, 'orgId', '');
  return elements(org[section]).flatMap((json) => {
    const given = { run, orgId, json };
    const named = (paths: readonly string[]) => paths.map((path) => textAt(json, path, orgId) || 'unset').join('_');
    const fault = (message: string) => ({ type, id: named(id), message });
    const isUser = type === 'human_user' || type === 'machine_user';
    const recordId = named(key);
    // ZITADEL looks up only people in the whole instance.
    const isTaken =
      type === 'human_user'
        ? contents.users.has(recordId) || contents.deletedIds.has(recordId)
        : exists !== '' &&
          (contents.find(placeOf(run, section, json, orgId), section, recordId) !== undefined ||
            wasCreated(contents, section, json, orgId));
    // ZITADEL writes the seed separately, even for an existing person.
    if (isTaken) return [fault(existsIn(run.release, row) ?? exists), ...importSeed(run, orgId, json)];
    if (isUser && run.races?.(recordId) === true) {
      const ofOther = { ...run, races: undefined, callerId: 'other' };
      importSection(ofOther, { orgId, [section]: [json] }, row);
    }
    const refusal = refuses?.(given);
    if (refusal !== undefined) return [fault(refusal)];
    if (run.drops?.({ section }) === true) return importSeed(run, orgId, json);
    run.write();
    const written = stored?.(given) ?? json;
    const owner = ownerAfter(run, section, recordId, placeOf(run, section, json, orgId));
    const stateEvents = isUser ? userStateEvents(written) : [];
    const created = [...creationEvents(section, { ...json, ...written }, orgId), ...stateEvents];
    contents.append(orgId, created, run.callerId);
    // ZITADEL's projections fail for the second record with an id, so that record exists nowhere.
    if (owner === undefined) return [];
    contents.put(owner, section, isUser ? textAt(written, 'userId', '') : recordId, written);
    if (isUser) {
      const userId = textAt(written, 'userId', '');
      contents.users.set(userId, owner);
      contents.takeLoginName(textAt(json, 'user.userName', orgId), loginNameScope(run, orgId), userId);
    }
    putHeldLinks(run, orgId, json);
    const seedFaults = importSeed(run, orgId, json);
    // With the default policy, adding a domain verifies it.
    const isVerifiedTwice = section === 'domains' && json.isVerified === true;
    const domainFault = { ...fault(`${ALREADY}.Org.Domain.AlreadyExists`), type: 'domain_isverified' };
    return [...seedFaults, ...(isVerifiedTwice ? [domainFault] : [])];
  });
}

/** Whether an action or an application was ever created. ZITADEL reports it as existing, even if it was deleted. */
function wasCreated({ log }: Contents, section: string, json: JsonObject, orgId: string): boolean {
  if (!['actions', 'apiApps', 'oidcApps'].includes(section)) return false;
  const [created] = creationEvents(section, json, orgId);
  return log.events.some(
    ({ owner, type, aggregateId, payload }) =>
      owner === orgId &&
      type === created?.type &&
      aggregateId === created.aggregateId &&
      payload.appId === created.payload?.appId,
  );
}

const sharedSections = [
  ['humanUsers', 'machineUsers'],
  ['oidcApps', 'apiApps'],
  ['oidcIdps', 'jwtIdps'],
  ['machineKeys', 'appKeys'],
  ['projects'],
  ['actions'],
  ['projectGrants'],
];

/**
 * Returns the organisation in which a new record appears: undefined if another record has the id. In 2.71, returns the
 * first owner of the aggregate.
 */
function ownerAfter({ contents, release }: ImportRun, section: string, id: string, orgId: string): string | undefined {
  const sections = sharedSections.find((shared) => shared.includes(section)) ?? [];
  if (sections.some((name) => contents.holds(name, id))) return undefined;
  const aggregateType = { humanUsers: 'user', machineUsers: 'user', projects: 'project', actions: 'action' }[section];
  if (!keepsOwner(release) || aggregateType === undefined) return orgId;
  return contents.log.ownerOf(aggregateType, id) ?? orgId;
}

/**
 * Returns the organisation that stores a record. For members of project grants, this is the organisation of the
 * project.
 */
function placeOf({ contents }: ImportRun, section: string, json: JsonObject, orgId: string): string {
  return section === 'projectGrantMembers'
    ? (contents.ownerOfProject(textAt(json, 'projectId', orgId)) ?? orgId)
    : orgId;
}

/** Returns the error about an existing record, in the form of the release. */
function existsIn(release: Release, { section }: Row): string | undefined {
  return release === '2.71' && section === 'projectGrantMembers' ? `${ALREADY}.AlreadyExists` : undefined;
}

/** Adds the TOTP seed of a person, if the record has one. */
function importSeed({ contents, write, callerId }: ImportRun, orgId: string, json: JsonObject): Fault[] {
  const otpCode = valueAt(json, 'user.otpCode');
  const id = textAt(json, 'userId', orgId);
  if (otpCode === undefined) return [];
  const stored = contents.find(orgId, 'humanUsers', id);
  const fault = (message: string) => [{ type: 'human_user_otp', id, message }];
  if (stored === undefined) return fault('ID=COMMAND-uXHNj Message=Errors.User.NotFound');
  if (valueAt(stored, 'user.otpCode') !== undefined)
    return fault('ID=COMMAND-do9se Message=Errors.User.MFA.OTP.AlreadyReady');
  write();
  contents.put(orgId, 'humanUsers', id, { ...stored, user: { ...elements(stored.user)[0], otpCode } });
  const types = ['user.human.mfa.otp.added', 'user.human.mfa.otp.verified'];
  contents.append(
    orgId,
    types.map((type) => ({ aggregateType: 'user', aggregateId: id, type })),
    callerId,
  );
  return [];
}

/** Stores the links of a person as separate links, the form of exports. */
function putHeldLinks({ contents }: ImportRun, orgId: string, json: JsonObject): void {
  const userId = textAt(json, 'userId', '');
  for (const { configId, externalUserId, displayName } of elements(valueAt(json, 'user.idps'))) {
    const link = { userId, idpId: configId, providedUserId: externalUserId, providedUserName: displayName };
    contents.put(orgId, 'userLinks', `${userId}_${String(configId)}`, link);
  }
}

function importTexts({ contents, contextOrgId, write, callerId }: ImportRun, org: JsonObject): void {
  const hasPasswordless = elements(org.passwordlessRegistrationMessages).length > 0;
  for (const section of [...messageTexts, ...(hasPasswordless ? ['inviteUserMessages'] : [])]) {
    for (const json of elements(org[section])) {
      write();
      contents.put(contextOrgId, section, textAt(json, 'language', ''), json);
      contents.append(contextOrgId, creationEvents(section, json, contextOrgId), callerId);
    }
  }
}
