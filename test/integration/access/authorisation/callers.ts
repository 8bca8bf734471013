import { createMember } from '../../../../shared/accounts/members.ts';
import { createPersonalAccessToken, revokeTokens } from '../../../../shared/accounts/personalAccessTokens.ts';
import { organisationKey, userKey } from '../../../../shared/auth/authorise.ts';
import { generateToken, tokenDigest } from '../../../../shared/auth/token.ts';
import type { Store, Write } from '../../../../shared/store/store.ts';
import { organisation, person } from '../../../support/fixtures/organisations.ts';
import type { TestInstance } from '../../../support/instances/testInstance.ts';
import { type Holding, holdings, type TokenKind, tokenKinds } from './dimensions.ts';

/** A row of the matrix: a caller with its token. */
export interface CallerRow {
  readonly kind: TokenKind;
  readonly holding: Holding;
  readonly userId: string;
  /** The caller's own organisation. */
  readonly orgId: string;
  readonly token: string;
}

const DAY_MS = 86_400_000;
const COMMIT_WRITES = 200;

type Caller = Omit<CallerRow, 'token'>;

const callers: readonly Caller[] = tokenKinds.flatMap((kind, position) =>
  holdings.map((holding, index) => ({
    kind,
    holding,
    userId: `caller-${position}-${index}`,
    orgId: kind.organisationState ?? 'own',
  })),
);

const callerOrganisations = [...new Set(callers.map(({ orgId }) => orgId))];

/** The users whom the callers of one lane remove the factor of: one in each organisation. */
export function usersOfLane(lane: number) {
  return { own: `own-${lane}`, other: `other-${lane}`, default: `default-${lane}` } as const;
}

/** Creates the organisations, the users of all lanes and the callers with their roles, states and tokens. */
export async function createCallers(
  store: Store,
  instance: TestInstance,
  lanes: number,
): Promise<readonly CallerRow[]> {
  const { summary } = await instance.import({ data_orgs: { orgs: importedOrganisations(instance.orgId, lanes) } });
  if (Object.keys(summary.failed).length > 0) throw new Error(`not imported: ${JSON.stringify(summary.failed)}`);
  const rows = callers.map((caller) => withToken(caller));
  await commitAll(store, callers.flatMap(instanceMembership));
  await commitAll(
    store,
    rows.flatMap(({ write }) => write),
  );
  for (const { kind, userId } of callers) if (kind.ended === 'revoked') await revokeTokens(store, userId);
  await commitAll(store, [...callers.flatMap(stateChange), ...callerOrganisations.flatMap(organisationStateChange)]);
  return rows.map(({ row }) => row);
}

function importedOrganisations(defaultOrgId: string, lanes: number): object[] {
  const users = Array.from({ length: lanes }, (_, lane) => usersOfLane(lane));
  const withFactor = (userId: string) => ({ ...person(userId), otpEmail: true });
  const ofCallers = callerOrganisations.map((orgId) =>
    organisation(orgId, {
      humanUsers: [
        ...peopleOf(orgId).map(({ userId }) => withFactor(userId)),
        ...(orgId === 'own' ? users.map(({ own }) => withFactor(own)) : []),
      ],
      machineUsers: callersOf(orgId, 'serviceUser').map(({ userId }) => ({ userId, user: machine(userId) })),
      orgMembers: membershipsOn(orgId, 'own'),
      projects: [{ projectId: `project-${orgId}`, project: { name: 'Project' } }],
      projectMembers: membershipsOn(orgId, 'project').map((member) => ({ projectId: `project-${orgId}`, ...member })),
    }),
  );
  return [
    ...ofCallers,
    organisation('other', {
      humanUsers: users.map(({ other }) => withFactor(other)),
      orgMembers: callerOrganisations.flatMap((orgId) => membershipsOn(orgId, 'other')),
    }),
    { orgId: defaultOrgId, org: { name: 'test' }, humanUsers: users.map((ids) => withFactor(ids.default)) },
  ];
}

const callersOf = (orgId: string, owner: TokenKind['owner']) =>
  callers.filter((caller) => caller.orgId === orgId && caller.kind.owner === owner);
const peopleOf = (orgId: string) => callersOf(orgId, 'person');
const machine = (userId: string) => ({ userName: userId, name: userId, accessTokenType: 'ACCESS_TOKEN_TYPE_BEARER' });

function membershipsOn(orgId: string, on: Holding['on']) {
  const held = callers.filter((caller) => caller.orgId === orgId && caller.holding.on === on);
  return held.map(({ userId, holding: { role } }) => ({ userId, roles: [role] }));
}

function instanceMembership({ userId, holding: { role, on } }: Caller): Write[] {
  return on === 'instance' && role !== undefined
    ? [createMember({ userId, orgId: undefined }, [role], new Date())]
    : [];
}

function withToken(caller: Caller): { row: CallerRow; write: Write } {
  const { kind, userId } = caller;
  const restriction = kind.only === undefined ? {} : { operations: kind.only };
  const created = kind.ended === 'expired' ? new Date(Date.now() - 2 * DAY_MS) : new Date();
  const { created: token, write } = createPersonalAccessToken(userId, created, DAY_MS, restriction);
  const row = { ...caller, token: token.token };
  return kind.ended === 'otherSecret' ? { row, write: withOtherDigest(write) } : { row, write };
}

function withOtherDigest(write: Write): Write {
  return write.type === 'create'
    ? { ...write, fields: { ...write.fields, digest: tokenDigest(generateToken()) } }
    : write;
}

function stateChange({ kind: { ended, ownerState }, userId }: Caller): Write[] {
  const key = userKey(userId);
  if (ended === 'ownerGone') return [{ type: 'delete', key }];
  return ownerState === undefined ? [] : [{ type: 'update', key, fields: { state: ownerState } }];
}

function organisationStateChange(orgId: string): Write[] {
  return orgId === 'own' ? [] : [{ type: 'update', key: organisationKey(orgId), fields: { state: orgId } }];
}

async function commitAll(store: Store, writes: readonly Write[]): Promise<void> {
  for (let from = 0; from < writes.length; from += COMMIT_WRITES)
    await store.commit(writes.slice(from, from + COMMIT_WRITES));
}
