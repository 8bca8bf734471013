import { z } from 'zod';
import type { Answer } from '../../../support/http/wire.ts';
import type { TestInstance } from '../../../support/instances/testInstance.ts';
import { type Selection, selections, type User, users } from './dimensions.ts';
import { type Call, type Verdict, verdicts } from './expectation.ts';

/** A column of the matrix: an operation over one interface, on one user or selection. */
export interface Column {
  readonly title: string;
  /** Its interface's position in `interfaces`; undefined for operations with one interface. */
  readonly over: number | undefined;
  readonly call: Call;
  readonly request: (ids: Ids) => { readonly method: string; readonly path: string; readonly body?: object };
}

/** The ids of the users and organisations that a column's calls refer to. */
export interface Ids {
  readonly users: Readonly<Record<User, string>>;
  readonly orgs: Readonly<Record<Exclude<Selection, 'all'>, { readonly orgId: string; readonly name: string }>>;
}

const userCalls = [
  { operation: 'removal', method: 'DELETE', resource: 'otp_email', rpc: 'RemoveOTPEmail' },
  { operation: 'list', method: 'GET', resource: 'authentication_methods', rpc: 'ListAuthenticationMethodTypes' },
] as const;

/** The interfaces to users. */
const interfaces = [
  { name: 'v2', generation: 'v2', isRpc: false },
  { name: 'RPC v2', generation: 'v2', isRpc: true },
  { name: 'v2beta', generation: 'v2beta', isRpc: false },
  { name: 'RPC v2beta', generation: 'v2beta', isRpc: true },
] as const;

const userColumns: readonly Column[] = userCalls.flatMap(({ operation, method, resource, rpc }) =>
  interfaces.flatMap(({ name, generation, isRpc }, over) =>
    users.map((user) => ({
      title: `${operation} ${name}`,
      over,
      call: { operation, user },
      request: ({ users: { [user]: userId } }: Ids) =>
        isRpc
          ? { method: 'POST', path: `/zitadel.user.${generation}.UserService/${rpc}`, body: { userId } }
          : { method, path: `/${generation}/users/${userId}/${resource}` },
    })),
  ),
);

const transferColumns: readonly Column[] = (['export', 'import'] as const).flatMap((operation) =>
  selections.map((selection) => ({
    title: operation,
    over: undefined,
    call: { operation, selection },
    request: ({ orgs }: Ids) => {
      const selected = selection === 'all' ? Object.values(orgs) : [orgs[selection]];
      const org_ids = selection === 'all' ? [] : selected.map(({ orgId }) => orgId);
      const data_orgs = { orgs: selected.map(({ orgId, name }) => ({ orgId, org: { name } })) };
      const body = operation === 'export' ? { response_output: true, org_ids } : { data_orgs, org_ids };
      return { method: 'POST', path: `/admin/v1/${operation}`, body };
    },
  })),
);

/** The columns of the matrix. */
export const columns: readonly Column[] = [...userColumns, ...transferColumns];

/** Sends a cell's request. */
export async function send(app: TestInstance['app'], token: string, { request }: Column, ids: Ids): Promise<Answer> {
  const { method, path, body } = request(ids);
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const response = await app.request(path, {
    method,
    headers,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

/** The part of an error that every interface has. */
export const errorBody = z.looseObject({ message: z.string() });

/** Returns the verdict of a response, from its status and its error's message; undefined for any other error. */
export function verdictOf({ status, text }: Pick<Answer, 'status' | 'text'>): Verdict | undefined {
  const message = status === 200 ? undefined : errorBody.parse(JSON.parse(text)).message;
  const matching = verdicts.find(
    (verdict) =>
      verdict.status === status &&
      (message === undefined ? verdict.message === undefined : verdict.message?.test(message)),
  );
  return matching?.name;
}
