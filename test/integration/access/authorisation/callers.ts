import { createMember } from '../../../../shared/accounts/memberships.ts';
import { createPersonalAccessToken } from '../../../../shared/accounts/personalAccessTokens.ts';
import { DAY_MS } from '../../../../shared/clock.ts';
import type { Store, Write } from '../../../../shared/store/store.ts';
import { organisation, person } from '../../../support/fixtures/organisations.ts';
import type { TestInstance } from '../../../support/instances/testInstance.ts';
import { type Holding, holdings, type TokenKind, tokenKinds } from './dimensions.ts';

/** A row of the matrix: a caller of the organisation `own` with its token. */
export interface CallerRow {
  readonly kind: TokenKind;
  readonly holding: Holding;
  readonly userId: string;
  readonly token: string;
}

const COMMIT_WRITES = 200;

/** A row's caller, before it has a token. */
export type Caller = Omit<CallerRow, 'token'>;

/** A caller for each kind of token and role. */
export const allCallers: readonly Caller[] = tokenKinds.flatMap((kind, position) =>
  holdings.map((holding, index) => ({ kind, holding, userId: `caller-${position}-${index}` })),
);

/** The target users for the callers of one lane: one in each organisation. */
export function usersOfLane(lane: number) {
  return { own: `own-${lane}`, other: `other-${lane}`, default: `default-${lane}` } as const;
}

/** Creates the organisations, the users of all lanes and the callers with their roles and tokens. */
export async function createCallers(
  store: Store,
  instance: TestInstance,
  callers: readonly Caller[],
  lanes: number,
): Promise<readonly CallerRow[]> {
  const orgs = importedOrganisations(callers, instance.orgId, lanes);
  const { summary } = await instance.import({ data_orgs: { orgs } });
  if (Object.keys(summary.failed).length > 0) throw new Error(`not imported: ${JSON.stringify(summary.failed)}`);
  const rows = callers.map((caller) => withToken(caller));
  await commitAll(store, callers.flatMap(instanceMembership));
  await commitAll(
    store,
    rows.flatMap(({ write }) => write),
  );
  return rows.map(({ row }) => row);
}

function importedOrganisations(callers: readonly Caller[], defaultOrgId: string, lanes: number): object[] {
  const users = Array.from({ length: lanes }, (_, lane) => usersOfLane(lane));
  const withFactor = (userId: string) => ({ ...person(userId), otpEmail: true });
  const callersOf = (owner: TokenKind['owner']) =>
    callers.filter(({ kind }) => kind.owner === owner).map(({ userId }) => userId);
  const membershipsOn = (on: Holding['on']) =>
    callers
      .filter(({ holding }) => holding.on === on)
      .map(({ userId, holding }) => ({ userId, roles: [holding.role] }));
  return [
    organisation('own', {
      humanUsers: [...callersOf('person'), ...users.map(({ own }) => own)].map(withFactor),
      machineUsers: callersOf('serviceUser').map((userId) => ({ userId, user: machine(userId) })),
      orgMembers: membershipsOn('own'),
      projects: [{ projectId: 'project', project: { name: 'Project' } }],
      projectMembers: membershipsOn('project').map((member) => ({ projectId: 'project', ...member })),
    }),
    organisation('other', {
      humanUsers: users.map(({ other }) => withFactor(other)),
      orgMembers: membershipsOn('other'),
    }),
    { orgId: defaultOrgId, org: { name: 'test' }, humanUsers: users.map((ids) => withFactor(ids.default)) },
  ];
}

const machine = (userId: string) => ({ userName: userId, name: userId, accessTokenType: 'ACCESS_TOKEN_TYPE_BEARER' });

function instanceMembership({ userId, holding: { role, on } }: Caller): Write[] {
  return on === 'instance' && role !== undefined
    ? [createMember({ userId, orgId: undefined }, [role], new Date())]
    : [];
}

function withToken(caller: Caller): { row: CallerRow; write: Write } {
  const restriction = caller.kind.only === undefined ? {} : { operations: caller.kind.only };
  const { created: token, write } = createPersonalAccessToken(
    { userId: caller.userId, orgId: 'own' },
    new Date(),
    DAY_MS,
    restriction,
  );
  return { row: { ...caller, token: token.token }, write };
}

async function commitAll(store: Store, writes: readonly Write[]): Promise<void> {
  for (let from = 0; from < writes.length; from += COMMIT_WRITES)
    await store.commit(writes.slice(from, from + COMMIT_WRITES));
}
