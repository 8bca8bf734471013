import { describe, expect, it } from 'vitest';
import { noticeMessage } from '../../cli/terminal/notices.ts';
import { valueAt } from '../../shared/json/jsonObject.ts';
import type { Organisation } from '../support/fixtures/organisations.ts';
import type { Release } from '../support/zitadel/behaviour.ts';
import { importIntoStandIn } from '../support/zitadel/connect.ts';
import { filledZitadel } from '../support/zitadel/placeOfZitadel.ts';
import { importsOf, type ZitadelStandIn } from '../support/zitadel/standIn.ts';
import { zitadelOrganisations } from './importRows.ts';
import { type Row, rows } from './zitadelImport.ts';

const soon = { attempts: () => 2, initialDelayMs: 1, maxDelayMs: 1 };

type Report = Awaited<ReturnType<typeof importIntoStandIn>>;
type Note = NonNullable<Report['errors']>[number] | Report['summary']['warnings'][number];

const outcomes = ['created', 'unchanged', 'overwritten', 'skipped', 'failed', 'notCarried', 'unconfirmed'] as const;

/** A note with its reason and parameters, without times and names of organisations. */
function noted({ type, id, reason, params = {} }: Note): string {
  const values = Object.values(params).map((value) =>
    value.replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/, 'TIME').replace(/(\S+) \(Organisation \1\)/, '$1'),
  );
  return `${type} ${id}: ${reason}${values.length === 0 ? '' : ` (${values.join(', ')})`}`;
}

/** A report as rows have it. */
function reported({ errors = [], elsewhere = [], summary }: Report): string[] {
  const counts = outcomes.flatMap((outcome) => {
    const entries = Object.entries(summary[outcome] ?? {}).map(([section, count]) => `${section} ${count}`);
    return entries.length === 0 ? [] : [`${outcome} ${entries.join(', ')}`];
  });
  return [...counts, ...errors.map(noted), ...elsewhere.map((error) => `elsewhere ${noted(error)}`)];
}

/** The message of an error that the command has found is the text of its reason; other messages are ZITADEL's. */
function expectTexts({ errors = [] }: Report): void {
  for (const error of errors)
    if (!/Message=|failed validation|^invalid /.test(error.message))
      expect(error.message).toBe(noticeMessage({ ...error, message: '' }));
}

/** The parts of a row's text, whose lines may be broken anywhere. */
const parts = (text: string) => text.replaceAll(/\s+/g, ' ').split(' | ');

/** The changes by the caller of what did not begin in the organisations of the file, as one text. */
function foreignEvents({ contents }: ZitadelStandIn, since: number, orgs: readonly Organisation[]): string {
  const { events } = contents.log;
  const isInFile = (owner = '') => orgs.some(({ orgId }) => orgId === owner);
  const isForeign = ({ owner, aggregateType, aggregateId }: (typeof events)[number]) =>
    !isInFile(owner) ||
    !isInFile(events.find((one) => one.aggregateType === aggregateType && one.aggregateId === aggregateId)?.owner);
  const found = events.slice(since).filter((event) => event.editorId === 'owner' && isForeign(event));
  return found.map(({ type, aggregateId }) => `${type} ${aggregateId}`).join(', ');
}

function expectLeft({ contents }: ZitadelStandIn, facts: string): void {
  for (const fact of facts.split('; ')) {
    const [orgId = '', section = '', key = '', field] = fact.replace('!', '').split(' ');
    const record = contents.find(orgId, section, key);
    expect(record === undefined, fact).toBe(fact.startsWith('!'));
    const [path = '', value] = field?.split('=') ?? [];
    if (value !== undefined) expect(String(valueAt(record ?? {}, path) ?? 'none'), fact).toBe(value);
  }
}

async function expectRow(row: Row, release: Release) {
  const { on, stored = '-', own, before, during, file, onConflict = 'report', leaves } = row;
  const { says = '', dry = says, again, warns, foreign = '' } = row;
  const { zitadel } = await filledZitadel(zitadelOrganisations(stored), { release, ...on });
  // The automatic domain of an organisation is below this one.
  const place = { url: zitadel.url.replace('127.0.0.1', 'localhost') };
  if (own !== undefined) expect((await importIntoStandIn(place, zitadelOrganisations(own))).errors).toBeUndefined();
  before?.(zitadel);
  const [sent, since] = [importsOf(zitadel).length, zitadel.contents.log.events.length];
  const orgs = zitadelOrganisations(file);
  const attempt = (dryRun: boolean) =>
    importIntoStandIn(place, orgs, {
      onConflict,
      dryRun,
      polls: soon,
      ...(dryRun || during === undefined ? {} : { onStarted: () => during(zitadel) }),
    });
  if (row.throws !== undefined) {
    await expect(attempt(false)).rejects.toThrow(row.throws);
    return;
  }
  const tried = await attempt(true);
  expect(importsOf(zitadel)).toHaveLength(sent);
  expect(reported(tried)).toEqual(parts(dry));
  const report = await attempt(false);
  expect(reported(report)).toEqual(parts(says));
  expectTexts(report);
  for (const { summary } of [tried, report]) {
    const ofRecords = summary.warnings.filter(({ id }) => id !== undefined);
    if (warns !== undefined) expect(ofRecords.map(noted).toSorted()).toEqual(parts(warns));
  }
  expect(foreignEvents(zitadel, since, orgs)).toBe(parts(foreign).join());
  if (leaves !== undefined) expectLeft(zitadel, leaves);
  if (again !== undefined) expect(reported(await attempt(false))).toEqual(parts(again));
}

describe('an import into a ZITADEL', () => {
  const cases = Object.entries(rows).flatMap(([name, row]) =>
    (row.releases ?? ['4.0' as const]).map((release) => ({ name, row, release })),
  );
  it.each(cases)('$name ($release)', ({ row, release }) => expectRow(row, release));
});
