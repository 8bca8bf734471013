import { describe, expect, it } from 'vitest';
import { initialise } from '../../../shared/accounts/initialise.ts';
import { warn } from '../../../shared/errors/warnings.ts';
import { valueAt } from '../../../shared/json/jsonObject.ts';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { servedInstance } from '../../support/instances/testInstance.ts';
import { openTestStore } from '../../support/stores/stores.ts';
import { importIntoStandIn } from '../../support/zitadel/connect.ts';
import { people } from '../../support/zitadel/files.ts';
import { importsOf, startZitadel, type ZitadelStandIn } from '../../support/zitadel/standIn.ts';

/** Imports organisations, and expects no error. */
async function imported(...[zitadel, content]: Parameters<typeof importIntoStandIn>) {
  const { errors, summary } = await importIntoStandIn(zitadel, content);
  expect(errors).toBeUndefined();
  return summary;
}

const imports = (zitadel: ZitadelStandIn) => importsOf(zitadel).filter(({ orgId }) => orgId === undefined);
const sectionOf = (zitadel: ZitadelStandIn, section: string) =>
  zitadel.contents.organisations.get('1')?.sections.get(section);
const seedOf = ({ contents }: ZitadelStandIn, userId = '') =>
  valueAt(contents.find('1', 'humanUsers', userId) ?? {}, 'user.otpCode');
const ofSecrets = (warnings: readonly { readonly type: string }[]) =>
  warnings.filter(({ type }) => ['secrets', 'not_compared'].includes(type));

describe('an import into a ZITADEL', () => {
  it('fills requests up to 4,000,000 bytes of protobuf', async () => {
    const zitadel = await startZitadel();
    const actions = Array.from({ length: 150 }, (_, index) => ({
      actionId: `7${index}`,
      action: { name: `a${index}`, script: 'x'.repeat(39_000), timeout: '10s' },
    }));
    await imported(zitadel, [organisation('1', { actions })]);
    const sizes = imports(zitadel).flatMap(({ bytes = 0, records = 0 }) => (records > 0 ? [bytes] : []));
    expect(sizes).toHaveLength(2);
    for (const bytes of sizes) expect(bytes).toBeLessThanOrEqual(4_000_000);
    expect(sizes[0]).toBeGreaterThan(3_950_000);
  });

  it.each([true, false])(
    'warns of organisations that depend on the default of the source, unless the ZITADEL has it: %s',
    async (loginNamesByDomain) => {
      const zitadel = await startZitadel({ loginNamesByDomain });
      const store = await openTestStore();
      const owner = await initialise(store, { name: 'source', loginNamesByDomain: true }, 60_000, new Date());
      const source = servedInstance(store, owner);
      await source.import({ data_orgs: { orgs: [organisation('1', { humanUsers: [person('anna')] })] } });
      const content = JSON.stringify(await source.export());
      const { warnings } = (await importIntoStandIn(zitadel, content)).summary;
      expect(warnings.some(({ reason }) => reason === 'login_names_differ')).toBe(!loginNamesByDomain);
    },
  );

  it('writes texts of messages in the context of their organisation, as soon as the ZITADEL shows it', async () => {
    const isAsked = () => waits().some(({ status }) => status === 403);
    const zitadel: ZitadelStandIn = await startZitadel({ now: () => (isAsked() ? Infinity : 0) });
    const waits = () => zitadel.requests.filter(({ path }) => path.endsWith('/GetMyOrg'));
    const texts = (title: string) => ({ initMessages: [{ language: 'en', title }] });
    await imported(zitadel, [organisation('1', texts('One')), organisation('2', texts('Two'))]);
    const titles = ['1', '2'].map((id) => zitadel.contents.find(id, 'initMessages', 'en')?.title);
    expect(titles).toEqual(['One', 'Two']);
    expect(isAsked()).toBe(true);
  });

  it('halves requests that end at their deadline, and does not report what they had written', async () => {
    const zitadel = await startZitadel({ recordsPerSecond: 2 });
    const { created, unchanged } = await imported(zitadel, [organisation('1', { humanUsers: people(400) })]);
    expect({ created, unchanged }).toEqual({ created: { org: 1, humanUsers: 400 }, unchanged: {} });
    expect(sectionOf(zitadel, 'humanUsers')?.size).toBe(400);
    const statuses = imports(zitadel).map(({ status }) => status);
    expect(statuses).toContain(500);
    // Later requests begin with the smaller size.
    expect(statuses.lastIndexOf(500)).toBeLessThan(statuses.length - 1);
  });

  it('sends a TOTP seed that did not arrive with its person, and does not count a person without the seed as unchanged', async () => {
    // The process dies when the organisation and the person are written, before the seed.
    const zitadel = await startZitadel({ lagMs: 0, diesAtWrite: 3, deadMs: undefined });
    const content = [organisation('1', { humanUsers: people(2) })];
    await expect(importIntoStandIn(zitadel, content)).rejects.toThrow('cannot be reached');
    zitadel.revive();
    const seed = () => seedOf(zitadel, people(1)[0]?.userId);
    expect(seed()).toBeUndefined();
    const notCompared = (people: string) => ({ type: 'not_compared', ...warn('secrets_not_compared', { people }) });
    const tried = (await importIntoStandIn(zitadel, content, { dryRun: true })).summary;
    expect(tried).toMatchObject({ created: { humanUsers: 1 }, unchanged: { org: 1 }, overwritten: { humanUsers: 1 } });
    const { created, unchanged, overwritten, warnings } = await imported(zitadel, content);
    expect({ created, unchanged, overwritten }).toEqual({
      created: { humanUsers: 1 },
      unchanged: { org: 1 },
      overwritten: { humanUsers: 1 },
    });
    const sent = warn('seeds_sent', { people: '1 person', outcome: 'was sent' });
    expect(ofSecrets(warnings)).toEqual([{ type: 'secrets', ...sent }, notCompared('1 person')]);
    expect(seed()).toBe('JBSWY3DPEHPK3PXP');
    const again = await imported(zitadel, content);
    expect(again).toMatchObject({ created: {}, unchanged: { org: 1, humanUsers: 2 } });
    expect(ofSecrets(again.warnings)).toEqual([notCompared('2 people')]);
    expect(again.overwritten).toBeUndefined();
  });

  it('ends at once when its signal aborts', async () => {
    const zitadel = await startZitadel();
    const controller = new AbortController();
    const running = importIntoStandIn(zitadel, [organisation('1', { humanUsers: people(10) })], {
      onStarted: () => controller.abort(),
      signal: controller.signal,
    });
    await expect(running).rejects.toThrow();
    expect(imports(zitadel)).toEqual([]);
  });
});
