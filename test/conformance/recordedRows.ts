import { againstZitadel } from './judgements/againstZitadel.ts';
import type { Judgement } from './judgements/judgement.ts';
import { judgements } from './judgements/judgements.ts';
import { recordedIds, recordedRequest } from './recordedRequest.ts';
import { type Recording, recordings } from './recordings.ts';
import type { Expected, ExpectedBody, Reference, Row } from './row.ts';
import type { Subjects } from './subjects.ts';

const comparedHeaders = [
  'www-authenticate',
  'cache-control',
  'x-robots-tag',
  'content-type',
  'location',
  'grpc-status',
  'grpc-message',
];

/** A row for each recorded answer. ZITADEL must give it again; what this service must do says the judgement of its name. */
export function recordedRows(subjects: Subjects, reference: Reference): Row[] {
  return recordings.map((recording) => {
    const judgement = judgements.get(recording.name);
    if (judgement === undefined) throw new Error(`no judgement of ${recording.name}`);
    return reference === 'zitadel' ? repeated(recording, judgement, subjects) : judged(recording, judgement, subjects);
  });
}

function judged(recording: Recording, judgement: Judgement, subjects: Subjects): Row {
  const row = { name: recording.name, origin: recording.file };
  if (judgement.as === 'setup') return { ...row, feature: 'ours', steps: [], setup: judgement.why };
  const request = recordedRequest(recording, subjects, 'ours');
  if (judgement.as === 'same') {
    return { ...row, feature: 'documented', steps: [{ request, expected: recordedAnswer(recording, subjects) }] };
  }
  return { ...row, feature: 'ours', steps: [{ request, expected: judgement.expected }], decision: judgement.why };
}

function repeated(recording: Recording, judgement: Judgement, subjects: Subjects): Row {
  const { name, file } = recording;
  const row = { name, origin: file, feature: judgement.as === 'same' ? 'documented' : 'zitadel' } as const;
  const other = againstZitadel[name];
  if (other?.setup !== undefined) return { ...row, steps: [], setup: other.setup };
  const request = recordedRequest(recording, subjects, 'zitadel');
  if (other?.expected !== undefined) return { ...row, steps: [{ request, expected: other.expected, follows: true }] };
  return { ...row, steps: [{ request, expected: recordedAnswer(recording, subjects) }] };
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
  return { kind: 'equals', json: JSON.parse(body.replaceAll('\u00a0', ' '), (_name, value: unknown) => here(value)) };
}
