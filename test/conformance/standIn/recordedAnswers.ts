import type { Answer } from '../answer.ts';
import { againstZitadel } from '../judgements/againstZitadel.ts';
import { recordedIds, recordedRequest } from '../recordedRequest.ts';
import { type Recording, recordings } from '../recordings.ts';
import type { Role, RowRequest } from '../row.ts';
import { callers, newZitadelSubjects, type Subjects } from '../subjects.ts';

const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/;
const EVERY_UUID = new RegExp(`-${UUID.source}`, 'g');
const TRANSPORT = new Set(['host', 'connection', 'content-length', 'authorization']);

/** Gives recorded answers to requests that equal a recorded one but for the ids of the run. */
export interface RecordedAnswers {
  /** Returns the answer; where a request was recorded several times, they follow each other, and the last one stays. */
  find(request: Received): Answer | undefined;
}

/** A request as a server receives it. */
export interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** Whose token it is; undefined for one that no user has. */
  readonly userId: string | undefined;
}

/** Reads the recordings for a server whose IAM_OWNER has this token. */
export function recordedAnswers(owner: string): RecordedAnswers {
  const subjects = newZitadelSubjects();
  const queues = new Map<string, Recording[]>();
  for (const recording of recordings.filter(({ name }) => againstZitadel[name] === undefined)) {
    const key = keyOf(recordedRequest(recording, subjects, 'zitadel'), owner);
    queues.set(key, [...(queues.get(key) ?? []), recording]);
  }
  return {
    find: (request) => {
      const queue = queues.get(receivedKey(request)) ?? [];
      const recording = queue.length > 1 ? queue.shift() : queue[0];
      return recording && answerTo(recording, subjects, request);
    },
  };
}

function keyOf({ method, path, headers = {}, body = '', role, authorization }: RowRequest, owner: string): string {
  const bearer = role === 'owner' ? `Bearer ${owner}` : role && `Bearer of ${role}`;
  return key(method, path, headers, Buffer.from(body), authorization?.(owner) ?? bearer);
}

function receivedKey({ method, path, headers, body, userId }: Received): string {
  const role = roles.get(userId?.replace(EVERY_UUID, '') ?? '');
  return key(method, path, headers, body, role === undefined ? headers.authorization : `Bearer of ${role}`);
}

const roles: ReadonlyMap<string, string> = new Map(
  Object.entries(callers)
    .filter(([role]) => role !== ('expired' satisfies Role))
    .map(([role, userId]) => [userId, role]),
);

function key(method: string, path: string, headers: object, body: Buffer, authorization = 'none'): string {
  const sent = Object.entries(headers).map(([name, value]) => `${name.toLowerCase()}: ${value}`);
  const kept = sent.filter((line) => !TRANSPORT.has(line.slice(0, line.indexOf(':')))).sort();
  return [method, path, ...kept, authorization.trim(), body.toString('latin1')].join('\n').replaceAll(EVERY_UUID, '');
}

function answerTo({ status, headers, body }: Recording, subjects: Subjects, request: Received): Answer {
  const run = UUID.exec(`${request.path}\n${request.body}\n${request.userId}`)?.[0];
  const here = (text: string, [from, to]: readonly [string, string]) =>
    text.replaceAll(from, run === undefined ? to : to.replace(UUID, run));
  const kept = Object.entries(headers).filter(([name]) => name !== 'content-length');
  return { status, headers: Object.fromEntries(kept), text: [...recordedIds(subjects)].reduce(here, body) };
}
