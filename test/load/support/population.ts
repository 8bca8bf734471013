import { organisation, person } from '../../support/fixtures/organisations.ts';

/** Organisations whose people lose their factor one by one, and get it back by an import all at once. */
export const HERDS = 4;
/** The people of each of them. */
export const PEOPLE_PER_HERD = 100;
/** A person who has never had the factor. */
export const PLAIN_PERSON = 'plain';
/** An organisation that no request changes. */
export const STILL = 'still';
/** The people of it. */
export const STILL_PEOPLE = 2_000;
/** An organisation whose export is larger than what the system buffers for a connection. */
export const BULKY = 'bulky';
const BULKY_VALUES = 120;
const BULKY_BYTES = 64 * 1_024;
const NEW_PEOPLE = 25;

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index);
const body = (orgs: readonly object[], more: object = {}) => JSON.stringify({ ...more, data_orgs: { orgs } });
const people = (orgId: string, count: number, more: object = {}) =>
  numbers(count).map((index) => ({ ...person(`${orgId}-${index}`), ...more }));

/** The ids of a herd's people. */
export function herdPeople(herd: number): string[] {
  return people(`herd${herd}`, PEOPLE_PER_HERD).map(({ userId }) => userId);
}

/** An import that gives all people of a herd the factor. */
export function herdImport(herd: number): string {
  const orgId = `herd${herd}`;
  const humanUsers = people(orgId, PEOPLE_PER_HERD, { otpEmail: true });
  return body([organisation(orgId, { humanUsers })], { on_conflict: 'overwrite' });
}

/** An import of an organisation that is unchanged. */
export const stillImport = body([organisation(STILL, { humanUsers: people(STILL, STILL_PEOPLE) })]);

/** An import of a person who is unchanged, without the factor. */
export const plainImport = body([organisation('plain', { humanUsers: [person(PLAIN_PERSON)] })]);

const bulkyImport = body([
  organisation(BULKY, {
    humanUsers: [person(`${BULKY}-0`)],
    userMetadata: numbers(BULKY_VALUES).map((index) => ({
      id: `${BULKY}-0`,
      key: `key${index}`,
      value: Buffer.alloc(BULKY_BYTES, index).toString('base64'),
    })),
  }),
]);

/** An import of an organisation that is new, if its number is. */
export function newImport(number: number): { readonly text: string; readonly people: number } {
  const orgId = `new${number}`;
  return { text: body([organisation(orgId, { humanUsers: people(orgId, NEW_PEOPLE) })]), people: NEW_PEOPLE };
}

/** The imports that come before the traffic. */
export const populationImports: readonly string[] = [
  stillImport,
  plainImport,
  bulkyImport,
  ...numbers(HERDS).map(herdImport),
];

/** The number of people before the traffic. */
export const populationPeople = STILL_PEOPLE + HERDS * PEOPLE_PER_HERD + 2;
