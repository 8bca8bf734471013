import { z } from 'zod';
import { type SendOptions, send } from './answer.ts';
import type { Role, RowRequest } from './row.ts';
import type { Subjects } from './subjects.ts';

const report = z.looseObject({
  errors: z.array(z.looseObject({ type: z.string(), id: z.string().optional() })).default([]),
});

/**
 * Imports what the rows are about. Returns the roles that an earlier run used up: a person whose factor was removed is
 * there with other content, and no import gives it back.
 * @param token of a service user with the role IAM_OWNER
 * @throws Error when the import is not answered with 200
 */
export async function prepare(
  baseUrl: string,
  token: string,
  subjects: Subjects,
  options: SendOptions = {},
): Promise<readonly Role[]> {
  const asOwner = (request: RowRequest) => send(baseUrl, request, `Bearer ${token}`, options);
  const body = JSON.stringify({ timeout: '1m', dataOrgs: { orgs: subjects.organisations } });
  const answer = await asOwner({ method: 'POST', path: '/admin/v1/import', body });
  if (answer.status !== 200) throw new Error(`the import that prepares the table: ${answer.status} ${answer.text}`);
  // For implementations that drop `otpEmail` of the import and have ZITADEL's request for it; others answer 4xx.
  for (const userId of subjects.withFactors) {
    await asOwner({ method: 'POST', path: `/v2/users/${encodeURIComponent(userId)}/otp_email`, body: '{}' });
  }
  const { errors } = report.parse(JSON.parse(answer.text));
  return errors.some(({ type, id }) => type === 'human_user' && id === subjects.callers.person) ? ['person'] : [];
}
