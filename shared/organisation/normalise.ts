import { hash } from 'node:crypto';
import { isRecord, type JsonRecord, textAt, valueAt } from '../json/jsonObject.ts';

/** What a section's records are brought to, so that equal records have equal digests; changes `json`. */
type Normaliser = (json: JsonRecord, orgId: string) => void;

/** Names and numbers of flows and triggers that mean the same (contract 2.3). */
const flowIds = new Map([['FLOW_TYPE_EXTERNAL_AUTHENTICATION', '1']]);
const triggerIds = new Map([
  ['TRIGGER_TYPE_POST_AUTHENTICATION', '1'],
  ['TRIGGER_TYPE_PRE_CREATION', '2'],
  ['TRIGGER_TYPE_POST_CREATION', '3'],
]);

const normalisers: Readonly<Record<string, Normaliser>> = {
  org: (json) => {
    json.orgState ??= 'ORG_STATE_ACTIVE';
  },
  domainPolicy: nameOrganisation,
  domains: nameOrganisation,
  humanUsers: (json, orgId) => {
    reorder(json, { userId: json.userId ?? derivedUserId(json, orgId), user: json.user, state: stateOfPerson(json) });
  },
  machineUsers: (json, orgId) => {
    const user = isRecord(json.user) ? json.user : {};
    const userId = json.userId ?? user.userId ?? derivedUserId(json, orgId);
    delete user.userId;
    reorder(json, { userId, user, state: stateOf(json) });
  },
  triggerActions: (json, orgId) => {
    const flow = textAt(json, 'flowType', orgId);
    const trigger = textAt(json, 'triggerType', orgId);
    if (flow !== '') json.flowType = flowIds.get(flow) ?? flow;
    if (trigger !== '') json.triggerType = triggerIds.get(trigger) ?? trigger;
  },
};

/** Brings a record to the one form in which it is stored: what may be left out is filled in. */
export function normalise(section: string, json: JsonRecord, orgId: string): void {
  normalisers[section]?.(json, orgId);
}

/** Turns what only a v1 document holds into what the v2 schema reads: numbers of a trigger action's enums (contract 5.9). */
export function prepare(section: string, value: unknown): unknown {
  if (section !== 'triggerActions' || !isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, part]) => [name, typeof part === 'number' ? String(part) : part]),
  );
}

/** The organisation named inside a record is the one that it stands in. */
function nameOrganisation(json: JsonRecord, orgId: string): void {
  const rest = { ...json };
  delete rest.orgId;
  reorder(json, { orgId, ...rest });
}

function stateOf(json: JsonRecord): unknown {
  return json.state ?? 'USER_STATE_ACTIVE';
}

/**
 * Files of older versions have no states. ZITADEL takes a person for new whose e-mail address is not verified, unless an
 * identity provider vouches for them (contract 5.5). It also does so where there is no password: here a file without
 * passwords does not say that its people have none.
 */
function stateOfPerson(json: JsonRecord): unknown {
  const isKnown = valueAt(json, 'user.email.isEmailVerified') === true || valueAt(json, 'user.idps') !== undefined;
  return json.state ?? (isKnown ? 'USER_STATE_ACTIVE' : 'USER_STATE_INITIAL');
}

/** Gives `json` the fields of `ordered`, in that order. */
function reorder(json: JsonRecord, ordered: JsonRecord): void {
  const names = Object.keys(ordered);
  // Most have the order already, and an object out of which fields are deleted is slow from then on.
  const inOrder = Object.keys(json).every((name, index) => name === names[index]);
  if (!inOrder) for (const name of Object.keys(json)) delete json[name];
  for (const name of names) if (ordered[name] !== undefined) json[name] = ordered[name];
}

/** An id for a user that comes without one: always the same, so that the same file can be sent again. */
function derivedUserId(json: JsonRecord, orgId: string): string {
  const digest = hash('sha256', JSON.stringify([orgId, textAt(json, 'user.userName', orgId)]), 'hex');
  return String(BigInt(`0x${digest.slice(0, 15)}`))
    .padStart(18, '1')
    .slice(0, 18);
}
