import { describe, expect, it } from 'vitest';
import type { DoneRecords, ImportMeter } from '../../../cli/exports/placeInterfaces.ts';
import { organisation, zitadelRequest } from '../../support/fixtures/organisations.ts';
import { importIntoStandIn } from '../../support/zitadel/connect.ts';
import { people } from '../../support/zitadel/files.ts';
import { importsOf, startZitadel } from '../../support/zitadel/standIn.ts';

const text = (language: string, title?: string) => ({ language, title });

describe('an import into a ZITADEL', () => {
  it('reads a file of 2,000 people with records of every kind once, although some ids are taken', async () => {
    const zitadel = await startZitadel({ lagMs: 0 });
    await importIntoStandIn(zitadel, [organisation('other', { humanUsers: people(5) })]);
    const content = [...zitadelRequest('import-request'), organisation('acme', { humanUsers: people(2_000) })];
    let passes = 0;
    const { summary } = await importIntoStandIn(zitadel, content, { onOpened: () => passes++ });
    expect(summary).toMatchObject({ created: { org: 3, humanUsers: 2_005 }, failed: { humanUsers: 5 } });
    expect(passes).toBe(1);
  });

  it('reads a v1 file twice, whose lists of the login policy follow the policy', async () => {
    const zitadel = await startZitadel();
    const content = [
      organisation('acme', { loginPolicy: { allowUsernamePassword: true }, secondFactors: [{ type: 1 }] }),
    ];
    let passes = 0;
    const { errors, summary } = await importIntoStandIn(zitadel, content, { onOpened: () => passes++ });
    expect({ errors, ...summary }).toMatchObject({ errors: undefined, created: { org: 1, loginPolicy: 1 } });
    expect(zitadel.contents.find('acme', 'loginPolicy', 'acme')).toMatchObject({
      secondFactors: ['SECOND_FACTOR_TYPE_OTP'],
    });
    expect(passes).toBe(2);
  });

  it('begins with requests that are soon answered, and doubles them up to the limit', async () => {
    const zitadel = await startZitadel();
    await importIntoStandIn(zitadel, [organisation('acme', { humanUsers: people(9_000) })]);
    const sizes = importsOf(zitadel).flatMap(({ records = 0 }) => (records > 0 ? [records] : []));
    expect(sizes).toEqual([500, 1_000, 2_000, 4_000, 1_500]);
  });

  it('reports after each request how many of the records that it carries are settled', async () => {
    const zitadel = await startZitadel({ lagMs: 0 });
    await importIntoStandIn(zitadel, [organisation('acme', { humanUsers: people(20) })]);
    let settled = (): DoneRecords | undefined => undefined;
    let first: DoneRecords | undefined;
    const content = [organisation('acme', { humanUsers: people(30), verifyPhoneMessages: [text('en', 'Verify')] })];
    await importIntoStandIn(zitadel, content, {
      onPhase: (phase, done) => {
        if (phase !== 'importing' || done === undefined) return;
        settled = done;
        first = done();
      },
    });
    expect(first).toEqual({ records: 21, unchanged: 21, total: 31 });
    expect(settled()).toEqual({ records: 31, unchanged: 21, total: 31 });
  });
});

it('the progress of a comparison counts the people whose TOTP seed is looked up', async () => {
  const compared: { readonly records: number; readonly total: number }[] = [];
  let read = () => ({ records: 0, total: 0 });
  const zitadel = await startZitadel({
    lagMs: 0,
    losesContext: (path) => {
      if (path.endsWith('ListEvents')) compared.push(read());
      return false;
    },
  });
  const content = [organisation('acme', { humanUsers: people(200) })];
  await importIntoStandIn(zitadel, content);
  const onPhase: ImportMeter['onPhase'] = (phase, done = read) => {
    if (phase === 'comparing') read = done;
  };
  await importIntoStandIn(zitadel, content, { onPhase });
  // What was read of the target counts as done.
  const remaining = ({ records, total }: ReturnType<typeof read>) => total - records;
  expect(compared.filter(({ total }) => total > 0).map(remaining)).toEqual([20]);
  expect(read().records).toBeGreaterThan(201);
  expect(remaining(read())).toBe(0);
});
