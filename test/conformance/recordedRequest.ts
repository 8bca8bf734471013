import { completed } from './leftOut.ts';
import type { Recording } from './recordings.ts';
import type { Reference, Role, RowRequest } from './row.ts';
import type { Subjects } from './subjects.ts';

const roles: ReadonlyMap<string, Role> = new Map([
  ['IAM_OWNER PAT', 'owner'],
  ['PAT ORG_OWNER of default org', 'orgOwner'],
  ['PAT IAM_OWNER_VIEWER', 'viewer'],
  ['PAT without any membership', 'nobody'],
]);

/** The tokens that the recording calls `other`. */
const otherTokens: Readonly<Record<string, (token: string) => string>> = {
  'export: Bearer notreal': () => 'notreal',
  'export: token with last char changed': (token) => `${token.slice(0, -1)}${token.endsWith('0') ? '1' : '0'}`,
  'export: token very long (5000)': () => 'x'.repeat(5000),
  'delete otp: Bearer notreal': () => 'notreal',
};

type Changes = Readonly<Record<string, (subjects: Subjects) => Partial<RowRequest>>>;

/** What the recording does not say, or what only a server with its history could do. */
const changes: Changes = {
  'unknown host': () => ({ headers: { host: 'unknown.example' } }),
  'otp-email: delete, German': () => ({ headers: { 'accept-language': 'de' } }),
  'otp-email: delete for imported free-text id': ({ freeTextWithout }) => ({ path: otpEmail(freeTextWithout) }),
  // ZITADEL creates the organisation, although it answers 500.
  'import: timeout "-1s"': ({ id }) => ({ body: importOf(id('neg-org'), '-1s') }),
  'import: timeout "0s"': ({ id }) => ({ body: importOf(id('zero-org'), '0s') }),
};

const changesFor: Readonly<Record<Reference, Changes>> = {
  // Nothing of the interface adds the factor again, so each removal is of another person's.
  ours: {
    'otp-email: delete by ORG_OWNER': ({ withFactorToo }) => ({ role: 'orgOwner', path: otpEmail(withFactorToo) }),
    'otp-email: delete for imported free-text id (2)': ({ freeText }) => ({ path: otpEmail(freeText) }),
  },
  zitadel: {
    'otp-email: delete by ORG_OWNER': () => ({ role: 'orgOwner' }),
    'otp-email: add for imported free-text id': ({ freeTextWithout }) => ({ path: otpEmail(freeTextWithout) }),
    'otp-email: delete for imported free-text id (2)': ({ freeTextWithout }) => ({ path: otpEmail(freeTextWithout) }),
  },
};

// These are about the media type or the query, and the interface wants an output to be named:
// what comes without one is the row `export: neither output`.
const withOutput: ReadonlySet<string> = new Set([
  'export: unknown field',
  'export with query params',
  'export: text/plain',
  'export: no content type',
  'export: application/xml',
  'export: Accept text/html',
  'export: Accept-Encoding gzip',
  'export: Origin header',
]);

// What the recording sent where it names no content type; only an RPC's route looks at it.
const asRecorded = { 'Content-Type': 'application/json' };

const WITHOUT_FACTOR = '400522410358475814';

/** The ids of the recorded server, each with whoever stands for it here. */
export function recordedIds(subjects: Subjects): ReadonlyMap<string, string> {
  return new Map([
    ['400522058523544614', subjects.home],
    ['330000000000000002', subjects.other],
    ['400522410341698598', subjects.withFactor],
    [WITHOUT_FACTOR, subjects.withoutFactor],
    ['400522410375253030', subjects.foreign],
    ['400522413093162022', subjects.unverified],
    ['400522410173926438', subjects.callers.nobody],
    ['400522413244156966', subjects.removable],
  ]);
}

/** The recorded request, with the ids and tokens of the instance that is looked at. */
export function recordedRequest({ name, request }: Recording, subjects: Subjects, reference: Reference): RowRequest {
  const here = (text: string) =>
    [...recordedIds(subjects)].reduce((part, [from, to]) => part.replaceAll(from, to), text);
  const complete = (text: string) => completed(name, text, WITHOUT_FACTOR, subjects.withoutFactor);
  const body = request.body === undefined ? undefined : complete(request.body);
  return {
    method: request.method,
    path: here(String(complete(request.path))),
    ...credentials(name, request),
    ...headersOf(request.path.startsWith('/zitadel.') ? { ...asRecorded, ...request.headers } : request.headers),
    ...(body === undefined ? {} : { body: typeof body === 'string' ? outputNamed(name, here(body)) : body }),
    ...changes[name]?.(subjects),
    ...changesFor[reference][name]?.(subjects),
  };
}

function outputNamed(name: string, body: string): string {
  return withOutput.has(name) ? body.replace(/}$/, ',"responseOutput":true}') : body;
}

function credentials(name: string, { token, headers }: Recording['request']): Partial<RowRequest> {
  const written = headers?.Authorization;
  if (written !== undefined) return { authorization: (owner) => written.replace('<IAM_OWNER PAT>', owner) };
  if (token === undefined) return {};
  const role = roles.get(token);
  if (role !== undefined) return { role };
  const other = otherTokens[name];
  if (other === undefined) throw new Error(`${name}: it is not known what the token ${token} was`);
  return { authorization: (owner) => `Bearer ${other(owner)}` };
}

/** An empty value in the recording is a header that was not sent. */
function headersOf(recorded: Readonly<Record<string, string>> = {}): Partial<RowRequest> {
  const sent = Object.entries(recorded).filter(([name, value]) => name !== 'Authorization' && value !== '');
  return sent.length === 0 ? {} : { headers: Object.fromEntries(sent) };
}

function otpEmail(userId: string): string {
  return `/v2/users/${encodeURIComponent(userId)}/otp_email`;
}

function importOf(orgId: string, timeout: string): string {
  return JSON.stringify({ timeout, dataOrgs: { orgs: [{ orgId, org: { name: orgId } }] } });
}
