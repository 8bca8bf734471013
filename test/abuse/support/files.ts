import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { organisation, person } from '../../support/fixtures/organisations.ts';

/** An organisation of a file with a number of people, in parts. */
export function* peopleOf(orgId: string, count: number, user: object = {}): Generator<string> {
  yield `${JSON.stringify(organisation(orgId)).slice(0, -1)},"humanUsers":[`;
  for (let index = 0; index < count; index++)
    yield `${index === 0 ? '' : ','}${JSON.stringify(person(`p${index}`, user))}`;
  yield ']}';
}

/** The body of an import, in parts. */
export function* requestOf(options: object, orgs: Iterable<string>): Generator<string> {
  yield `${JSON.stringify({ ...options, data_orgs: {} }).slice(0, -2)}"orgs":[`;
  yield* orgs;
  yield ']}}';
}

const RANDOM_BYTES = 200;
const BLOCK = Buffer.alloc(25_000, 'a');

/** Gzip with an accepted inflation of almost a hundred times: the beginning of a file without its end. */
export function almostHundredfold(megabytes: number): Uint8Array<ArrayBuffer> {
  const blocks = Array.from({ length: (megabytes * 1_000_000) / (BLOCK.length + RANDOM_BYTES) }, () =>
    Buffer.concat([Buffer.from(randomBytes(RANDOM_BYTES).toString('base64')), BLOCK]),
  );
  const start = Buffer.from('{"data_orgs":{"orgs":[{"orgId":"a","x":"');
  return Buffer.from(gzipSync(Buffer.concat([start, ...blocks]), { level: 9 }));
}
