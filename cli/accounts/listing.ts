import { INSTANCE_MEMBERS } from '../../shared/accounts/memberships.ts';
import { requireOrganisation } from '../../shared/accounts/userAccounts.ts';
import { parseRoles } from '../../shared/auth/authorise.ts';
import { withoutEmpty } from '../../shared/defined.ts';
import { parseObject, textAt } from '../../shared/json/jsonObject.ts';
import { organisationSection, removedOrganisations } from '../../shared/organisation/allSections.ts';
import { type Factor, factorFields, factorsOf } from '../../shared/organisation/factors.ts';
import { orgMemberSection } from '../../shared/organisation/sections/members.ts';
import { type Section, sectionPartition, sectionPartitions } from '../../shared/organisation/sections/section.ts';
import { humanUserSection, machineUserSection } from '../../shared/organisation/sections/users.ts';
import type { FieldName } from '../../shared/store/documentFields.ts';
import type { Collection, ScanRange, Snapshot, Store, StoredDocument } from '../../shared/store/store.ts';

export interface ListedOrganisation {
  readonly orgId: string;
  readonly name: string;
  /** The organisation's state, by its name in ZITADEL's enum. */
  readonly state: string;
}

export interface ListedUser {
  readonly userId: string;
  readonly orgId: string;
  readonly userName: string;
  readonly kind: 'person' | 'service user';
  /** The user's state, by its name in ZITADEL's enum. */
  readonly state: string;
  /** Absent for service users. */
  readonly email?: string;
  readonly factors: readonly Factor[];
}

export interface ListedMember {
  readonly userId: string;
  /** Absent for roles on the instance. */
  readonly orgId?: string;
  readonly roles: readonly string[];
}

/**
 * Lists the organisations of an instance in the order of their ids. Organisations whose removal was interrupted come
 * last.
 */
export async function* listOrganisations(store: Store): AsyncGenerator<ListedOrganisation> {
  for (const section of [organisationSection, removedOrganisations])
    for await (const { json, state } of readSection(store, section, undefined))
      yield { orgId: textAt(json, 'orgId', ''), name: textAt(json, 'org.name', ''), state };
}

export function userKind(section: Section): ListedUser['kind'] {
  return section === machineUserSection ? 'service user' : 'person';
}

/**
 * Lists people first, then service users.
 * @param orgId the organisation whose users are listed; undefined lists the users of all organisations
 * @param search lists only users whose id, user name or e-mail address contains this text; upper and lower case count
 * as equal
 * @throws IdentityError NOT_FOUND for an unknown organisation
 */
export async function* listUsers(store: Store, orgId: string | undefined, search = ''): AsyncGenerator<ListedUser> {
  if (orgId !== undefined) await requireOrganisation(store, orgId);
  const searched = search.toLowerCase();
  for await (const user of readUsers(store, orgId)) {
    const { userId, userName, email = '' } = user;
    if ([userId, userName, email].some((text) => text.toLowerCase().includes(searched))) yield user;
  }
}

async function* readUsers(store: Store, orgId: string | undefined): AsyncGenerator<ListedUser> {
  for (const section of [humanUserSection, machineUserSection]) {
    for await (const { document, json, state, orgId: owner } of readSection(store, section, orgId)) {
      const at = (path: string) => textAt(json, path, owner);
      const email = at('user.email.email');
      yield {
        userId: at('userId'),
        orgId: owner,
        userName: at('user.userName'),
        kind: userKind(section),
        state,
        ...withoutEmpty({ email }),
        factors: factorsOf(document),
      };
    }
  }
}

/**
 * Lists the members of one organisation, or, if `orgId` is undefined, of the instance and all its organisations.
 * @throws IdentityError NOT_FOUND for an unknown organisation
 */
export async function* listMembers(store: Store, orgId: string | undefined): AsyncGenerator<ListedMember> {
  if (orgId !== undefined) await requireOrganisation(store, orgId);
  else {
    for await (const document of readListed(store, { collection: 'members', partition: INSTANCE_MEMBERS }))
      yield { userId: textAt(parseObject(document.body), 'userId', ''), roles: parseRoles(document) };
  }
  for await (const { document, json, orgId: owner } of readSection(store, orgMemberSection, orgId))
    yield { userId: textAt(json, 'userId', owner), orgId: owner, roles: parseRoles(document) };
}

/** @param only the id of the only organisation to read; undefined reads all organisations */
async function* readSection(
  store: Store,
  section: { readonly collection: Collection; readonly name: string },
  only: string | undefined,
) {
  const { collection } = section;
  const range =
    only === undefined
      ? { collection, partitions: sectionPartitions(section) }
      : { collection, partition: sectionPartition(only, section) };
  for await (const document of readListed(store, range)) {
    const { orgId = '', state = '' } = document;
    yield { document, json: parseObject(document.body), orgId, state };
  }
}

const listedFields: readonly FieldName[] = ['orgId', 'body', 'state', ...Object.values(factorFields)];

async function* readListed(store: Store, range: ScanRange): AsyncGenerator<StoredDocument> {
  await using snapshot: Snapshot = await store.snapshot();
  for await (const documents of snapshot.scan({ ...range, fields: listedFields })) yield* documents;
}
