import { type Answer, type SendOptions, send } from './answer.ts';
import { differences } from './check.ts';
import { poll } from './poll.ts';
import type { Role, Row, RowRequest, Step } from './row.ts';

/** Tokens of the roles; that of the IAM_OWNER is always there. */
export type Tokens = Readonly<Partial<Record<Role, string>> & { owner: string }>;

/** Where the table is run. */
export interface Target extends SendOptions {
  readonly baseUrl: string;
  readonly tokens: Tokens;
  /** Roles that an earlier run used up. */
  readonly spent: readonly Role[];
  /** How long an answer may take to show earlier writes; by default it must at once. */
  readonly settleMs?: number;
}

/**
 * What became of a row. `decided` is a row that passed and, by decision, differs from ZITADEL; `lost` one whose request
 * got no answer.
 */
export type Outcome =
  | { readonly kind: 'passed' }
  | { readonly kind: 'decided'; readonly why: string }
  | { readonly kind: 'failed' | 'lost'; readonly differences: readonly string[] }
  | { readonly kind: 'not run'; readonly why: string };

const SHOWN_PATH = 80;

/** Sends the requests of a row and compares the answers. */
export async function runRow(row: Row, target: Target): Promise<Outcome> {
  const why = row.setup ?? hindrance(row, target);
  if (why !== undefined) return { kind: 'not run', why };
  for (const step of row.steps) {
    const outcome = await runStep(step, target);
    if (outcome !== undefined) return outcome;
  }
  return row.decision === undefined ? { kind: 'passed' } : { kind: 'decided', why: row.decision };
}

/** Returns the outcome that ends the row, if any. */
async function runStep(step: Step, target: Target): Promise<Outcome | undefined> {
  const { settleMs = 0, signal } = target;
  const limit = { limitMs: step.follows === true ? settleMs : 0, signal };
  const outcome = await poll(
    () => exchange(step, target),
    (last) => last?.kind !== 'failed',
    limit,
  );
  return outcome !== undefined && signal?.aborted === true
    ? { kind: 'not run', why: 'the run was interrupted' }
    : outcome;
}

/** Sends a request once. Returns what is wrong with the answer, or that none came. */
async function exchange({ request, expected }: Step, target: Target): Promise<Outcome | undefined> {
  const asked = `${request.method} ${request.path.slice(0, SHOWN_PATH)}`;
  let answer: Answer;
  try {
    answer = await send(target.baseUrl, request, authorizationOf(request, target.tokens), target);
  } catch (error) {
    return { kind: 'lost', differences: [`${asked}: no response: ${reason(error)}`] };
  }
  const found = differences(answer, expected).map((line) => `${asked}: ${line}`);
  return found.length === 0 ? undefined : { kind: 'failed', differences: found };
}

/** An error's message; that of a refused connection to several addresses has none, but a code. */
export function reason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = 'code' in error ? String(error.code) : '';
  return error.message === '' ? code : error.message;
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
