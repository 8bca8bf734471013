import { randomInt } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { beforeAll, expect, it } from 'vitest';
import { z } from 'zod';
import { expectError, importInto, send } from '../support/http/wire.ts';
import { describeDeployment } from '../support/instances/deployments.ts';
import { databaseOf, newToken } from '../support/instances/tokens.ts';

const recordings = z.array(
  z.object({
    name: z.string(),
    request: z.object({ method: z.string(), path: z.string(), body: z.unknown().optional() }),
    status: z.int(),
    body: z.string(),
  }),
);
const imported = z.object({
  dataOrgs: z.object({
    orgs: z.tuple([
      z.looseObject({
        humanUsers: z.array(z.looseObject({ userId: z.string() })),
        machineUsers: z.array(z.looseObject({})),
      }),
    ]),
  }),
});
const text = readFileSync(new URL('../fixtures/zitadel/authentication-methods.json', import.meta.url), 'utf8');

/** The callers of the recordings: an administrator, nobody, somebody with a bad token, and service users. */
type Caller = 'owner' | 'nobody' | 'stranger' | 'robot' | 'viewer';

/** What is answered as ZITADEL answers it, in the recorded order. */
const alike: readonly [name: string, caller: Caller][] = [
  ['methods: password and OTP e-mail', 'owner'],
  ['methods: password and TOTP', 'owner'],
  ['methods: nothing', 'owner'],
  ['methods: service user', 'owner'],
  ['methods: unknown user', 'owner'],
  ['methods: no token', 'nobody'],
  ['methods: bad token', 'stranger'],
  ['methods: query domainQuery', 'owner'],
  ['v2beta', 'owner'],
  ['connect', 'owner'],
  ['methods of self by service user', 'robot'],
  ['methods by ORG_OWNER_VIEWER', 'viewer'],
  ['delete otp by ORG_OWNER_VIEWER', 'viewer'],
  ['delete otp email', 'owner'],
  ['methods at once after', 'owner'],
];

/** What is answered otherwise, since nobody may learn which users exist. */
const hidden: readonly [name: string, caller: Caller][] = [
  ['methods of other by service user without role', 'robot'],
  ['methods of unknown by service user without role', 'robot'],
];

describeDeployment("ZITADEL's recorded list of authentication methods", (get) => {
  const org = `${randomInt(100_000_000, 999_999_999)}${randomInt(10_000_000, 99_999_999)}`;
  const recorded = recordings.parse(JSON.parse(text.replaceAll('{{org}}', org)));
  const find = (name: string) =>
    recorded.find((recording) => recording.name === name) ?? expect.fail(`no recording is called ${name}`);

  beforeAll(async () => {
    const { dataOrgs } = imported.parse(find('import').request.body);
    const [first] = dataOrgs.orgs;
    const humanUsers = first.humanUsers.map((person) => ({ ...person, otpEmail: person.userId === `${org}1` }));
    const machineUsers = [...first.machineUsers, { userId: `${org}8`, user: { userName: `v${org}`, name: 'v' } }];
    const orgMembers = [{ userId: `${org}8`, roles: ['ORG_OWNER_VIEWER'] }];
    const orgs = [{ ...first, humanUsers, machineUsers, orgMembers }];
    await importInto(get().target, { data_orgs: { orgs } });
  });

  async function replay(name: string, caller: Caller, test: { skip: (note?: string) => never }) {
    const { target } = get();
    const { request, status, body } = find(name);
    const { method, path } = request;
    const tokenOf = async (userId: string) => (await newToken(databaseOf(target, test), userId)).token;
    const tokens = {
      owner: () => target.token,
      nobody: () => undefined,
      stranger: () => 'notreal',
      robot: () => tokenOf(`${org}9`),
      viewer: () => tokenOf(`${org}8`),
    };
    const token = await tokens[caller]();
    const answer = await send(target, {
      method,
      path,
      ...(token === undefined ? {} : { token }),
      ...(request.body === undefined ? {} : { body: JSON.stringify(request.body) }),
      headers: { 'content-type': 'application/json' },
    });
    return { answer, recorded: { status, body } };
  }

  it.for(alike)('%s: as %s', async ([name, caller], test) => {
    const { answer, recorded } = await replay(name, caller, test);
    expect(answer.status, answer.text).toBe(recorded.status);
    expect(comparable(answer.text)).toEqual(comparable(recorded.body));
  });

  it.for(hidden)('%s: as %s', async ([name, caller], test) => {
    const { answer, recorded } = await replay(name, caller, test);
    expect(recorded.status).toBe(404);
    expectError(answer, 403, 7);
  });
});

/** What a body says, without moments and numbers that differ between servers. */
function comparable(text: string): unknown {
  const moments = ['timestamp', 'changeDate', 'creationDate', 'sequence'];
  return JSON.parse(text, (name, value) => (moments.includes(name) ? undefined : value));
}
