import { expect, it, onTestFinished, vi } from 'vitest';
import { zitadelReason } from '../../../../cli/zitadel/expectedDifferences.ts';
import { readReleases } from '../../../../cli/zitadel/zitadelInstance.ts';
import { recordSection } from '../../../../shared/organisation/allSections.ts';
import { stepRow } from '../../../../shared/organisation/zitadelFacts.ts';
import {
  allReleases,
  describeKnownReleases,
  type ReleaseRange,
  signedReleases,
} from '../../../../shared/organisation/zitadelReleases.ts';
import { zitadelReleases } from '../../../../shared/organisation/zitadelReleaseTable.ts';
import { errorsDocument } from '../../../../tools/docs/errorsDocument.ts';
import { startServer } from '../../../support/places/fakeInstance.ts';

vi.hoisted(() => vi.resetModules());

/** The table of the product, with an invented release whose number no release has. */
vi.mock('../../../../shared/organisation/zitadelReleaseTable.ts', async (importOriginal) => {
  const original = await importOriginal<typeof import('../../../../shared/organisation/zitadelReleaseTable.ts')>();
  const invented = {
    ...original.zitadelReleases.at(-1),
    name: '1000',
    major: 1000,
    sign: { field: 'orgColour', organisation: { orgColour: [] } },
  };
  return { zitadelReleases: [...original.zitadelReleases, invented] };
});

const [before, invented] = [nameAt(-2), nameAt(-1)];

function nameAt(index: number) {
  const release = zitadelReleases.at(index);
  if (release === undefined) throw new Error('the table has too few releases');
  return release.name;
}

/** The known fields that distinguish releases, the newest first, and the known releases that each field recognises. */
const [newest, ...others] = signedReleases().newestFirst.slice(1);
const knownSigns = [newest, ...others].map((group) => group?.sign.field ?? '');
const { oldest } = signedReleases();

/** Starts a server whose imports have the given fields, and recognises its release. */
async function recognise(fields: readonly string[], version?: string, otherStatus = 401) {
  const origin = await startServer(async (request, response) => {
    const body = Buffer.concat(await Array.fromAsync(request)).toString();
    response.writeHead(fields.some((field) => body.includes(`"${field}"`)) ? 400 : otherStatus).end();
  });
  const { releases, assumption } = await readReleases({ origin, signal: new AbortController().signal }, version);
  return { releases, assumption: assumption?.message };
}

it('is recognised by its sign, as its predecessors are without it', async () => {
  expect(await recognise([...knownSigns, 'orgColour'], 'v1000.0.1')).toEqual({ releases: { since: invented } });
  expect(await recognise(knownSigns, 'v4.13.1')).toEqual({ releases: newest?.releases });
  expect(newest?.releases).toMatchObject({ until: before });
  expect(await recognise([])).toEqual({ releases: oldest });
});

it('is narrowed by a version to its major release', async () => {
  expect(await recognise([], 'v2.71.19')).toEqual({ releases: { until: '2' } });
  expect(await recognise([], '3.4.1')).toEqual({ releases: { since: '3', until: '3' } });
  expect(await recognise([], 'v4.0.0')).toEqual({ releases: oldest });
});

it('is assumed for a newer version with the same fields', async () => {
  const assumed = 'this command does not know ZITADEL 1001.0.0, and assumes that it behaves like ZITADEL';
  expect(await recognise([...knownSigns, 'orgColour'], '1001.0.0')).toEqual({
    releases: { since: invented },
    assumption: `${assumed} in release 1000, because imports of both have the field orgColour`,
  });
  expect((await recognise(knownSigns, '1001.0.0')).assumption).toBe(
    `${assumed} ${describeKnownReleases(newest?.releases ?? {})}, because imports of both have the field ${newest?.sign.field}`,
  );
  expect((await recognise([], '1001.0.0')).assumption).toBe(
    `${assumed} ${describeKnownReleases(oldest)}, because imports of both lack the field ${knownSigns.at(-1)}`,
  );
});

it('is not assumed if a proxy answers in place of ZITADEL', async () => {
  expect(await recognise([], '4.13.1', 403)).toEqual({
    releases: allReleases,
    assumption:
      'POST /admin/v1/import without a token returns 403 instead of 400 or 401, so the release of ZITADEL is unknown, and this command considers the behaviour of every release',
  });
});

it('has the facts that are declared for it, in plans, proofs and documents', () => {
  const section = recordSection('actions');
  const { zitadel } = section;
  onTestFinished(() => {
    Object.assign(section, { zitadel });
  });
  const text = 'ZITADEL paints this record';
  const step = { reason: 'record_painted', remedy: 'wash it' };
  const fact = { does: 'imports not', since: invented, text, steps: [step] } as const;
  Object.assign(section, { zitadel: { records: [fact] } });
  const lost = { outcome: 'onlyFirst', section: 'actions', orgId: 'acme', id: '1' } as const;
  const reasonIn = (releases: ReleaseRange) => zitadelReason(lost, { side: 'second', releases, domains: [] });
  expect([reasonIn(allReleases), reasonIn({ until: before })]).toEqual([text, undefined]);
  expect(stepRow({ text, since: invented }, step).text).toBe(`from release 1000 on, ${text}`);
  expect(errorsDocument()).toContain('`record_painted`');
});
