import { randomInt } from 'node:crypto';
import { beforeEach, expect, it } from 'vitest';
import { z } from 'zod';
import { peopleOf, sampleOrganisation } from '../support/fixtures/sampleOrganisation.ts';
import {
  type Answer,
  expectError,
  exportFrom,
  importInto,
  parseOk,
  removeOtpEmail,
  send,
} from '../support/http/wire.ts';
import { describeDeployments } from '../support/instances/deployments.ts';
import { databaseOf, newToken } from '../support/instances/tokens.ts';

const removed = z.strictObject({
  details: z.strictObject({
    sequence: z.string().regex(/^[1-9]\d*$/),
    changeDate: z.iso.datetime(),
    resourceOwner: z.string(),
    creationDate: z.iso.datetime(),
  }),
});

const detailsOf = (answer: Answer) => removed.parse(parseOk(answer)).details;
const unknownUser = () => `${randomInt(100_000_000, 999_999_999)}`;

describeDeployments('the removal of the OTP e-mail factor', (get) => {
  let organisation = sampleOrganisation();
  let people = peopleOf(organisation);
  beforeEach(async () => {
    organisation = sampleOrganisation();
    people = peopleOf(organisation);
    await importInto(get().target, { data_orgs: { orgs: [organisation] } });
  });

  it('succeeds with 200 and details, and fails with 404 from then on', async () => {
    const { target } = get();
    const details = detailsOf(await removeOtpEmail(target, people.ada));
    expect(details).toMatchObject({ resourceOwner: organisation.orgId, sequence: '2' });
    expect(Date.parse(details.changeDate)).toBeGreaterThanOrEqual(Date.parse(details.creationDate));
    const again = expectError(await removeOtpEmail(target, people.ada), 404, 5);
    expect(again.message).toBe("Multifactor OTP (OneTimePassword) doesn't exist (COMMAND-b312D)");
    expect(again.details).toEqual([
      {
        '@type': 'type.googleapis.com/zitadel.v1.ErrorDetail',
        id: 'COMMAND-b312D',
        message: "Multifactor OTP (OneTimePassword) doesn't exist",
      },
    ]);
  });

  it('removes the factor from this person only, and nothing else', async () => {
    const { target } = get();
    detailsOf(await removeOtpEmail(target, people.ada));
    const { orgs } = await exportFrom(target, { org_ids: [organisation.orgId] });
    const expected = organisation.humanUsers.map(({ otpEmail, ...user }) =>
      otpEmail === true && user.userId !== people.ada ? { ...user, otpEmail } : user,
    );
    expect(orgs[0]?.humanUsers).toHaveLength(expected.length);
    expect(orgs[0]?.humanUsers).toEqual(expect.arrayContaining(expected));
  });

  it('succeeds for exactly one of several callers at the same time', async () => {
    const { target } = get();
    const answers = await Promise.all(Array.from({ length: 5 }, () => removeOtpEmail(target, people.ben)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 404, 404, 404, 404]);
  });

  it('fails with 404 for an unknown user', async () => {
    const { message } = expectError(await removeOtpEmail(get().target, unknownUser()), 404, 5);
    expect(message).toBe('Errors.NotFound (COMMAND-4g3xq)');
  });

  it('fails with 403 for a caller without permission', async (test) => {
    const { token } = await newToken(databaseOf(get().target, test), people.ada);
    expectError(await removeOtpEmail(get().target, people.ben, token), 403, 7);
  });

  it('is also served under the path of the beta', async () => {
    const { target } = get();
    const request = { method: 'DELETE', path: `/v2beta/users/${people.ada}/otp_email`, token: target.token };
    detailsOf(await send(target, request));
    expectError(await removeOtpEmail(target, people.ada), 404, 5);
  });
});
