import type { DescMessage } from '@bufbuild/protobuf';
import { beforeAll, describe, expect, it } from 'vitest';
import { inspect } from '../../shared/exportFile/inspection.ts';
import { organisationFields } from '../../shared/organisation/recordSchema.ts';
import { sizes } from './support/sizes.ts';

const { listEntries, recordEntries } = sizes;
const CHUNK_ENTRIES = 5_000;
/** Enough entries for a measurable CPU time. */
const SOME_ENTRIES = 20_000;

function processorUs(work: () => unknown): number {
  const start = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(start);
  return user + system;
}

/** A limit in CPU time that does not depend on the machine's speed: what JSON.parse takes for many more entries. */
const MOST_US = 8 * processorUs(() => JSON.parse(`[${'{},'.repeat(9 * recordEntries)}{}]`));

function* repeated(start: string, entry: string, entries: number, end: string): Generator<Buffer> {
  yield Buffer.from(start + entry);
  const chunk = Buffer.from(`,${entry}`.repeat(CHUNK_ENTRIES));
  for (let sent = 1; sent < entries; sent += CHUNK_ENTRIES) yield chunk;
  yield Buffer.from(end);
}

/** The cost of inspecting a file: its CPU time, and the turns of the event loop during the inspection. */
async function cost(open: () => Generator<Buffer>) {
  const source = {
    isInRequest: true,
    open: async function* () {
      yield* open();
    },
  };
  let turns = 0;
  const countTurn = () => {
    turns++;
    next = setImmediate(countTurn);
  };
  let next = setImmediate(countTurn);
  const start = process.threadCpuUsage();
  const error: unknown = await inspect(source, new AbortController().signal, {
    limits: { organisations: 100_000 },
  }).catch((reason: unknown) => reason);
  const { user, system } = process.threadCpuUsage(start);
  clearImmediate(next);
  return { processorUs: user + system, turns, isRefused: error instanceof Error };
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

describe('many empty entries', () => {
  const costOf = (list: string, entry: string) => {
    const start = `{"orgs":[{"orgId":"o","org":{"name":"o"},"${list}":[`;
    return cost(() => repeated(start, entry, listEntries, ']}]}'));
  };
  let valid = 0;
  beforeAll(async () => {
    valid = (await costOf('domains', '{"domainName":"a"}')).processorUs;
  });

  it.each(lists)('take not much longer than small valid ones, in %s', async (list) => {
    for (const entry of ['{}', '{"unknown":1}', 'null']) {
      const { processorUs, turns, isRefused } = await costOf(list, entry);
      expect(isRefused, entry).toBe(false);
      // An invalid record is read twice, by a slower path than a valid one.
      expect(processorUs, entry).toBeLessThan(15 * valid);
      // Other requests are handled between any two chunks.
      expect(turns, entry).toBeGreaterThanOrEqual(listEntries / CHUNK_ENTRIES);
    }
  });

  it.each(nested)('are processed fast within a record, in $title', async ({ name, list, path }) => {
    for (const entry of ['{}', '""']) {
      const start = `"${name}":${list ? '[' : ''}${path.map((step) => `{"${step}":`).join('')}[`;
      const end = `]${path.map(() => '}').join('')}${list ? ']' : ''}`;
      const document = [`{"orgs":[{"orgId":"o",${start}`, `${end}}]}`] as const;
      const { processorUs } = await cost(() => repeated(document[0], entry, recordEntries, document[1]));
      expect(processorUs).toBeLessThan(MOST_US);
    }
  });
});

it('more organisations than the limit of a file are rejected before most of them are read', async () => {
  const organisation = '{"orgId":"o","org":{"name":"o"}}';
  const some = await cost(() => repeated('{"orgs":[', organisation, SOME_ENTRIES, ']}'));
  const many = await cost(() => repeated('{"orgs":[', organisation, 120_000, ']}'));
  expect(some.isRefused).toBe(false);
  expect(many.isRefused).toBe(true);
  // Reading them would take six times as long as reading the first twenty thousand.
  expect(many.processorUs).toBeLessThan(3 * some.processorUs);
});

it.each(['secondFactors', 'multiFactors', 'idps'])('the %s of a v1 file are read in linear time', async (list) => {
  const entry = list === 'idps' ? '{"idpId":"i","ownerType":1}' : '{"type":1}';
  const read = (entries: number) => cost(() => repeated(`{"orgs":[{"orgId":"o","${list}":[`, entry, entries, ']}]}'));
  await read(SOME_ENTRIES);
  const [some, many] = [await read(2 * SOME_ENTRIES), await read(8 * SOME_ENTRIES)];
  expect(many.isRefused).toBe(false);
  // In quadratic time, four times as many entries would take sixteen times as long.
  expect(many.processorUs).toBeLessThan(8 * some.processorUs);
});
