import { type DescField, type DescMessage, ScalarType } from '@bufbuild/protobuf';
import { describe, expect, it } from 'vitest';
import { sections } from '../../../shared/organisation/allSections.ts';
import { decodeMessage, InvalidRecordError } from '../../../shared/organisation/message.ts';
import { recordSchema } from '../../../shared/organisation/recordSchema.ts';
import { hasUsualFields, usualMessage } from '../../../shared/organisation/usualMessage.ts';
import { randomOf, seed } from '../../faults/support/random.ts';
import { sectionNamed } from '../../support/fixtures/sectionNamed.ts';
import { repetitions } from '../../support/repetitions.ts';

const RECORDS = repetitions({ few: 8_000, many: 1_000_000 });
const random = randomOf('usual messages');

const people = recordSchema(sectionNamed('humanUsers'));
const metadata = recordSchema(sectionNamed('userMetadata'));

const person = () => ({
  userId: 'U',
  user: {
    userName: 'alice',
    profile: { firstName: 'Alice', lastName: 'Ångström', gender: 'GENDER_FEMALE' },
    email: { email: 'alice@acme.example', isEmailVerified: true },
  },
  state: 'USER_STATE_ACTIVE',
});

describe('a usual message', () => {
  it('is the same as from the decoder, with nothing unknown and no rule broken', () => {
    let [usual, unordered] = [0, 0];
    for (let record = 0; record < RECORDS; record++) {
      const section = pick(sections);
      const schema = recordSchema(section);
      const checked = random() < 0.5;
      const text = JSON.stringify(message(schema));
      const json = usualMessage(schema, JSON.parse(text), checked);
      if (json === undefined) continue;
      usual++;
      const found = JSON.stringify(json);
      if (found !== text) unordered++;
      const decoded = decoderResult(schema, text, checked);
      if (decoded !== found) expect.fail(`seed ${seed}, ${section.name}: ${text} is ${found}, but decoded: ${decoded}`);
    }
    // Enough messages for a meaningful comparison.
    expect(usual).toBeGreaterThan(RECORDS / 20);
    expect(unordered).toBeGreaterThan(RECORDS / 1_000);
  });

  it.each(sections.map(({ name }) => name))('is the same as from the decoder for most %s', (name) => {
    // Numbers, durations and alternatives are left to the decoder.
    const schema = recordSchema(sectionNamed(name));
    const isLeft = (field: DescField): boolean =>
      field.oneof !== undefined ||
      field.message?.typeName.startsWith('google.protobuf.') === true ||
      (field.fieldKind !== 'map' && [ScalarType.UINT64, ScalarType.UINT32].some((type) => type === field.scalar)) ||
      field.message?.fields.some(isLeft) === true;
    for (let record = 0; record < 200; record++) {
      const decoded = decoderResult(schema, JSON.stringify(message(schema)), false);
      if (!decoded.startsWith('{')) continue;
      const json: unknown = JSON.parse(decoded);
      const hasLeft = schema.fields.some((field) => isLeft(field) && decoded.includes(`"${field.jsonName}"`));
      // An enumeration's unknown value is a number too.
      if (!hasLeft && !/":-?\d/.test(decoded)) expect(usualMessage(schema, json, false), decoded).toBe(json);
    }
  });

  it.each([
    ['a field under its other name', { user_id: 'U', user: person().user, state: 'USER_STATE_ACTIVE' }],
    ['an unknown field', { ...person(), favouriteColour: 'red' }],
    ['a default', { ...person(), userId: '' }],
    ['the name of a default', { ...person(), state: 'USER_STATE_UNSPECIFIED' }],
    ['an unknown name', { ...person(), state: 'USER_STATE_HUNGRY' }],
    ['a number in place of a name', { ...person(), state: 1 }],
    ['a null', { ...person(), state: null }],
    ['a number in place of a text', { ...person(), userId: 1 }],
    ['half a character', { ...person(), userId: '\ud800' }],
    ['a list in place of an object', { ...person(), user: [] }],
  ])('has no %s', (_, value) => {
    expect(usualMessage(people, value, false)).toBeUndefined();
  });

  it.each([
    ['breaks a rule', { ...person(), user: { ...person().user, email: { email: 'none' } } }],
    ['lacks a required field', { ...person(), user: { userName: 'alice', email: person().user.email } }],
    ['ends before a required field', { userId: 'U', user: { userName: 'alice' } }],
  ])('may be one that %s, unless rules are checked', (_, value) => {
    expect(usualMessage(people, value, false)).toBe(value);
    expect(usualMessage(people, value, true)).toBeUndefined();
    expect(usualMessage(people, person(), true)).toEqual(person());
  });

  it('may have its fields in another order, such as a password first, as in exports', () => {
    const { user, ...rest } = person();
    const hashedPassword = { value: 'hash' };
    const exported = { user: { hashedPassword, ...user }, ...rest };
    const ordered = { userId: 'U', user: { ...user, hashedPassword }, state: 'USER_STATE_ACTIVE' };
    expect(JSON.stringify(usualMessage(people, exported, true))).toBe(JSON.stringify(ordered));
  });

  it.each(['QR==', 'QUI', 'QUI==', 'Q-I=', 'QU\nI='])('does not have %j for bytes', (value) => {
    expect(usualMessage(metadata, { id: 'U', key: 'k', value: 'QUI=' }, true)).toBeDefined();
    expect(usualMessage(metadata, { id: 'U', key: 'k', value }, false)).toBeUndefined();
  });
});

describe('a changed field of a valid message', () => {
  it('is usual only if the decoder finds no broken rule in the whole message', () => {
    let [valid, broken] = [0, 0];
    for (let record = 0; record < RECORDS; record++) {
      const schema = recordSchema(pick(sections));
      const json = usualMessage(schema, message(schema), true);
      if (json === undefined) continue;
      const field = pick(schema.fields);
      const { [field.jsonName]: _, ...others } = json;
      const changed = random() < 0.3 ? others : { ...json, [field.jsonName]: value(field) };
      const text = JSON.stringify(changed);
      const decoded = decoderResult(schema, text, true);
      const isUsual = hasUsualFields(schema, changed, [field.jsonName]);
      if (isUsual) valid++;
      else if (!decoded.startsWith('{')) broken++;
      if (isUsual && !decoded.startsWith('{')) expect.fail(`seed ${seed}: ${field.jsonName} of ${text}: ${decoded}`);
    }
    expect(valid).toBeGreaterThan(RECORDS / 100);
    expect(broken).toBeGreaterThan(RECORDS / 1_000);
  });

  it.each([
    ['a text inside another message', 'user.email.email', true],
    ['an absent optional message', 'user.phone', true],
    ['a field of an absent optional message', 'user.phone.phone', true],
    ['an absent optional text', 'user.profile.nickName', true],
    ['a missing required text', 'user.userName', false],
    ['a field that the definition lacks', 'favouriteColour', false],
  ])('may be %s', (_name, path, expected) => {
    const { user, ...others } = person();
    const { userName, ...unnamed } = user;
    const json = { ...others, user: path === 'user.userName' ? unnamed : { userName, ...unnamed } };
    expect(hasUsualFields(people, json, [path])).toBe(expected);
  });
});

/** Returns the decoder's result for a record: its canonical text, or the reason why it has none. */
function decoderResult(schema: DescMessage, text: string, checked: boolean): string {
  try {
    const { json, unknown } = decodeMessage(schema, JSON.parse(text), checked ? {} : undefined);
    if (unknown.fields.length > 0 || unknown.values.length > 0) return `unknown ${JSON.stringify(unknown)}`;
    return JSON.stringify(json);
  } catch (error) {
    if (error instanceof InvalidRecordError) return error.message;
    throw error;
  }
}

/** Creates a usual message with a few unusual fields. */
function message(schema: DescMessage): unknown {
  const isWhole = random() < 0.5;
  const fields = schema.fields.toSorted((a, b) => a.number - b.number);
  const entries = fields
    .filter(() => isWhole || random() < 0.6)
    .map((field): [string, unknown] => [rare() ? field.name : field.jsonName, rare() ? pick(strange)() : value(field)]);
  if (rare()) entries.reverse();
  if (rare()) entries.push([pick(['unknown', 'user', 'state', '__proto__', '0']), pick(strange)()]);
  return Object.fromEntries(entries);
}

function value(field: DescField): unknown {
  if (field.fieldKind !== 'list') return element(field);
  return Array.from({ length: rare() ? 0 : 1 + Math.floor(random() * 3) }, () =>
    rare() ? pick(strange)() : element(field),
  );
}

function element({ message: inner, enum: values, scalar }: DescField): unknown {
  if (inner?.typeName === 'google.protobuf.Duration') return pick(['0s', '3600s', '1.5s', '-3s', '+1s', '1.50s', 's']);
  if (inner !== undefined) return message(inner);
  if (values !== undefined) return pick(values.values).name;
  if (scalar === ScalarType.BOOL) return !rare();
  if (scalar === ScalarType.STRING) return pick(texts);
  return scalar === ScalarType.BYTES ? pick(['QUI=', 'QQ==', 'QUJD', 'QR==', '']) : pick(['1', 1, '72', 0, '01']);
}

const texts = [
  ...['a', 'alice@acme.example', 'Ångström', '王', '😀', 'https://acme.example/cb', ' b ', '330000000000000001'],
];
const strange: readonly (() => unknown)[] = [
  ...[null, '', 0, 1, -1, 1.5, true, false, [], {}, ['a'], { a: 1 }, '\u0000', 'a'.repeat(201), '王'.repeat(201)],
  ...['GENDER_FEMALE', 'USER_STATE_ACTIVE', '1', '1s', 'QUI', 1e300, '\ud83d\ude00'],
].map((one) => () => structuredClone(one));

function rare(): boolean {
  return random() < 0.03;
}

function pick<Item>(from: readonly Item[]): Item {
  const item = from[Math.floor(random() * from.length)];
  if (item === undefined) throw new Error('nothing to pick from');
  return item;
}
