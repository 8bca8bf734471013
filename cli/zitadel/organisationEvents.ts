// Reads the organisations of ZITADEL from events, because ZITADEL's searches do not return deleted organisations.

import type { ListedOrganisation } from '../exports/placeInterfaces.ts';
import type { ZitadelConnection } from './zitadelConnection.ts';
import { type EventTime, readEvents, type ZitadelEvent } from './zitadelEvents.ts';

export interface OrganisationHistory extends ListedOrganisation {
  /**
   * The id of the user who created the organisation. If it was deleted and created again, the id of the user of the
   * last creation.
   */
  readonly createdBy: string;
  /** The time of the last deletion. Undefined if the organisation was never deleted. */
  readonly deletedAt: EventTime | undefined;
  /**
   * True if the organisation's own domain policy makes login names unique only within the organisation. False if it
   * makes them unique within the whole instance. Undefined if the organisation has no domain policy of its own.
   */
  readonly loginNamesByDomain: boolean | undefined;
}

/**
 * The types of events about domain policies begin with one of these texts. Old instances also have events with the
 * second text.
 */
const POLICIES = ['org.policy.domain', 'org.policy.org.iam'];
const policyTypes = POLICIES.flatMap((policy) => ['added', 'changed', 'removed'].map((end) => `${policy}.${end}`));

/**
 * Reads all organisations, including deleted organisations. The keys of the result are the ids of the organisations.
 */
export async function readOrganisations(
  connection: ZitadelConnection,
): Promise<ReadonlyMap<string, OrganisationHistory>> {
  const organisations = new Map<string, OrganisationHistory>();
  const query = { aggregateTypes: ['org'], eventTypes: ['org.added', 'org.changed', 'org.removed', ...policyTypes] };
  for await (const page of readEvents(connection, query))
    for (const { aggregateId: orgId, type, payload, editorId, createdAt } of page) {
      const history = organisations.get(orgId) ?? {
        orgId,
        name: orgId,
        createdBy: editorId,
        isDeleted: false,
        deletedAt: undefined,
        loginNamesByDomain: undefined,
      };
      const name = typeof payload.name === 'string' ? payload.name : history.name;
      const isRemoval = type === 'org.removed';
      organisations.set(orgId, {
        ...history,
        name,
        createdBy: type === 'org.added' ? editorId : history.createdBy,
        isDeleted: isRemoval || (history.isDeleted && type !== 'org.added'),
        deletedAt: isRemoval ? createdAt : history.deletedAt,
        loginNamesByDomain: type.endsWith('.removed') ? undefined : scopeAfter(type, payload, history),
      });
    }
  return organisations;
}

/**
 * Returns the value of `loginNamesByDomain` after an event. The event lacks the value if it is false in a new policy,
 * or if a change of the policy keeps it.
 */
function scopeAfter(
  type: string,
  { userLoginMustBeDomain }: ZitadelEvent['payload'],
  { loginNamesByDomain }: OrganisationHistory,
): boolean | undefined {
  if (!policyTypes.includes(type)) return loginNamesByDomain;
  return typeof userLoginMustBeDomain === 'boolean' ? userLoginMustBeDomain : (loginNamesByDomain ?? false);
}
