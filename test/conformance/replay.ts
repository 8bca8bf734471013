import { type Deliberate, reasonsOf } from './deliberate.ts';
import { type Difference, differences } from './differences.ts';
import { isJsonObject, type JsonObject } from './jsonObject.ts';
import { type Answered, type Exported, exportAll, MAX_ID_LENGTH, observe, type Server, send } from './observe.ts';
import { Placeholders } from './placeholders.ts';
import type { RecordedCase } from './recordedCase.ts';

/**
 * The outcome of a case: the recorded response, a deliberate difference, another response, or no token of its caller.
 */
type Verdict = 'same' | 'documented' | 'differs' | 'not run';

/** A case and its verdict. */
export interface Judged {
  readonly recorded: RecordedCase;
  readonly verdict: Verdict;
  readonly found: readonly Difference[];
  /** The rows of the deliberate differences. */
  readonly reasons: readonly Deliberate[];
  /** The error in the server's response. */
  readonly error?: string | undefined;
}

/** A self-hosted instance runs two imports at once. */
const AT_ONCE = 2;
const serviceUser = (userId: string) => ({ userId, user: { userName: userId, name: 'Conformance', userId } });

/** The organisation of the callers: their tokens are created once, so that it is the same in every run. */
const callers = {
  orgId: 'conformance',
  org: { name: 'Conformance' },
  machineUsers: ['conformance-org-owner', 'conformance-viewer', 'conformance-nobody'].map(serviceUser),
  orgMembers: [
    { userId: 'conformance-org-owner', roles: ['ORG_OWNER'] },
    { userId: 'conformance-viewer', roles: ['ORG_OWNER_VIEWER'] },
  ],
};

/** Imports the callers' organisation. */
export async function importCallers(server: Server): Promise<void> {
  const body = { timeout: '60s', dataOrgs: { orgs: [callers] } };
  const request = { method: 'POST', path: '/admin/v1/import', headers: {}, body };
  const answer = await send(server, request, new Placeholders(server.url));
  if (answer.status !== 200) throw new Error(`the callers cannot be imported: ${JSON.stringify(answer)}`);
}

/**
 * Sends the cases to a server, and compares its responses with the recorded ones. Returns the cases by name.
 * @param rows the differences that are documented of the server
 */
export async function replay(
  server: Server,
  cases: readonly RecordedCase[],
  rows: readonly Deliberate[],
): Promise<Judged[]> {
  const answers = new Map<RecordedCase, Answered>();
  const isRunnable = ({ request: { as } }: RecordedCase) => as === undefined || server.tokens[as] !== undefined;
  // ZITADEL exports everything in half a second for each organisation that the other cases create.
  const isExport = ({ request: { path } }: RecordedCase) => path.startsWith('/admin/v1/export');
  const waiting = cases
    .filter(isRunnable)
    .toSorted((a, b) => Number(isExport(b)) - Number(isExport(a)))
    .values();
  const work = async () => {
    for (const recorded of waiting) answers.set(recorded, await observe(server, recorded));
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  const file = await exportAll(server, [...answers].map(orgIdsOf));
  return cases
    .map((recorded) => judge(recorded, answers.get(recorded), file, rows))
    .sort((a, b) => (a.recorded.name < b.recorded.name ? -1 : 1));
}

function orgIdsOf([recorded, { placeholders }]: readonly [RecordedCase, Answered]): string[] {
  return recorded.export?.map((orgId) => String(placeholders.fill(orgId))) ?? [];
}

function judge(
  recorded: RecordedCase,
  answered: Answered | undefined,
  file: Exported,
  rows: readonly Deliberate[],
): Judged {
  if (answered === undefined) return { recorded, verdict: 'not run', found: [], reasons: [] };
  const ids = orgIdsOf([recorded, answered]);
  const found = ids.map((id) => file.get(id));
  const organisations = withoutOthersMembers(found.filter((organisation) => organisation !== undefined));
  const isExported = recorded.export !== undefined && ids.every(({ length }) => length <= MAX_ID_LENGTH);
  const exported = !isExported ? {} : { exported: answered.placeholders.unfill(organisations) };
  const isCounted = ({ part, path }: Difference) =>
    !recorded.ignore.some((skipped) => skipped === part || skipped === `${part}:orgs${path}`);
  // A ZITADEL with a case's organisation responds differently: both responses are recorded.
  const recordings = [recorded.zitadel, ...(recorded.zitadelAgain === undefined ? [] : [recorded.zitadelAgain])].map(
    (recording) => (isExported ? recording : { ...recording, exported: undefined }),
  );
  const candidates = recordings.map((recording) =>
    differences(recording, { ...answered.seen, ...exported }).filter(isCounted),
  );
  const [least = []] = candidates.sort((a, b) => a.length - b.length);
  const reasons = reasonsOf(rows, recorded, least);
  const verdict = least.length === 0 ? 'same' : reasons === undefined ? 'differs' : 'documented';
  return { recorded, verdict, found: least, reasons: reasons ?? [], error: errorOf(answered) };
}

/**
 * Removes the members of other cases' projects: ZITADEL exports those of all exported projects in each organisation.
 */
function withoutOthersMembers(organisations: readonly JsonObject[]): JsonObject[] {
  const listOf = (value: unknown) => (Array.isArray(value) ? value.filter(isJsonObject) : []);
  const own = new Set(organisations.flatMap(({ projects }) => listOf(projects).map(({ projectId }) => projectId)));
  return organisations.map(({ projectMembers, ...organisation }) => {
    const members = listOf(projectMembers).filter(({ projectId }) => own.has(projectId));
    return members.length === 0 ? organisation : { ...organisation, projectMembers: members };
  });
}

function errorOf({ seen: { status, body } }: Answered): string | undefined {
  if (status === 200) return;
  const message = /"message":("(?:[^"\\]|\\.)*")/.exec(JSON.stringify(body) ?? '')?.[1];
  return message === undefined ? String(status) : `${status} ${JSON.parse(message)}`;
}

/** Counts the cases by verdict. */
export function summary(judged: readonly Judged[]): string {
  const verdicts: readonly Verdict[] = ['same', 'documented', 'differs', 'not run'];
  return verdicts.map((verdict) => `${verdict} ${judged.filter((one) => one.verdict === verdict).length}`).join(', ');
}
