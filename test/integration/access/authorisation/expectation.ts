import { zitadelHolders } from '../../../support/fixtures/zitadelRoles.ts';
import type { Holding, Operation, Selection, TokenKind, User } from './dimensions.ts';

/** The outcome of a call: its sign in the matrix, its HTTP status and its error's message. */
export const verdicts = [
  { name: 'done', sign: '+', status: 200, message: undefined },
  {
    name: 'nothingThere',
    sign: '0',
    status: 404,
    message: /^(Multifactor OTP .*COMMAND-b312D|Errors\.NotFound \(COMMAND-4g3xq)\)$/,
  },
  { name: 'denied', sign: '-', status: 403, message: /^No matching permissions found \(AUTH-(AWfge|5mWD2)\)$/ },
  { name: 'person', sign: 'p', status: 403, message: /^the token belongs to a person: / },
  {
    name: 'otherOperation',
    sign: 'x',
    status: 403,
    message: /^the token is valid for (export|import|otp-email)(, import)? only: /,
  },
] as const;

export type Verdict = (typeof verdicts)[number]['name'];

const writesUsers: readonly string[] = zitadelHolders['user.write'];
const readsUsers: readonly string[] = zitadelHolders['user.read'];

/** The call of a cell. */
export type Call =
  | { readonly operation: 'removal' | 'list'; readonly user: User }
  | { readonly operation: 'export' | 'import'; readonly selection: Selection };

/** Returns the specified outcome of a call (chapter 5), in the order of the checks. */
export function expectedVerdict(holding: Holding, kind: TokenKind, call: Call): Verdict {
  const { only } = kind;
  const operation: Operation = 'user' in call ? 'otp-email' : call.operation;
  if (only !== undefined && !only.includes(operation)) return 'otherOperation';
  return 'user' in call ? userVerdict(holding, kind, call) : transferVerdict(holding, kind);
}

function userVerdict({ role, on }: Holding, { owner }: TokenKind, call: Call & { user: User }): Verdict {
  const { operation, user } = call;
  const holders = operation === 'removal' ? writesUsers : readsUsers;
  const reachesUser = on === 'instance' || (on !== 'project' && on === user);
  const isPermitted = user === 'self' || (role !== undefined && holders.includes(role) && reachesUser);
  if (!isPermitted) return 'denied';
  const isThere = user !== 'nobody' && !(user === 'self' && owner === 'serviceUser');
  return operation === 'list' || isThere ? 'done' : 'nothingThere';
}

function transferVerdict({ role }: Holding, { owner }: TokenKind): Verdict {
  if (role !== 'IAM_OWNER') return 'denied';
  return owner === 'person' ? 'person' : 'done';
}
