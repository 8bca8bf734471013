import type { Judgement } from './judgements/judgement.ts';
import { judgements } from './judgements/judgements.ts';
import { recordedIds, recordedRequest } from './recordedRequest.ts';
import { type Recording, recordings } from './recordings.ts';
import type { Expected, ExpectedBody, Row } from './row.ts';
import type { Subjects } from './subjects.ts';

const comparedHeaders = [
  'www-authenticate',
  'cache-control',
  'x-robots-tag',
  'content-type',
  'grpc-status',
  'grpc-message',
];

/** A row for each recorded answer, judged by its name. */
export function recordedRows(subjects: Subjects): Row[] {
  return recordings.map((recording) => {
    const judgement = judgements.get(recording.name);
    if (judgement === undefined) throw new Error(`no judgement of ${recording.name}`);
    return judged(recording, judgement, subjects);
  });
}

function judged(recording: Recording, judgement: Judgement, subjects: Subjects): Row {
  const row = { name: recording.name, origin: recording.file };
  if (judgement.as === 'setup') return { ...row, steps: [], setup: judgement.why };
  const request = recordedRequest(recording, subjects);
  if (judgement.as === 'same') return { ...row, steps: [{ request, expected: recordedAnswer(recording, subjects) }] };
  return { ...row, steps: [{ request, expected: judgement.expected }], decision: judgement.why };
}

function recordedAnswer({ status, headers, body }: Recording, subjects: Subjects): Expected {
  const compared = comparedHeaders.flatMap((name): [string, string][] => {
    const value = headers[name];
    return typeof value === 'string' ? [[name, value]] : [];
  });
  return { status, headers: Object.fromEntries(compared), body: recordedBody(body, recordedIds(subjects)) };
}

function recordedBody(body: string, ids: ReadonlyMap<string, string>): ExpectedBody {
  if (!body.startsWith('{')) return { kind: 'text', text: body };
  const here = (value: unknown) => (typeof value === 'string' ? (ids.get(value) ?? value) : value);
  return { kind: 'equals', json: JSON.parse(body, (_name, value: unknown) => here(value)) };
}
