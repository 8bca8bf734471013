import { expect, it } from 'vitest';
import type { ImportMeter, ImportSettled, PlaceImportOptions } from '../../../../cli/exports/placeInterfaces.ts';
import { importParts } from '../../../../cli/places/importParts.ts';
import { once } from '../../../../shared/async.ts';
import { inspect } from '../../../../shared/exportFile/inspection.ts';
import { organisation, person } from '../../../support/fixtures/organisations.ts';

const { signal } = new AbortController();
const people = Array.from({ length: 60 }, (_, number) => person(`P${number}`));
const bytes = Buffer.from(JSON.stringify({ orgs: [organisation('acme', { humanUsers: people })] }));
const content = { isRepeatable: true, open: () => once(bytes), [Symbol.asyncDispose]: async () => {} };
const options: PlaceImportOptions = {
  orgIds: [],
  excludedOrgIds: [],
  withKeys: false,
  onConflict: 'report',
  newOrgsOnly: false,
  dryRun: false,
  ids: true,
  timeoutMs: undefined,
};

it('an import in parts reports the settled records of all parts, within each part and between parts', async () => {
  let settled = (): ImportSettled => ({ records: 0, unchanged: 0, total: 0 });
  const onStarted: ImportMeter['onStarted'] = (read) => {
    settled = read;
  };
  let expected = 0;
  const progress: [number, number][] = [];
  const ids = new Set<string | undefined>();
  const send = async (part: Uint8Array, { importId }: { readonly importId?: string | undefined }, of: ImportMeter) => {
    ids.add(importId);
    progress.push([settled().records, expected]);
    const { counts } = await inspect({ open: () => once(part) }, signal);
    const records = counts.humanUsers ?? 0;
    const isFirst = progress.length === 1;
    expected += records + Number(isFirst);
    of.onStarted(() => ({ records: records + Number(isFirst), unchanged: 0, total: 0 }));
    progress.push([settled().records, expected]);
    const created = isFirst ? { ...counts, org: 1 } : counts;
    const unchanged = isFirst ? {} : { org: 1 };
    const success = { orgs: [{ orgId: 'acme' }] };
    return { success, summary: { created, unchanged, failed: {}, notCarried: {}, warnings: [], proved: true } };
  };
  const target = { origin: 'https://id.example.com', requestBytes: 8_000, send };
  const { summary } = await importParts(
    target,
    content,
    options,
    { onBegun: () => {}, onStarted, onWait: () => {} },
    signal,
  );
  expect(progress.length).toBeGreaterThan(4);
  for (const [reported, settledBefore] of progress) expect(reported).toBe(settledBefore);
  expect(settled()).toMatchObject({ records: 61, total: 61 });
  expect(summary).toMatchObject({ created: { org: 1, humanUsers: 60 }, unchanged: {} });
  expect([...ids]).toEqual([expect.stringMatching(/^\d{9}$/)]);
});

it('an import in parts counts the omitted warnings of all parts beside its own warnings', async () => {
  const summary = {
    created: {},
    unchanged: {},
    failed: {},
    notCarried: {},
    warnings: [],
    warningsOmitted: 3,
    proved: true,
  };
  let parts = 0;
  const send = async () => {
    parts++;
    return { success: {}, summary };
  };
  const target = { origin: 'https://id.example.com', requestBytes: 8_000, send };
  const meter = { onBegun: () => {}, onStarted: () => {}, onWait: () => {} };
  const selected = { ...options, orgIds: ['acme', 'missing'] };
  const response = await importParts(target, content, selected, meter, signal);
  expect(response.summary.warnings).toContainEqual(expect.objectContaining({ id: 'missing' }));
  expect(response.summary.warningsOmitted).toBe(3 * parts);
});
