import type { IssueParams } from '../../errors/issueText.ts';
import { isJsonObject, type JsonObject } from '../../json/jsonObject.ts';
import type { KeyedIssue, RecordIssue } from '../relations.ts';
import { durationOr, numberNamed } from '../valueRules.ts';
import type { Section, ValueRule } from './section.ts';
import { own, taken } from './sharedReferences.ts';

/**
 * This map and the next map contain the numbers of flows and of triggers by name (zitadel 2.3). A file may contain the
 * names instead of the numbers.
 */
const flowIds = new Map([['FLOW_TYPE_EXTERNAL_AUTHENTICATION', '1']]);
const triggerIds = new Map([
  ['TRIGGER_TYPE_POST_AUTHENTICATION', '1'],
  ['TRIGGER_TYPE_PRE_CREATION', '2'],
  ['TRIGGER_TYPE_POST_CREATION', '3'],
]);

const actionsMissing: KeyedIssue = { id: 'COMMAND-dg422', key: 'Errors.Flow.ActionIDsNotExist' };

/** A trigger action assigns a list of actions to one trigger of a flow. */
export const triggerActionSection: Section = {
  name: 'triggerActions',
  collection: 'triggerActions',
  phase: 2,
  zitadelStep: 'flows',
  key: ['$orgId', 'flowType', 'triggerType'],
  zitadel: {
    records: [
      {
        does: 'exports not',
        text: 'no export of ZITADEL contains flows other than external and internal authentication',
        when: (id) => !/^(?:[13]|FLOW_TYPE_EXTERNAL_AUTHENTICATION)_/.test(id),
      },
    ],
    unexported: ['flows other than external and internal authentication'],
  },
  v1: { convert: stringifyNumbers },
  values: { flowType: numberNamed(flowIds), triggerType: numberNamed(triggerIds), actionIds: distinct },
  check: checkTriggerAction,
  references: [own({ collection: 'actions', key: ['actionIds[]'], missing: actionsMissing })],
  error: {
    type: 'trigger_action',
    id: ['flowType', 'triggerType'],
    exists: { id: 'COMMAND-Nfh52', key: 'Errors.Flow.AlreadyExists' },
  },
  success: {
    field: 'triggerActions',
    entry: { flowType: 'flowType', triggerType: 'triggerType', actionIds: 'actionIds' },
  },
};

export const actionSections: readonly Section[] = [
  triggerActionSection,
  {
    name: 'actions',
    inner: 'action',
    collection: 'actions',
    phase: 1,
    zitadelStep: 'actions',
    key: ['actionId'],
    optional: ['action.timeout', 'action.allowedToFail'],
    values: { 'action.timeout': durationOr('20s') },
    unique: [{ type: 'action', parts: ['$orgId', 'action.name'], taken: taken('Errors.Action.AlreadyExists') }],
    error: { type: 'action', id: ['actionId'], exists: { id: 'COMMAND-nau2k', key: 'Errors.Action.AlreadyExisting' } },
    success: { field: 'actionIds', entry: ['actionId'] },
  },
];

/**
 * Maps the number of each flow to the numbers of its triggers (zitadel 2.3). Flows 1 to 4 are external authentication,
 * complement token, internal authentication and SAML response.
 */
const flowTriggers: ReadonlyMap<string, readonly string[]> = new Map([
  ['1', ['1', '2', '3']],
  ['2', ['4', '5']],
  ['3', ['1', '2', '3']],
  ['4', ['6']],
]);

function checkTriggerAction({ flowType, triggerType, actionIds }: JsonObject): RecordIssue | undefined {
  const allowed = typeof flowType === 'string' ? flowTriggers.get(flowType) : undefined;
  if (allowed === undefined) {
    const params = fieldParams('flowType', flowType, flowTriggers.keys());
    return { id: 'COMMAND-Dfhj5', key: 'Errors.Flow.FlowTypeMissing', params };
  }
  const isAllowed = allowed.some((trigger) => trigger === triggerType);
  if (!isAllowed) {
    const params = fieldParams('triggerType', triggerType, allowed);
    return { id: 'COMMAND-Dfgh6', key: 'Errors.Flow.WrongTriggerType', params };
  }
  return Array.isArray(actionIds) ? undefined : { id: 'COMMAND-Nfh52', key: 'Errors.Flow.NoChanges' };
}

function fieldParams(field: string, value: unknown, allowed: Iterable<string>): IssueParams {
  return { field, value: typeof value === 'string' ? value : 'missing', allowed: [...allowed].join(', ') };
}

/** Removes the repetitions from a list of actions, because ZITADEL rejects a trigger that contains an action twice. */
function distinct(value: unknown): ReturnType<ValueRule> {
  if (!Array.isArray(value)) return { value };
  const actions = new Set<unknown>();
  const repeated: string[] = [];
  for (const action of value) {
    if (actions.has(action)) repeated.push(String(action));
    actions.add(action);
  }
  return repeated.length === 0 ? { value } : { value: [...actions], dropped: repeated, isRepeated: true };
}

/** Converts the numbers in a record of a v1 file to texts, as in a v2 file (zitadel 2.1). */
function stringifyNumbers(value: unknown): unknown {
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, part]) => [name, typeof part === 'number' ? String(part) : part]),
  );
}
