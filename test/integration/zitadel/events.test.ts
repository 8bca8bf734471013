import { describe, expect, it } from 'vitest';
import { newestEvent, oldestEvent, readEvents, readEventsOf } from '../../../cli/zitadel/zitadelEvents.ts';
import { organisation } from '../../support/fixtures/organisations.ts';
import { connectTo } from '../../support/zitadel/connect.ts';
import { people } from '../../support/zitadel/files.ts';
import { filledZitadel } from '../../support/zitadel/placeOfZitadel.ts';

const added = { aggregateTypes: ['user'], eventTypes: ['user.human.added'] };

async function filledWith(count: number) {
  const { zitadel } = await filledZitadel([organisation('1', { humanUsers: people(count) })]);
  const connection = connectTo(zitadel);
  const read = async (query: Parameters<typeof readEvents>[1]) =>
    (await Array.fromAsync(readEvents(connection, query))).flat();
  return { zitadel, connection, read };
}

describe('the events of a ZITADEL', () => {
  it('are read in pages, each once, the oldest first', async () => {
    const { read, zitadel } = await filledWith(2_500);
    const events = await read(added);
    expect(events.map(({ aggregateId }) => aggregateId)).toEqual(people(2_500).map(({ userId }) => userId));
    expect(events[0]).toMatchObject({ aggregateType: 'user', owner: '1', type: 'user.human.added', sequence: 1n });
    expect(zitadel.requests.filter(({ path }) => path.endsWith('/ListEvents'))).toHaveLength(3);
  });

  it('are read completely if a page ends within a write', async () => {
    const { read, zitadel } = await filledWith(999);
    const drafts = ['a', 'b', 'c'].map((aggregateId) => ({
      aggregateType: 'user',
      aggregateId,
      type: 'user.human.added',
    }));
    zitadel.contents.append('1', drafts);
    expect((await read(added)).slice(999).map(({ aggregateId }) => aggregateId)).toEqual(['a', 'b', 'c']);
  });

  it('are refused if more than a page of them have one time', async () => {
    const { read, zitadel } = await filledWith(1);
    const drafts = Array.from({ length: 2_100 }, (_, index) => ({
      aggregateType: 'user',
      aggregateId: `u${index}`,
      type: 'user.human.added',
    }));
    zitadel.contents.append('1', drafts);
    await expect(read(added)).rejects.toThrow('more than 1000 events with the same time');
  });

  it('are read by aggregate, by later time and by more types than a search takes', async () => {
    const { read, connection } = await filledWith(12);
    const [first = '', second = ''] = people(2).map(({ userId }) => userId);
    const [start] = await read({ ...added, aggregateId: first });
    const found = await readEventsOf(connection, [first, second, 'unknown'], {});
    expect([...found].map(([id, events]) => [id, events.map(({ type }) => type)])).toEqual([
      [first, ['user.human.added', 'user.human.mfa.otp.added', 'user.human.mfa.otp.verified']],
      [second, ['user.human.added']],
      ['unknown', []],
    ]);
    expect(await read({ ...added, after: start?.createdAt ?? 0n })).toHaveLength(11);
    const many = Array.from({ length: 45 }, (_, index) => (index === 40 ? 'user.human.added' : `user.${index}`));
    expect(await read({ aggregateTypes: ['user'], eventTypes: many })).toHaveLength(12);
  });

  it('are found by their order', async () => {
    const { connection } = await filledWith(12);
    const oldest = await oldestEvent(connection, {});
    expect(oldest?.type).toBe('instance.added');
    expect((await newestEvent(connection))?.aggregateId).toBe(people(12).at(-1)?.userId);
    expect(await newestEvent(connection, { owner: 'unknown' })).toBeUndefined();
  });
});
