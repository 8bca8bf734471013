import type { DescMessage } from '@bufbuild/protobuf';
import { describe, expect, it } from 'vitest';
import { inspect } from '../../shared/exportFile/inspection.ts';
import { organisationFields } from '../../shared/organisation/record.ts';

const ENTRIES = 3_000_000;
/** The maximum number in a record of a megabyte. */
const RECORD_ENTRIES = 320_000;
const CHUNK_ENTRIES = 20_000;

function processorUs(work: () => unknown): number {
  const start = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(start);
  return user + system;
}

/** The CPU time for parsing as many entries on this machine, so that no limit depends on its speed. */
const parsingUs = processorUs(() => JSON.parse(`[${'{},'.repeat(ENTRIES)}{}]`));
/** Rejecting them takes 1.2 to 1.6 times as long, and 3.7 times on a slow machine where the runner's imports cost more. */
const MOST_US = 8 * parsingUs;
/** Many times the duration of a turn, which garbage collections extend. */
const TURN_US = 2 * parsingUs;

function* repeated(start: string, entry: string, entries: number, end: string): Generator<Buffer> {
  yield Buffer.from(start + entry);
  const chunk = Buffer.from(`,${entry}`.repeat(CHUNK_ENTRIES));
  for (let sent = 1; sent < entries; sent += CHUNK_ENTRIES) yield chunk;
  yield Buffer.from(end);
}

/** The cost of inspecting a file: the CPU time in total, and the longest between two turns of the event loop. */
async function cost(open: () => Generator<Buffer>) {
  const source = {
    isInRequest: true,
    open: async function* () {
      yield* open();
    },
  };
  const start = process.threadCpuUsage();
  let turn = start;
  let longest = 0;
  const total = (since: NodeJS.CpuUsage) => {
    const { user, system } = process.threadCpuUsage(since);
    return user + system;
  };
  const endTurn = () => {
    longest = Math.max(longest, total(turn));
    turn = process.threadCpuUsage();
    clearImmediate(next);
    next = setImmediate(endTurn);
  };
  let next = setImmediate(endTurn);
  const error: unknown = await inspect(source, new AbortController().signal, {
    limits: { organisations: 100_000 },
  }).catch((reason: unknown) => reason);
  endTurn();
  clearImmediate(next);
  return { all: total(start), longest, isRefused: error instanceof Error };
}

const fields = [...new Map([...organisationFields.values()].map((field) => [field.name, field])).values()];
const lists = fields.filter(({ list }) => list).map(({ name }) => name);

/** The paths of the lists inside a message. */
function innerLists({ fields }: DescMessage, depth = 0): string[] {
  return fields.flatMap(({ fieldKind, message, jsonName }) => {
    const inner = message === undefined || depth > 4 ? [] : innerLists(message, depth + 1);
    return [...(fieldKind === 'list' ? [jsonName] : []), ...inner.map((path) => `${jsonName}.${path}`)];
  });
}

const nested = fields
  .filter(({ name }) => name !== 'org')
  .flatMap(({ name, list, schema }) => {
    const paths = schema === undefined ? [] : innerLists(schema);
    return paths.map((path) => ({ name, list, path: path.split('.'), title: `${name}.${path}` }));
  });

describe('three million empty entries', () => {
  it.each(['{}', '{"unknown":1}', 'null'])('are rejected at once in any section: %s', async (entry) => {
    for (const list of lists) {
      const start = `{"orgs":[{"orgId":"o","org":{"name":"o"},"${list}":[`;
      const { all, longest, isRefused } = await cost(() => repeated(start, entry, ENTRIES, ']}]}'));
      expect(isRefused, list).toBe(true);
      expect(all, list).toBeLessThan(MOST_US);
      expect(longest, list).toBeLessThan(TURN_US);
    }
  });

  it.each(nested)('are processed fast within a record, in $title', async ({ name, list, path }) => {
    for (const entry of ['{}', '""']) {
      const start = `"${name}":${list ? '[' : ''}${path.map((step) => `{"${step}":`).join('')}[`;
      const end = `]${path.map(() => '}').join('')}${list ? ']' : ''}`;
      const document = [`{"orgs":[{"orgId":"o",${start}`, `${end}}]}`] as const;
      const { all, longest } = await cost(() => repeated(document[0], entry, RECORD_ENTRIES, document[1]));
      expect(all).toBeLessThan(MOST_US);
      expect(longest).toBeLessThan(TURN_US);
    }
  });
});

it('more organisations than the limit of a file are rejected before any of them is read', async () => {
  const organisation = '{"orgId":"o","org":{"name":"o"}}';
  const some = await cost(() => repeated('{"orgs":[', organisation, CHUNK_ENTRIES, ']}'));
  const many = await cost(() => repeated('{"orgs":[', organisation, 120_000, ']}'));
  expect(some.isRefused).toBe(false);
  expect(many.isRefused).toBe(true);
  // Reading them would take five times as long as the first twenty thousand.
  expect(many.all).toBeLessThan(2 * some.all);
});

it.each(['secondFactors', 'multiFactors', 'idps'])('the %s of a v1 file are read in linear time', async (list) => {
  const entry = list === 'idps' ? '{"idpId":"i","ownerType":1}' : '{"type":1}';
  const read = (entries: number) => cost(() => repeated(`{"orgs":[{"orgId":"o","${list}":[`, entry, entries, ']}]}'));
  await read(CHUNK_ENTRIES);
  const [some, many] = [await read(2 * CHUNK_ENTRIES), await read(8 * CHUNK_ENTRIES)];
  expect(many.isRefused).toBe(false);
  // Four times as many take sixteen times as long in quadratic time.
  expect(many.all).toBeLessThan(8 * some.all);
});
