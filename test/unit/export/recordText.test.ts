import fc from 'fast-check';
import { expect, it } from 'vitest';
import { textInserter } from '../../../functions/export/recordText.ts';
import { isJsonObject, putAt } from '../../../shared/json/jsonObject.ts';
import { anyCharacter } from '../../support/anyCharacter.ts';

const paths = ['user.hashedPassword.value', 'user.otpCode'];
const tricky = fc.oneof(fc.string({ unit: anyCharacter }), fc.constantFrom('"user":{', '\\"user":{', '{"user":{}}'));
const fields = fc.dictionary(fc.constantFrom('userName', 'email', 'phone'), tricky);

it.each(paths)('a text inserted into JSON at %s is where it would be in the parsed record', (path) => {
  const insert = textInserter(path);
  fc.assert(
    fc.property(tricky, fields, tricky, (userId, user, text) => {
      const record: unknown = JSON.parse(JSON.stringify({ userId, user, state: 'USER_STATE_ACTIVE' }));
      if (!isJsonObject(record)) throw new Error('no record');
      const json = insert(JSON.stringify(record), text);
      putAt(record, path, text);
      expect(JSON.parse(json)).toEqual(record);
    }),
  );
});

it('a record without the parent object of the text is rejected', () => {
  expect(() => textInserter('user.otpCode')('{"userId":"1"}', 'x')).toThrow('no object user');
});
