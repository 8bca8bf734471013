import { describe, expect, it } from 'vitest';
import { identifyingId } from '../../../../functions/import/plan/earlierRecords.ts';
import { InspectedRecords } from '../../../../functions/import/plan/inspectedRecords.ts';
import { sections } from '../../../../shared/organisation/allSections.ts';
import type { RecordPlan } from '../../../../shared/organisation/recordPlan.ts';
import { person, plan, project } from '../../../support/import/batches.ts';

/** Returns the ids of the records that are kept of a file with one organisation. */
async function keptOf(plans: readonly RecordPlan[], isStored: () => Promise<boolean>): Promise<readonly string[]> {
  const inspected = new InspectedRecords(isStored);
  for (const [index, { record }] of plans.entries())
    inspected.add(record, undefined, ['orgs', 0, record.section.name, index]);
  await new Promise(setImmediate);
  return inspected.of(new Set(sections)).map(({ key }) => key.id);
}

describe('the records that an inspection keeps', () => {
  const stored = async () => true;

  it('are those about which only equality decides', async () => {
    const clear = plan('humanUsers', { userId: 'clear', user: { userName: 'c', password: 'Password1!' } });
    const domain = plan('domains', { domainName: 'a.example' });
    const key = plan('appKeys', { id: 'key', appId: 'A', projectId: 'P', publicKey: 'eA==' });
    expect(await keptOf([project('1', 'one'), person('2', 'two'), clear, domain, key], stored)).toEqual(['1', '2']);
  });

  it('have ids that no other record of the file has', async () => {
    const plans = [project('1', 'one'), project('2', 'two'), project('1', 'three'), project('1', 'one')];
    expect(await keptOf(plans, stored)).toEqual(['2']);
  });

  it('are no user grants that the file has with and without a project grant', async () => {
    const grant = { userId: 'U', projectId: 'P', roleKeys: ['r'] };
    const plans = [grant, { ...grant, projectGrantId: 'G' }, { ...grant, userId: 'V' }];
    expect(
      await keptOf(
        plans.map((value) => plan('userGrants', value)),
        stored,
      ),
    ).toEqual(['O|V|P|']);
  });

  it('are found by the keys under which they are stored', () => {
    const inspected = new InspectedRecords(stored);
    const grant = plan('userGrants', { userId: 'U', projectId: 'P', roleKeys: ['r'] });
    for (const [index, { record }] of [project('1', 'one'), grant].entries())
      inspected.add(record, undefined, ['orgs', 0, record.section.name, index]);
    expect(inspected.find({ collection: 'projects', id: '1' })?.digest).toBe(project('1', 'one').record.digest);
    for (const id of ['1', grant.key.id, identifyingId(grant.record)])
      expect(inspected.find({ collection: 'userGrants', id })).toBeUndefined();
  });

  it('are no triggers, which a file may name in two ways', async () => {
    const trigger = plan('triggerActions', { flowType: '1', triggerType: '1', actionIds: ['A'] });
    expect(await keptOf([trigger], stored)).toEqual([]);
  });

  it.each([
    ['is new', async () => false],
    ['is unknown, because the database does not answer', () => Promise.reject(new Error('no answer'))],
  ])('are none if the first organisation %s', async (_when, isStored) => {
    expect(await keptOf([project('1', 'one')], isStored)).toEqual([]);
  });
});
