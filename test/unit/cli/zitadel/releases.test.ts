import { describe, expect, it, onTestFinished } from 'vitest';
import { ImportFacts } from '../../../../cli/records/importFacts.ts';
import type { RecordDifference } from '../../../../cli/records/runDatabase.ts';
import { isNeverExported, zitadelReason } from '../../../../cli/zitadel/expectedDifferences.ts';
import { TemporaryDatabase } from '../../../../shared/collections/temporaryDatabase.ts';
import { defined } from '../../../../shared/defined.ts';
import { recordSection } from '../../../../shared/organisation/allSections.ts';
import { readRecord } from '../../../../shared/organisation/record.ts';
import { importLoss, unexportedContent, type ZitadelBehaviour } from '../../../../shared/organisation/zitadelFacts.ts';
import { allReleases, contains, overlap, type ReleaseRange } from '../../../../shared/organisation/zitadelReleases.ts';
import type { ZitadelRelease } from '../../../../shared/organisation/zitadelReleaseTable.ts';

const some: readonly (ZitadelRelease | undefined)[] = [undefined, '2', '3', '4', 'July 2026'];
const ranges = some.flatMap((since) =>
  some.map((until): ReleaseRange => ({ ...(since && { since }), ...(until && { until }) })),
);
/** Each range of a fact, with each range of releases of a target. */
const pairs = ranges.filter(isRange).flatMap((fact) => ranges.filter(isRange).map((releases) => ({ fact, releases })));

function isRange(range: ReleaseRange): boolean {
  return overlap(range, range);
}

/** Declares facts about a section for the rest of a test. */
function declare(name: string, zitadel: ZitadelBehaviour) {
  const section = recordSection(name);
  const before = section.zitadel;
  onTestFinished(() => {
    Object.assign(section, { zitadel: before });
  });
  Object.assign(section, { zitadel });
  return section;
}

const text = 'an invented fact';
const provider = { idpId: '51', idp: { name: 'one' } };
/** The facts of an empty file for ZITADEL of some releases. */
const noFacts = (releases: ReleaseRange) =>
  new ImportFacts(new TemporaryDatabase(''), { releases, omitsHashes: false });
const first = (loss?: string) => ({ body: '{}', secrets: {}, ...defined({ loss }) });
const lost = (section: string, id: string): RecordDifference => ({ outcome: 'onlyFirst', section, orgId: 'acme', id });

describe.each(pairs)('a fact about the releases $fact and a ZITADEL of $releases', ({ fact, releases }) => {
  const [isCertain, mayHold] = [contains(fact, releases), overlap(fact, releases)];
  const side = { side: 'second', releases, domains: [] } as const;

  it('withholds a record if it certainly holds, and explains its loss if it may hold', () => {
    const section = declare('oidcIdps', { records: [{ ...fact, does: 'imports not', text, when: () => true }] });
    const imports = noFacts(releases);
    const record = readRecord(section, provider, 'acme');
    const loss = imports.note(record);
    expect(imports.isLost(record)).toBe(isCertain);
    expect(imports.hasProvider('acme', '51')).toBe(!isCertain);
    const zitadel = { ...side, imports };
    expect(zitadelReason(lost('oidcIdps', '51'), zitadel, first(loss))).toBe(mayHold ? text : undefined);
    const link = { body: JSON.stringify({ idpId: '51' }), secrets: {} };
    const isLinkExplained = zitadelReason(lost('userLinks', '1_51'), zitadel, link) !== undefined;
    expect(isLinkExplained).toBe(mayHold);
    const field = { path: 'idps', first: [{ idpId: '51' }] };
    const policy = { ...lost('loginPolicy', 'acme'), outcome: 'different', fields: [field] } as const;
    expect(zitadelReason(policy, zitadel) !== undefined).toBe(mayHold);
  });

  it('does not distinguish names by case if it holds', () => {
    const section = declare('projects', {
      caseless: { ...fact, kind: 'project', scope: '$orgId', name: 'project.name' },
    });
    const imports = noFacts(releases);
    const add = (projectId: string, name: string) =>
      imports.note(readRecord(section, { projectId, project: { name } }, 'acme'));
    expect(add('1', 'shop')).toBeUndefined();
    const loss = first(add('2', 'Shop'));
    expect(zitadelReason(lost('projects', '2'), { ...side, imports }, loss) !== undefined).toBe(mayHold);
  });

  it('explains the loss of a field if it may hold', () => {
    const { zitadel } = recordSection('humanUsers');
    const declared = declare('humanUsers', {
      ...zitadel,
      fields: [{ ...fact, does: 'imports not', fields: ['user.profile.nickName'], text }],
    });
    const fields = [{ path: 'user.profile.nickName', first: 'Ada' }];
    const difference = { ...lost('humanUsers', '1'), outcome: 'different', fields } as const;
    expect(zitadelReason(difference, side)).toBe(mayHold ? text : undefined);
    expect(importLoss(declared.zitadel ?? {}, 'user.profile.nickName', releases)).toBe(mayHold ? text : undefined);
  });

  it('explains that exports lack a record, or have a record more, if it may hold', () => {
    declare('actions', { records: [{ ...fact, does: 'exports not', text }] });
    expect(isNeverExported({ section: 'actions', id: '1' }, releases)).toBe(mayHold);
    expect(zitadelReason(lost('actions', '1'), side)).toBe(mayHold ? text : undefined);
    declare('projects', { records: [{ ...fact, does: 'adds', text, when: () => true }] });
    const added = { ...lost('projects', '1'), outcome: 'onlySecond' } as const;
    expect(zitadelReason(added, side)).toBe(mayHold ? text : undefined);
    declare('userMetadata', { records: [{ ...fact, does: 'changes', text }] });
    expect(zitadelReason(lost('userMetadata', '1'), side)).toBe(mayHold ? text : undefined);
  });
});

it('lists the fields that exports of some releases lack', () => {
  const { zitadel = {} } = recordSection('loginPolicy');
  const fields = (zitadel.fields ?? []).map((fact) => ({ ...fact, until: '3' }) as const);
  expect(unexportedContent({ fields }, { since: '4' })).toEqual([]);
  expect(unexportedContent({ fields }, allReleases)).toContain('`disableLoginWithEmail`');
});
