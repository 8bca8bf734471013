import { send } from './answer.ts';
import { differences } from './check.ts';
import type { Role, Row, RowRequest } from './row.ts';

/** Tokens of the roles; that of the IAM_OWNER is always there. */
export type Tokens = Readonly<Partial<Record<Role, string>> & { owner: string }>;

/** Where the table is run. */
export interface Target {
  readonly baseUrl: string;
  readonly tokens: Tokens;
  /** Roles that an earlier run used up. */
  readonly spent: readonly Role[];
}

/** What became of a row. `decided` is a row that passed and, by decision, differs from ZITADEL. */
export type Outcome =
  | { readonly kind: 'passed' }
  | { readonly kind: 'decided'; readonly why: string }
  | { readonly kind: 'failed'; readonly differences: readonly string[] }
  | { readonly kind: 'not run'; readonly why: string };

const SHOWN_PATH = 80;

/** Sends the requests of a row and compares the answers. */
export async function runRow(row: Row, target: Target): Promise<Outcome> {
  const why = row.setup ?? hindrance(row, target);
  if (why !== undefined) return { kind: 'not run', why };
  for (const { request, expected } of row.steps) {
    const answer = await send(target.baseUrl, request, authorizationOf(request, target.tokens));
    const asked = `${request.method} ${request.path.slice(0, SHOWN_PATH)}`;
    const found = differences(answer, expected).map((line) => `${asked}: ${line}`);
    if (found.length > 0) return { kind: 'failed', differences: found };
  }
  return row.decision === undefined ? { kind: 'passed' } : { kind: 'decided', why: row.decision };
}

function hindrance({ steps }: Row, { tokens, spent }: Target): string | undefined {
  const roles = steps.flatMap(({ request }) => (request.role === undefined ? [] : [request.role]));
  const missing = roles.find((role) => tokens[role] === undefined);
  if (missing !== undefined) return `there is no token of the role ${missing}`;
  const gone = roles.find((role) => spent.includes(role));
  return gone && `an earlier run on this instance used up the role ${gone}`;
}

function authorizationOf({ role, authorization }: RowRequest, tokens: Tokens): string | undefined {
  if (authorization !== undefined) return authorization(tokens.owner);
  return role && `Bearer ${tokens[role]}`;
}
