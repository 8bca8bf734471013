import { ScalarType } from '@bufbuild/protobuf';
import { describe, expect, it } from 'vitest';
import { fixedLimits } from '../../shared/limits.ts';
import { byteLimit } from '../../shared/organisation/lengthLimits.ts';
import type { ValueRule } from '../../shared/organisation/section.ts';
import { organisationSection, sections } from '../../shared/organisation/sections.ts';
import { type TestInstance, testInstance } from '../support/instances/testInstance.ts';
import { areMany } from '../support/repetitions.ts';
import { openTestStore, sqlite } from '../support/stores/stores.ts';
import { awkwardStrings } from '../support/strings/awkwardStrings.ts';
import { type FieldPlace, fieldPlaces, withValueAt } from '../support/strings/fieldPlaces.ts';

const BYTES = areMany ? 900_000 : 250_000;
/** Below this CPU time, imports are not compared: it varies by as much. */
const FLOOR_MS = 100;
/** The permitted ratio between the times of an awkward text and a harmless text of the same length. */
const MOST_TIMES = 20;
/** The permitted ratio between the times of the whole text and a quarter of it: 4 if linear, 16 if quadratic. */
const MOST_GROWTH = 8;

/** The rules of values that a place was chosen for. */
const rules = new Set<ValueRule>();

/** Whether the place, or what contains it, has a rule that no earlier place has. */
function hasNewRule({ section, steps }: FieldPlace): boolean {
  const { name, values = {} } = sections.find((one) => one.name === section) ?? organisationSection;
  const parts = name === organisationSection.name ? [name, ...steps] : steps;
  const pathOf = (length: number) => parts.slice(0, length).join('.').replaceAll('.0', '[]');
  const found = parts.flatMap((_, index) => {
    const rule = values[pathOf(index + 1)];
    return rule === undefined || rules.has(rule) ? [] : [rule];
  });
  for (const rule of found) rules.add(rule);
  return found.length > 0;
}

/** The fields of a file: all, or the first with each rule of values and a third of the others. */
const places = fieldPlaces
  // Fields of login texts have one definition, so a few represent all.
  .filter(({ section }, index) => section !== 'loginTexts' || index % 20 === 0)
  .filter((place, index) => areMany || hasNewRule(place) || index % 3 === 0);

type Send = (text: string) => Promise<unknown>;

/** Returns the CPU time of one call in this thread, in milliseconds: the minimum of several. */
async function processorTime(send: Send, text: string, calls = 1): Promise<number> {
  const times: number[] = [];
  for (let call = 0; call < calls; call++) {
    const before = process.threadCpuUsage();
    await send(text);
    const { user, system } = process.threadCpuUsage(before);
    times.push((user + system) / 1_000);
  }
  return Math.min(...times);
}

/** Names the awkward strings that take longer than their length explains. */
async function slowStrings(send: Send, strings = awkwardStrings, bytes = BYTES): Promise<string[]> {
  const slow: string[] = [];
  await send('a'.repeat(bytes));
  const harmless = await processorTime(send, 'a'.repeat(bytes));
  for (const { what, build } of strings) {
    if ((await processorTime(send, build(bytes))) < Math.max(FLOOR_MS, harmless)) continue;
    const whole = await processorTime(send, build(bytes), 3);
    const quarter = await processorTime(send, build(bytes / 4), 3);
    const isSlow =
      whole > MOST_TIMES * Math.max(harmless, FLOOR_MS) || (whole > FLOOR_MS && whole > MOST_GROWTH * quarter);
    if (isSlow) slow.push(`${what}: ${quarter.toFixed()} ms, four times as much ${whole.toFixed()} ms`);
  }
  return slow;
}

/** Strings that took minutes when a regular expression trimmed a text, or when it was normalised without a limit. */
const dearestNames = ['spaces inside', 'combining marks by turns', 'carriage returns in a PEM block'];
const dearest = awkwardStrings.filter(({ what }) => dearestNames.includes(what));

/** The strings for a field: all, or the most expensive and some others than those of neighbouring fields. */
function stringsOf(index: number, some: number): typeof awkwardStrings {
  if (areMany) return awkwardStrings;
  const others = awkwardStrings.filter((one) => !dearest.includes(one));
  const chosen = others.filter((_, position) => (position + index) % Math.floor(others.length / some) === 0);
  return [...dearest, ...chosen];
}

/** The number of characters that keeps a text below its field's limit, so that all code behind the limit reads it. */
function lengthBelowLimit({ field }: FieldPlace): number {
  const limit = field === undefined ? fixedLimits.indexedBytes : byteLimit(field);
  return field?.scalar === ScalarType.BYTES ? Math.floor(limit / 4) * 3 - 3 : limit - 1;
}

/** Truncates a text in its middle. */
function shortened(text: string, length: number): string {
  if (text.length <= length) return text;
  const half = Math.floor(length / 2);
  return text.slice(0, half) + text.slice(-half);
}

/** Sends a dry run whose file has a text in one field; in base64 where the field has bytes. */
function sendIn(instance: TestInstance, place: FieldPlace): Send {
  const isBytes = place.field?.scalar === ScalarType.BYTES;
  return async (text) => {
    const value = isBytes ? Buffer.from(text).toString('base64') : text;
    const sent = { dry_run: true, with_keys: true, data_orgs: { orgs: [withValueAt(place, value)] } };
    expect((await instance.attempt('import', sent)).status, place.title).toBeLessThan(500);
  };
}

const gcs = (field: string, text: string) => ({
  bucket: 'some-bucket',
  path: 'file.json',
  serviceaccount_json: 'e30=',
  [field]: text,
});
const objectFields = ['bucket', 'path', 'serviceaccount_json'];

/** Every text of a request, by its place, except the path and the query, which have at most 16 KB. */
const requestFields: readonly (readonly [string, (instance: TestInstance) => Send])[] = [
  ...(['import', 'export'] as const).flatMap((operation) => [
    ...['timeout', 'on_conflict'].map((field) => body(operation, field, (text) => ({ [field]: text }))),
    ...['org_ids', 'excluded_org_ids'].map((field) => body(operation, field, (text) => ({ [field]: [text] }))),
  ]),
  ...objectFields.flatMap((field) => [
    body('export', `gcs_output.${field}`, (text) => ({ gcs_output: gcs(field, text) })),
    body('import', `data_orgs_gcs.${field}`, (text) => ({ data_orgs_gcs: gcs(field, text) })),
  ]),
  ...['data_orgs', 'data_orgsv1'].map((field) => body('import', field, (text) => ({ [field]: text }))),
  [
    'RemoveOTPEmail: userId',
    (instance) => async (userId) => {
      const headers = { authorization: `Bearer ${instance.token}`, 'content-type': 'application/json' };
      const init = { method: 'POST', headers, body: JSON.stringify({ userId }) };
      const response = await instance.app.request('/zitadel.user.v2.UserService/RemoveOTPEmail', init);
      expect(response.status).toBeLessThan(500);
    },
  ],
];

function body(operation: 'import' | 'export', field: string, bodyWith: (text: string) => object) {
  const sender = (instance: TestInstance) => async (text: string) => {
    expect((await instance.attempt(operation, bodyWith(text))).status).toBeLessThan(500);
  };
  return [`${operation}: ${field}`, sender] as const;
}

describe(`awkward texts of ${BYTES} bytes, and texts just below their limits`, () => {
  it('take no more time than their length explains, in any field of a file', async () => {
    const instance = await testInstance(await openTestStore(sqlite));
    const slow: string[] = [];
    for (const [index, place] of places.entries()) {
      const send = sendIn(instance, place);
      const length = lengthBelowLimit(place);
      const below = ({ what, build }: (typeof awkwardStrings)[number]) => ({
        what,
        build: (most: number) => shortened(build(2 * most), most),
      });
      const found = [
        ...(await slowStrings(send, stringsOf(index, 1))),
        ...(await slowStrings(send, stringsOf(index, 8).map(below), length)),
      ];
      slow.push(...found.map((what) => `${place.title}: ${what}`));
    }
    expect(slow).toEqual([]);
  });

  it.each(requestFields)('take no more time than their length explains in a request: %s', async (_name, sender) => {
    const instance = await testInstance(await openTestStore(sqlite));
    expect(await slowStrings(sender(instance))).toEqual([]);
  });
});
