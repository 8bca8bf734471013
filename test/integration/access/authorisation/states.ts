import { expect } from 'vitest';
import { createPersonalAccessToken } from '../../../../shared/accounts/personalAccessTokens.ts';
import { DAY_MS } from '../../../../shared/clock.ts';
import type { DocumentFields } from '../../../../shared/store/documentFields.ts';
import { instanceMemberKey, organisationKey, userKey } from '../../../../shared/store/documentKeys.ts';
import type { DocumentKey, Store, Write } from '../../../../shared/store/store.ts';
import type { Answer } from '../../../support/http/wire.ts';
import { testInstance } from '../../../support/instances/testInstance.ts';
import { columns, errorBody, send } from './calls.ts';

/**
 * What is stored of a caller, apart from a service user's valid token and its role IAM_OWNER, and the error of its
 * calls.
 */
interface CallerState {
  readonly name: string;
  readonly token?: 'malformed' | 'unknown';
  /** When the token expires, in milliseconds from the call. */
  readonly expires?: number;
  /** The state of the user; null without a user. */
  readonly user?: string | null;
  readonly organisation?: string;
  /** The stored membership on the instance. */
  readonly membership?: object;
  /** Undefined if the calls reach their operations. */
  readonly error?: { readonly status: number; readonly message: unknown; readonly reason?: string };
}

const invalid = (reason?: string) => ({
  status: 401,
  message: 'Errors.Token.Invalid (AUTH-7fs1e)',
  ...(reason === undefined ? {} : { reason }),
});
const inactive = {
  status: 403,
  message: "the organisation of the token's user is inactive or removed: use a token of an active organisation's user",
  reason: 'ORGANISATION_INACTIVE',
};

/** Callers by the states of their tokens, users and organisations. */
export const callerRows: readonly CallerState[] = [
  { name: 'a malformed token', token: 'malformed', error: invalid() },
  { name: 'an unknown token', token: 'unknown', error: invalid('TOKEN_NOT_FOUND') },
  { name: 'a token that expires a millisecond later', expires: 1 },
  { name: 'a token that expires now', expires: 0, error: invalid('TOKEN_EXPIRED') },
  { name: 'no user', user: null, error: invalid('TOKEN_USER_INACTIVE') },
  ...['ACTIVE', 'INITIAL'].map((state) => ({ name: `a user who is ${state}`, user: `USER_STATE_${state}` })),
  ...['INACTIVE', 'LOCKED', 'SUSPEND', 'DELETED'].map((state) => ({
    ...{ name: `a user who is ${state}`, user: `USER_STATE_${state}` },
    error: invalid('TOKEN_USER_INACTIVE'),
  })),
  ...['INACTIVE', 'REMOVED'].map((state) => ({
    ...{ name: `an organisation that is ${state}`, organisation: `ORG_STATE_${state}` },
    error: inactive,
  })),
  {
    ...{ name: 'a locked user of an inactive organisation', user: 'USER_STATE_LOCKED' },
    organisation: 'ORG_STATE_INACTIVE',
    error: invalid('TOKEN_USER_INACTIVE'),
  },
  {
    name: 'a membership without roles',
    membership: { userId: 'u' },
    error: { status: 403, message: expect.stringMatching(/^No matching permissions found /) },
  },
];

const now = new Date('2026-11-22T12:00:00Z');

function created(key: DocumentKey, fields: DocumentFields): Write {
  return { type: 'create', key, fields };
}

/** The documents of a caller, and its token. */
function newCaller(id: string, row: CallerState) {
  const { token, expires = DAY_MS, user = 'USER_STATE_ACTIVE', organisation = 'ORG_STATE_ACTIVE' } = row;
  const issued = createPersonalAccessToken({ userId: id, orgId: `of ${id}` }, now, expires);
  const body = JSON.stringify(row.membership ?? { userId: id, roles: ['IAM_OWNER'] });
  const writes = [
    created(organisationKey(`of ${id}`), { state: organisation, partition: 'organisations', orgId: `of ${id}` }),
    created(instanceMemberKey(id), { partition: 'instance', body }),
    ...(user === null
      ? []
      : [created(userKey(id), { state: user, orgId: `of ${id}`, partition: 'machineUsers/0', body: '{}' })]),
    ...(token === undefined ? [issued.write] : []),
  ];
  return { token: token === 'malformed' ? 'notreal' : issued.created.token, writes };
}

/** The first column of each operation and interface. */
const firstColumns = [...Map.groupBy(columns, ({ title }) => title).values()].flatMap(([first]) => first ?? []);

/** Stores the callers of all rows, and returns how one calls each operation over each interface. */
export async function startCallers(store: Store) {
  const { app, orgId } = await testInstance(store, 'test', { now: () => now });
  const callers = new Map(callerRows.map((row, index) => [row, newCaller(`user ${index}`, row)]));
  await store.commit([...callers.values()].flatMap(({ writes }) => writes));
  const org = { orgId, name: 'test' };
  const orgs = { own: org, other: org, default: org };
  const users = { self: 'nobody', own: 'nobody', other: 'nobody', default: 'nobody', nobody: 'nobody' };
  return (row: CallerState) =>
    Promise.all(
      firstColumns.map(async (column) => {
        const answer = await send(app, callers.get(row)?.token ?? '', column, { orgs, users });
        return { title: column.title, ...shown(answer) };
      }),
    );
}

/** The parts of an error that describe the problem. */
function shown({ status, headers, text }: Answer) {
  const message = status === 200 ? undefined : errorBody.parse(JSON.parse(text)).message;
  const reason = status === 200 ? undefined : /"reason":"(\w+)"/.exec(text)?.[1];
  return { status, message, reason, challenge: headers.get('www-authenticate') };
}

/** The parts of the response to a row's call. The user does not exist, so the list is empty, and a removal fails. */
export function expectedAnswer({ error }: CallerState, title: string) {
  const isRemoval = title.startsWith('removal');
  const absent = isRemoval
    ? { status: 404, message: 'Errors.NotFound (COMMAND-4g3xq)' }
    : { status: 200, message: undefined };
  const { status, message, reason } = error ?? { ...absent, reason: undefined };
  // Connect has no challenge.
  return { status, message, reason, challenge: status === 401 && !title.includes('RPC') ? message : null };
}
