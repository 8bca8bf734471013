import { expect, it } from 'vitest';
import { FileWriter } from '../../../shared/exportFile/fileWriter.ts';

const users = { name: 'humanUsers', isList: true };
const policy = { name: 'loginPolicy', isList: false };

it('a file has the fields of each organisation, and the values of a list together', () => {
  const writer = new FileWriter();
  writer.begin('{"orgId":"a"');
  writer.add(users, ['1', '2']);
  writer.add(users, ['3']);
  writer.add(policy, ['{}']);
  writer.end(',"orgState":"ORG_STATE_ACTIVE"');
  writer.begin('{"orgId":"b"');
  writer.add(users, ['4']);
  writer.end();
  writer.finish({ version: 1 });
  expect(JSON.parse(writer.take().join(''))).toEqual({
    orgs: [
      { orgId: 'a', humanUsers: [1, 2, 3], loginPolicy: {}, orgState: 'ORG_STATE_ACTIVE' },
      { orgId: 'b', humanUsers: [4] },
    ],
    manifest: { version: 1 },
  });
});

it('a file may have no organisations and no manifest', () => {
  const writer = new FileWriter();
  writer.finish();
  expect(JSON.parse(writer.take().join(''))).toEqual({ orgs: [] });
});
